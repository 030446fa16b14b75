package drain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/drain"
)

const (
	drains = clusterv1.MachineDrainRuleDrainBehaviorDrain
	skips  = clusterv1.MachineDrainRuleDrainBehaviorSkip
	waits  = clusterv1.MachineDrainRuleDrainBehaviorWaitCompleted
)

// Conformance: DR-03, DR-04, DR-05, DR-06, DR-08, DR-09, DR-10, DR-11, DR-12, DR-16, DR-18
func TestHowEachPodIsTreated(t *testing.T) {
	unreachable := ready(corev1.ConditionUnknown, time.Minute)
	ofSet := owner("DaemonSet", "ds")
	local := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	for _, c := range []struct {
		name      string
		pod       *corev1.Pod
		changes   []change
		treatment drain.Treatment
		by        string
		warnings  int
	}{
		{name: "by default evicted", pod: pod("p"), treatment: drain.Evicted},
		{name: "also while it is pending", pod: pod("p", phase(corev1.PodPending)), treatment: drain.Evicted},
		{name: "also when completed", pod: pod("p", phase(corev1.PodSucceeded)), treatment: drain.Evicted},
		{name: "no controller", pod: pod("p", func(p *corev1.Pod) { p.OwnerReferences = nil }), treatment: drain.Evicted, warnings: 1},
		{name: "local storage", pod: pod("p", local), treatment: drain.Evicted, warnings: 1},
		{name: "local storage of a completed pod", pod: pod("p", local, phase(corev1.PodFailed)), treatment: drain.Evicted},

		{name: "deletion requested", pod: pod("p", ending(20*time.Second)), treatment: drain.Leaving},
		{name: "deletion requested long ago", pod: pod("p", ending(-time.Hour)), treatment: drain.Leaving},
		{name: "deletion requested on an unreachable Node, just now", pod: pod("p", ending(-time.Second)), changes: []change{unreachable}, treatment: drain.Leaving},
		{name: "deletion requested on an unreachable Node, before", pod: pod("p", ending(-1001*time.Millisecond)), changes: []change{unreachable}, treatment: drain.Ignored, by: "the Node is unreachable"},
		{name: "a Node that is not ready is not unreachable", pod: pod("p", ending(-time.Hour)), changes: []change{ready(corev1.ConditionFalse, time.Hour)}, treatment: drain.Leaving},
		{name: "deletion of a DaemonSet's pod is waited for", pod: pod("p", ofSet, ending(time.Second)), changes: []change{daemonSet("ds")}, treatment: drain.Leaving},

		{name: "DaemonSet", pod: pod("p", ofSet), changes: []change{daemonSet("ds")}, treatment: drain.Ignored, by: "DaemonSet ds"},
		{name: "DaemonSet, finished", pod: pod("p", ofSet, phase(corev1.PodFailed)), changes: []change{daemonSet("ds")}, treatment: drain.Evicted},
		{name: "DaemonSet that is gone", pod: pod("p", ofSet), treatment: drain.Evicted},
		{name: "another DaemonSet of that name", pod: pod("p", ofSet), changes: []change{daemonSet("new")}, treatment: drain.Evicted},
		{name: "static pod", pod: pod("p", mirror), treatment: drain.Ignored, by: "static pod"},

		{name: "label skip", pod: pod("p", label(clusterv1.PodDrainLabel, "skip")), treatment: drain.Ignored, by: "label " + clusterv1.PodDrainLabel},
		{name: "label wait-completed", pod: pod("p", label(clusterv1.PodDrainLabel, "wait-completed")), treatment: drain.Completing, by: "label " + clusterv1.PodDrainLabel},
		{name: "label waitcompleted in any case", pod: pod("p", label(clusterv1.PodDrainLabel, "WaitCompleted")), treatment: drain.Completing, by: "label " + clusterv1.PodDrainLabel},
		{name: "label wait-completed on a completed pod", pod: pod("p", label(clusterv1.PodDrainLabel, "wait-completed"), phase(corev1.PodSucceeded)), treatment: drain.Ignored, by: "label " + clusterv1.PodDrainLabel},
		{name: "label with an unknown value", pod: pod("p", label(clusterv1.PodDrainLabel, "later")), treatment: drain.Evicted, warnings: 1},
		{name: "label with an unknown value leaves it to the rules", pod: pod("p", label(clusterv1.PodDrainLabel, "later")), changes: []change{rule("r", skips)}, treatment: drain.Ignored, by: "MachineDrainRule r", warnings: 1},
		{name: "label before rules", pod: pod("p", label(clusterv1.PodDrainLabel, "skip")), changes: []change{rule("r", waits)}, treatment: drain.Ignored, by: "label " + clusterv1.PodDrainLabel},
		{name: "DaemonSet before rules", pod: pod("p", ofSet), changes: []change{daemonSet("ds"), rule("r", drains)}, treatment: drain.Ignored, by: "DaemonSet ds"},

		{name: "rule that skips", pod: pod("p"), changes: []change{rule("r", skips)}, treatment: drain.Ignored, by: "MachineDrainRule r"},
		{name: "rule that waits", pod: pod("p"), changes: []change{rule("r", waits)}, treatment: drain.Completing, by: "MachineDrainRule r"},
		{name: "rule that waits, pod completed", pod: pod("p", phase(corev1.PodFailed)), changes: []change{rule("r", waits)}, treatment: drain.Ignored, by: "MachineDrainRule r"},
		{name: "rule that drains", pod: pod("p"), changes: []change{rule("r", drains)}, treatment: drain.Evicted, by: "MachineDrainRule r"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := drain.Decide(world(append(c.changes, with(c.pod))...))
			require.NoError(t, err)
			require.Len(t, plan.Pods, 1)
			got := plan.Pods[0]
			assert.Equal(t, c.treatment, got.Treatment)
			if c.treatment != drain.Leaving {
				assert.Equal(t, c.by, got.By)
			}
			assert.Len(t, got.Warnings, c.warnings)
			// Conformance: DR-26
			assert.Equal(t, c.treatment == drain.Ignored, plan.Done())
		})
	}
}

