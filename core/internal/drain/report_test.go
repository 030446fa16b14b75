package drain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-capi/slipway/core/internal/drain"
)

var began = metav1.NewTime(now.Add(-time.Minute))

const header = "Draining Node n since 2030-01-02T03:03:05Z"

func report(t *testing.T, w drain.World, results drain.Results) drain.Report {
	t.Helper()
	plan, err := drain.Decide(w)
	require.NoError(t, err)
	return plan.Report(began, results)
}

// results gives all of the named pods the same result.
func results(r drain.Result, names ...string) drain.Results {
	out := drain.Results{}
	for _, n := range names {
		out[types.UID(n)] = r
	}
	return out
}

// Conformance: DR-21, DR-26, DR-27, DR-28, DR-29, DR-31
func TestTheReport(t *testing.T) {
	web, db := label("app", "web"), label("app", "db")
	refused := drain.Result{Refused: true, Told: "as told"}
	always := policyv1.AlwaysAllow
	generous := func(b *policyv1.PodDisruptionBudget) { b.Spec.UnhealthyPodEvictionPolicy = &always }
	unseen := func(b *policyv1.PodDisruptionBudget) { b.Generation = 2 }
	late := rule("late", drains, order(7), forPods(map[string]string{"app": "db"}, nil))
	for _, c := range []struct {
		name    string
		changes []change
		results drain.Results
		want    []string
		causes  []string
	}{
		{name: "nothing left"},
		{name: "nothing tried yet", changes: []change{with(pod("b"), pod("a"))}, want: []string{"Pods apps/a, apps/b: to be evicted"}},
		{name: "three names and a number", changes: []change{with(pod("e"), pod("d"), pod("c"), pod("b"), pod("a"))}, want: []string{"Pods apps/a, apps/b, apps/c and 2 more: to be evicted"}},
		{name: "by which rule", changes: []change{rule("r", drains), with(pod("a"))}, want: []string{"Pod apps/a: to be evicted (MachineDrainRule r)"}},
		{name: "requested", changes: []change{with(pod("a"))}, results: results(drain.Result{Requested: true}, "a"), want: []string{"Pod apps/a: deletion requested, not gone yet"}, causes: []string{drain.CauseLeaving}},
		{name: "gone already", changes: []change{with(pod("a"), pod("b"))}, results: results(drain.Result{Gone: true}, "a"), want: []string{"Pod apps/b: to be evicted"}},
		{name: "leaving", changes: []change{with(pod("a", ending(time.Minute)))}, want: []string{"Pod apps/a: deletion requested, not gone yet"}, causes: []string{drain.CauseLeaving}},
		{name: "completing", changes: []change{rule("r", waits), with(pod("a"))}, want: []string{"Pod apps/a: must complete by itself (MachineDrainRule r)"}, causes: []string{drain.CauseCompleting}},
		{name: "later", changes: []change{late, with(pod("a"), pod("b", db))}, want: []string{"Pod apps/a: to be evicted", "Pod apps/b: evicted after all Pods of a lower order (order 7, MachineDrainRule late)"}},
		{name: "later by default", changes: []change{rule("first", drains, order(-1), forPods(map[string]string{"app": "db"}, nil)), with(pod("a"), pod("b", db))},
			want: []string{"Pod apps/b: to be evicted (MachineDrainRule first)", "Pod apps/a: evicted after all Pods of a lower order (order 0)"}},
		{name: "a budget that is used up", changes: []change{budget("web", 2, 3, 2), with(pod("a", web))}, results: results(refused, "a"),
			want: []string{"Pod apps/a: PodDisruptionBudget apps/web allows no eviction now: it needs 2 healthy Pods and has 2"}, causes: []string{drain.CauseBudgets}},
		{name: "a budget that was quicker than the report", changes: []change{budget("web", 2, 3, 3), with(pod("a", web))}, results: results(refused, "a"),
			want: []string{"Pod apps/a: as told"}, causes: []string{drain.CauseBudgets}},
		{name: "a budget that can never allow it, before anything was tried", changes: []change{budget("web", 2, 2, 2), with(pod("a", web), pod("b", web), pod("c"))},
			want: []string{"Pods apps/a, apps/b: PodDisruptionBudget apps/web can never allow it: 2 of its 2 Pods must be healthy", "Pod apps/c: to be evicted"}, causes: []string{drain.CauseBudgets}},
		{name: "also when its turn is later", changes: []change{late, budget("db", 1, 1, 1), with(pod("a"), pod("b", db))},
			want: []string{"Pod apps/b: PodDisruptionBudget apps/db can never allow it: 1 of its 1 Pods must be healthy", "Pod apps/a: to be evicted"}, causes: []string{drain.CauseBudgets}},
		{name: "the same words once it is refused", changes: []change{budget("web", 2, 2, 2), with(pod("a", web))}, results: results(refused, "a"),
			want: []string{"Pod apps/a: PodDisruptionBudget apps/web can never allow it: 2 of its 2 Pods must be healthy"}, causes: []string{drain.CauseBudgets}},
		{name: "a budget that Kubernetes has not worked out", changes: []change{budget("web", 2, 2, 2, unseen), with(pod("a", web))}, want: []string{"Pod apps/a: to be evicted"}},
		{name: "a budget that lets unhealthy pods go", changes: []change{budget("web", 2, 2, 1, generous), with(pod("a", web, notReady))}, want: []string{"Pod apps/a: to be evicted"}},
		{name: "a budget does not hold pods that have not started", changes: []change{budget("web", 2, 2, 2), with(pod("a", web, phase(corev1.PodPending)))}, want: []string{"Pod apps/a: to be evicted"}},
		{name: "a budget of another namespace", changes: []change{budget("web", 2, 2, 2), with(pod("a", web, namespace("other")))}, want: []string{"Pod other/a: to be evicted"}},
		{name: "a budget for a pod that stays", changes: []change{rule("r", skips), budget("web", 2, 2, 2), with(pod("a", web), pod("b", ending(time.Minute)))},
			want: []string{"Pod apps/b: deletion requested, not gone yet"}, causes: []string{drain.CauseLeaving}},
		{name: "two budgets", changes: []change{budget("web", 1, 3, 3), budget("web", 1, 3, 3, func(b *policyv1.PodDisruptionBudget) { b.Name = "also" }), with(pod("a", web))},
			want: []string{"Pod apps/a: guarded by the PodDisruptionBudgets apps/also, apps/web, and Kubernetes evicts no Pod with more than one"}, causes: []string{drain.CauseBudgets}},
		{name: "something else", changes: []change{with(pod("a"))}, results: results(drain.Result{Told: "eviction failed: a webhook says no"}, "a"),
			want: []string{"Pod apps/a: eviction failed: a webhook says no"}, causes: []string{drain.CauseFailures}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := report(t, world(c.changes...), c.results)
			want := header
			if len(c.want) > 0 {
				want += ":\n* " + strings.Join(c.want, "\n* ")
			}
			assert.Equal(t, want, got.Message)
			assert.Equal(t, c.causes, got.Causes)
			assert.Equal(t, got, report(t, world(c.changes...), c.results), "the report is the same each time")
		})
	}
}

