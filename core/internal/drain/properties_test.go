package drain_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/drain"
)

// TestGroupsGoInOrder drains random Nodes to the end: pods of random kinds under random rules, that end at random times,
// complete at random times, or appear late because they were being scheduled. A pod goes only when nothing of a lower
// order is there, what stays is never touched, and every drain ends.
//
// Conformance: DR-17, DR-18, DR-26
func TestGroupsGoInOrder(t *testing.T) {
	for seed := range int64(1500) {
		random := rand.New(rand.NewSource(seed))
		w := arbitrary(random)
		for step := 0; ; step++ {
			require.Less(t, step, 400, "seed %d does not end", seed)
			plan, err := drain.Decide(w)
			require.NoError(t, err, seed)
			checkGroups(t, seed, plan)
			if plan.Done() {
				break
			}
			carryOn(random, &w, plan)
		}
		for i := range w.Pods {
			require.True(t, mayStay(w, &w.Pods[i]), "seed %d: %s is left behind", seed, w.Pods[i].Name)
		}
	}
}

// arbitrary has up to 20 pods in tiers 0 to 4, and rules that give most tiers an order or another behavior.
func arbitrary(random *rand.Rand) drain.World {
	w := world(daemonSet("ds"))
	for tier := range 5 {
		behavior := []string{drains, drains, drains, skips, waits}[random.Intn(5)]
		changes := []ruleChange{forPods(map[string]string{"tier": fmt.Sprint(tier)}, nil)}
		if behavior == drains {
			changes = append(changes, order(int32(random.Intn(7)-3)))
		}
		if random.Intn(4) > 0 {
			rule(fmt.Sprintf("r%d", random.Intn(1000)), behavior, changes...)(&w)
		}
	}
	for i := range random.Intn(20) {
		kinds := []podChange{mirror, owner("DaemonSet", "ds"), owner("DaemonSet", "gone"), phase(corev1.PodSucceeded), ending(time.Minute),
			label(clusterv1.PodDrainLabel, "skip"), label(clusterv1.PodDrainLabel, "wait-completed")}
		changes := []podChange{label("tier", fmt.Sprint(random.Intn(5)))}
		if n := random.Intn(2 * len(kinds)); n < len(kinds) {
			changes = append(changes, kinds[n])
		}
		with(pod(fmt.Sprintf("p%02d", i), changes...))(&w)
	}
	return w
}

func checkGroups(t *testing.T, seed int64, plan drain.Plan) {
	t.Helper()
	for _, p := range plan.ToEvict() {
		require.Equal(t, drain.Evicted, p.Treatment)
		require.Nil(t, p.DeletionTimestamp, "seed %d: %s is evicted twice", seed, p.Name)
		_, static := p.Annotations[corev1.MirrorPodAnnotationKey]
		require.False(t, static, "seed %d: static pod %s is evicted", seed, p.Name)
		for _, other := range plan.Pods {
			if other.Treatment != drain.Ignored {
				require.LessOrEqual(t, p.Order, other.Order, "seed %d: %s goes before %s", seed, p.Name, other.Name)
			}
		}
	}
	if !plan.Done() && len(plan.ToEvict()) == 0 {
		waited := false
		for _, p := range plan.Pods {
			waited = waited || p.Treatment == drain.Leaving || p.Treatment == drain.Completing
		}
		require.True(t, waited, "seed %d: nothing is done and nothing is waited for", seed)
	}
}

// carryOn requests some of the evictions, as a busy API server would allow, and lets time go by.
func carryOn(random *rand.Rand, w *drain.World, plan drain.Plan) {
	evicted := map[string]bool{}
	for _, p := range plan.ToEvict() {
		evicted[p.Name] = random.Intn(3) > 0
	}
	var left []corev1.Pod
	for _, p := range w.Pods {
		if p.DeletionTimestamp != nil && random.Intn(2) == 0 {
			continue
		}
		if p.Status.Phase == corev1.PodRunning && random.Intn(4) == 0 {
			p.Status.Phase = corev1.PodSucceeded
		}
		if evicted[p.Name] {
			at := metav1.NewTime(w.Now)
			p.DeletionTimestamp = &at
		}
		left = append(left, p)
	}
	w.Pods, w.Now = left, w.Now.Add(time.Second)
}

// mayStay says whether something lets a pod stay: its kind, its label, or the rule of its tier.
func mayStay(w drain.World, p *corev1.Pod) bool {
	running := p.Status.Phase == corev1.PodRunning
	_, static := p.Annotations[corev1.MirrorPodAnnotationKey]
	value := p.Labels[clusterv1.PodDrainLabel]
	if static || value == "skip" || value != "" && !running || p.OwnerReferences[0].UID == "ds" && running {
		return true
	}
	for _, r := range w.Rules {
		if r.Spec.Pods[0].Selector.MatchLabels["tier"] == p.Labels["tier"] {
			return r.Spec.Drain.Behavior == skips || r.Spec.Drain.Behavior == waits && !running
		}
	}
	return false
}

func TestTheSameWorldGivesTheSamePlan(t *testing.T) {
	for seed := range int64(200) {
		w := arbitrary(rand.New(rand.NewSource(seed)))
		first, err := drain.Decide(w)
		require.NoError(t, err)
		w.Pods = slices.Clone(w.Pods)
		rand.New(rand.NewSource(seed)).Shuffle(len(w.Pods), func(i, j int) { w.Pods[i], w.Pods[j] = w.Pods[j], w.Pods[i] })
		second, err := drain.Decide(w)
		require.NoError(t, err)
		began := metav1.NewTime(now)
		require.Equal(t, first.Report(began, nil), second.Report(began, nil), "seed %d: the order in which pods are read shows", seed)
	}
}