// Conformance: DR-13, DR-14, DR-15
func TestWhichRuleIsForAPod(t *testing.T) {
	web := pod("p", label("app", "web"))
	for _, c := range []struct {
		name  string
		rules []change
		by    string
	}{
		{"no machines and no pods named: all", []change{rule("a", skips)}, "a"},
		{"machine by its labels", []change{rule("a", skips, forMachines(map[string]string{"pool": "blue"}, nil))}, "a"},
		{"another machine", []change{rule("a", skips, forMachines(map[string]string{"pool": "red"}, nil))}, ""},
		{"machine by the labels of its cluster", []change{rule("a", skips, forMachines(nil, map[string]string{"stage": "test"}))}, "a"},
		{"machine of another cluster", []change{rule("a", skips, forMachines(nil, map[string]string{"stage": "live"}))}, ""},
		{"both must match", []change{rule("a", skips, forMachines(map[string]string{"pool": "blue"}, map[string]string{"stage": "live"}))}, ""},
		{"any entry suffices", []change{rule("a", skips, forMachines(map[string]string{"pool": "red"}, nil), forMachines(map[string]string{"pool": "blue"}, nil))}, "a"},
		{"pod by its labels", []change{rule("a", skips, forPods(map[string]string{"app": "web"}, nil))}, "a"},
		{"another pod", []change{rule("a", skips, forPods(map[string]string{"app": "db"}, nil))}, ""},
		{"pod by its namespace", []change{rule("a", skips, forPods(nil, map[string]string{"team": "a"}))}, "a"},
		{"pod of another namespace", []change{rule("a", skips, forPods(nil, map[string]string{"team": "b"}))}, ""},
		{"pod and namespace must match", []change{rule("a", skips, forPods(map[string]string{"app": "web"}, map[string]string{"team": "b"}))}, ""},
		{"any entry for pods suffices", []change{rule("a", skips, forPods(map[string]string{"app": "db"}, nil), forPods(map[string]string{"app": "web"}, nil))}, "a"},
		{"the first by name wins", []change{rule("b", drains), rule("a", skips)}, "a"},
		{"the first that matches wins", []change{rule("a", drains, forPods(map[string]string{"app": "db"}, nil)), rule("b", skips)}, "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := drain.Decide(world(append(c.rules, with(web))...))
			require.NoError(t, err)
			want := ""
			if c.by != "" {
				want = "MachineDrainRule " + c.by
			}
			assert.Equal(t, want, plan.Pods[0].By)
		})
	}
}

// Conformance: DR-24
func TestABadSelectorInAnyRuleStopsTheDrain(t *testing.T) {
	bad := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	elsewhere := forMachines(map[string]string{"pool": "red"}, nil)
	for path, c := range map[string]ruleChange{
		"spec.machines[1].selector": func(r *clusterv1.MachineDrainRule) {
			r.Spec.Machines = append(r.Spec.Machines, clusterv1.MachineDrainRuleMachine{Selector: bad})
		},
		"spec.machines[1].clusterSelector": func(r *clusterv1.MachineDrainRule) {
			r.Spec.Machines = append(r.Spec.Machines, clusterv1.MachineDrainRuleMachine{ClusterSelector: bad})
		},
		"spec.pods[0].selector": func(r *clusterv1.MachineDrainRule) {
			r.Spec.Pods = []clusterv1.MachineDrainRulePod{{Selector: bad}}
		},
		"spec.pods[0].namespaceSelector": func(r *clusterv1.MachineDrainRule) {
			r.Spec.Pods = []clusterv1.MachineDrainRulePod{{NamespaceSelector: bad}}
		},
	} {
		_, err := drain.Decide(world(rule("broken", skips, elsewhere, c), with(pod("p"))))
		var of *drain.RuleError
		require.ErrorAs(t, err, &of, path)
		assert.Equal(t, "broken", of.Rule)
		assert.ErrorContains(t, err, "MachineDrainRule broken: "+path)
	}
}