// Conformance: DR-27
func TestFiveProblemsAreTold(t *testing.T) {
	all := drain.Results{}
	w := world()
	for i := range 8 {
		name := fmt.Sprintf("p%d", i)
		with(pod(name))(&w)
		all[types.UID(name)] = drain.Result{Told: "problem " + name}
	}
	with(pod("z", ending(time.Minute)))(&w)
	got := report(t, w, all)
	assert.Equal(t, header+":\n* Pod apps/p0: problem p0\n* Pod apps/p1: problem p1\n* Pod apps/p2: problem p2\n* Pod apps/p3: problem p3\n* Pod apps/p4: problem p4"+
		"\n* 3 Pods with other issues\n* Pod apps/z: deletion requested, not gone yet", got.Message)
	assert.True(t, got.Failed)
	delete(all, "p6")
	delete(all, "p7")
	assert.Contains(t, report(t, w, all).Message, "\n* 1 Pod with other issues\n")
}

func TestWhenToLookAgain(t *testing.T) {
	assert.Equal(t, 5*time.Second, report(t, world(with(pod("a"))), results(drain.Result{Requested: true}, "a")).After, "most pods end within seconds")
	assert.Equal(t, 5*time.Second, report(t, world(with(pod("a", ending(time.Second)))), nil).After)
	assert.Equal(t, 20*time.Second, report(t, world(with(pod("a", ending(-time.Second)))), nil).After, "this one hangs")
	assert.Equal(t, 20*time.Second, report(t, world(with(pod("a"))), results(drain.Result{Refused: true}, "a")).After)
	assert.Equal(t, time.Second, report(t, world(with(pod("a"))), results(drain.Result{Gone: true}, "a")).After, "all are gone: on to the next step")
}

// Conformance: DR-20
func TestRefusedPodsComeLast(t *testing.T) {
	plan, err := drain.Decide(world(budget("web", 2, 3, 2), budget("db", 2, 3, 3), with(pod("a", label("app", "web")), pod("b", label("app", "db")), pod("c"))))
	require.NoError(t, err)
	var names []string
	for _, p := range plan.ToEvict() {
		names = append(names, p.Name)
	}
	assert.Equal(t, []string{"b", "c", "a"}, names)
}