// Conformance: DR-25
func TestANamespaceThatIsNotKnownIsNoGuess(t *testing.T) {
	byTeam := rule("r", skips, forPods(nil, map[string]string{"team": "a"}))
	_, err := drain.Decide(world(byTeam, with(pod("p", namespace("new")))))
	assert.ErrorContains(t, err, "namespace new")
	_, err = drain.Decide(world(rule("r", skips, forPods(map[string]string{"app": "web"}, map[string]string{"team": "a"})), with(pod("p", namespace("new")))))
	assert.NoError(t, err, "the pod's own labels do not match, so its namespace does not matter")
	_, err = drain.Decide(world(rule("r", skips), with(pod("p", namespace("new")))))
	assert.NoError(t, err)
}

func treatments(t *testing.T, w drain.World) map[string]drain.Treatment {
	t.Helper()
	plan, err := drain.Decide(w)
	require.NoError(t, err)
	out := map[string]drain.Treatment{}
	for _, p := range plan.Pods {
		out[p.Name] = p.Treatment
	}
	return out
}

// Conformance: DR-17, DR-18
func TestOnlyTheLowestOrderIsEvicted(t *testing.T) {
	tier := func(n string) podChange { return label("tier", n) }
	rules := []change{
		rule("early", drains, order(-5), forPods(map[string]string{"tier": "early"}, nil)),
		rule("late", drains, order(5), forPods(map[string]string{"tier": "late"}, nil)),
		rule("wait", waits, forPods(map[string]string{"tier": "wait"}, nil)),
	}
	early, plain, late, wait := pod("early", tier("early")), pod("plain"), pod("late", tier("late")), pod("wait", tier("wait"))
	for _, c := range []struct {
		name string
		pods []*corev1.Pod
		want map[string]drain.Treatment
	}{
		{"the lowest first", []*corev1.Pod{early, plain, late}, map[string]drain.Treatment{"early": drain.Evicted, "plain": drain.Later, "late": drain.Later}},
		{"then the next", []*corev1.Pod{plain, late}, map[string]drain.Treatment{"plain": drain.Evicted, "late": drain.Later}},
		{"then the last", []*corev1.Pod{late}, map[string]drain.Treatment{"late": drain.Evicted}},
		{"what is still ending counts", []*corev1.Pod{pod("early", tier("early"), ending(time.Minute)), plain}, map[string]drain.Treatment{"early": drain.Leaving, "plain": drain.Later}},
		{"what completes has order 0", []*corev1.Pod{wait, late}, map[string]drain.Treatment{"wait": drain.Completing, "late": drain.Later}},
		{"what completes waits for nobody", []*corev1.Pod{early, wait}, map[string]drain.Treatment{"early": drain.Evicted, "wait": drain.Completing}},
		{"what has completed holds nobody up", []*corev1.Pod{pod("wait", tier("wait"), phase(corev1.PodSucceeded)), late}, map[string]drain.Treatment{"wait": drain.Ignored, "late": drain.Evicted}},
		{"what stays holds nobody up", []*corev1.Pod{pod("static", mirror), late}, map[string]drain.Treatment{"static": drain.Ignored, "late": drain.Evicted}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, treatments(t, world(append(rules, with(c.pods...))...)))
		})
	}
}

// Conformance: DR-01, DR-04, DR-30
func TestTheNode(t *testing.T) {
	plan, err := drain.Decide(world())
	require.NoError(t, err)
	assert.Equal(t, drain.Plan{Node: "n", Cordon: true}, plan)
	plan, err = drain.Decide(world(func(w *drain.World) { w.Node.Spec.Unschedulable = true }))
	require.NoError(t, err)
	assert.Equal(t, drain.Plan{Node: "n"}, plan)
	for _, c := range []struct {
		since    time.Duration
		override bool
	}{{time.Minute, false}, {5 * time.Minute, false}, {5*time.Minute + time.Second, true}} {
		plan, err := drain.Decide(world(ready(corev1.ConditionUnknown, c.since)))
		require.NoError(t, err)
		assert.True(t, plan.Unreachable)
		assert.Equal(t, c.override, plan.Override, c.since)
	}
	assert.False(t, drain.Unreachable(&corev1.Node{}), "a Node without conditions has not stopped reporting")
}

// Conformance: DR-42
func TestSkippedPodsKeepTheirVolumes(t *testing.T) {
	plan, err := drain.Decide(world(daemonSet("ds"), with(pod("a", owner("DaemonSet", "ds")), pod("b"), pod("c", mirror))))
	require.NoError(t, err)
	var names []string
	for _, p := range plan.Skipped() {
		names = append(names, p.Name)
	}
	assert.Equal(t, []string{"a", "c"}, names)
}
