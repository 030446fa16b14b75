package machinehealthcheck

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// someWorld makes any world: Machines in all states, with all traces of earlier decisions, under any limit.
func someWorld(r *rand.Rand) World {
	pick := func(options ...change) change { return options[r.IntN(len(options))] }
	age := func() time.Duration { return time.Duration(r.IntN(20*60)) * time.Second }
	var targets []Target
	for i := range r.IntN(8) {
		targets = append(targets, target(fmt.Sprintf("m%d", i),
			pick(asIs, sick, nodeIs("Ready", "False", age()), nodeIs("Ready", "Unknown", age()), starting(age()), nodeGone, nodeUnseen),
			pick(asIs, asIs, controlPlane), pick(asIs, asIs, asIs, deleting), pick(asIs, asIs, asIs, annotated(clusterv1.RemediateMachineAnnotation)),
			pick(asIs, said(checked, "True", clusterv1.MachineHealthCheckSucceededReason), said(checked, "False", "UnhealthyNode")),
			pick(asIs, said(byOwner, "False", "WaitingForRemediation"), said(byOwner, "False", "RemediationDeferred")), pick(asIs, requested),
		))
	}
	w := world(targets...)
	w.Connected = r.IntN(4) > 0
	for _, kind := range []string{clusterv1.InfrastructureReadyCondition, clusterv1.ClusterControlPlaneInitializedCondition} {
		if r.IntN(6) == 0 {
			cluster(kind, "False", age())(&w)
		}
	}
	w.Check.Spec.Remediation.TriggerIf = []clusterv1.MachineHealthCheckRemediationTriggerIf{
		{}, atMost(intstr.FromInt32(int32(r.IntN(4)))), atMost(intstr.FromString(fmt.Sprintf("%d%%", r.IntN(101)))), within(fmt.Sprintf("[%d-%d]", r.IntN(3), 2+r.IntN(4))),
	}[r.IntN(4)]
	if r.IntN(2) == 0 {
		handedOut(&w)
	}
	return w
}

func eachWorld(t *testing.T, holds func(t *testing.T, w World, d Decision)) {
	for seed := range uint64(1500) {
		w := someWorld(rand.New(rand.NewPCG(seed, 1)))
		d := Decide(w)
		holds(t, w, d)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// asked are the Machines that a decision newly gives up for remediation.
func asked(d Decision) []string {
	var out []string
	for name, m := range marks(d) {
		if m.Request != nil || (conditions.IsFalse(m.After, byOwner) && !conditions.IsFalse(m.Before, byOwner)) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func TestNobodyIsRemediatedBeyondTheLimit(t *testing.T) {
	eachWorld(t, func(t *testing.T, w World, d Decision) {
		if conditions.IsFalse(d.Check, allowance) {
			require.Empty(t, asked(d))
		}
	})
}

func TestOnlyTheIllAreRemediated(t *testing.T) {
	eachWorld(t, func(t *testing.T, w World, d Decision) {
		for _, x := range w.Targets {
			v := judge(w, w.Check.Spec.Checks, x)
			if !slices.Contains(asked(d), x.Machine.Name) {
				continue
			}
			require.Equal(t, unhealthy, v.state)
			require.Zero(t, x.Machine.DeletionTimestamp)
			_, byUser := x.Machine.Annotations[clusterv1.RemediateMachineAnnotation]
			require.True(t, byUser || conditions.IsTrue(w.Cluster, clusterv1.InfrastructureReadyCondition))
		}
	})
}

// Without sight of the Nodes of a running cluster, nothing but a user's word makes a Machine ill.
func TestTheBlindAccuseNobody(t *testing.T) {
	eachWorld(t, func(t *testing.T, w World, _ Decision) {
		w.Connected = false
		cluster(clusterv1.ClusterControlPlaneInitializedCondition, "True", time.Hour)(&w)
		for i := range w.Targets {
			w.Targets[i].Node, w.Targets[i].NodeMissing = nil, false
			delete(w.Targets[i].Machine.Annotations, clusterv1.RemediateMachineAnnotation)
		}
		require.Empty(t, marks(Decide(w)))
	})
}

func TestADecisionThatWasCarriedOutIsNotTakenAgain(t *testing.T) {
	eachWorld(t, func(t *testing.T, w World, d Decision) {
		again := Decide(store(w, d))
		require.Empty(t, again.Actions)
		require.Empty(t, again.Events)
		require.Equal(t, d.Check, again.Check)
	})
}

// Killing between any two actions loses nothing: what one actor did not come to do, the next does, and nothing twice.
func TestADecisionThatWasCarriedOutInPartIsCompleted(t *testing.T) {
	eachWorld(t, func(t *testing.T, w World, d Decision) {
		for n := range d.Actions {
			some := d
			some.Actions, some.Check = d.Actions[:n], w.Check
			copied := w
			copied.Targets = slices.Clone(w.Targets)
			rest := Decide(store(copied, some))
			require.Len(t, rest.Actions, len(d.Actions)-n)
		}
	})
}

// Time alone makes exactly those ill whose timeout is due, at the moment that was announced and not before.
func TestTheAnnouncedMomentIsExact(t *testing.T) {
	eachWorld(t, func(t *testing.T, w World, d Decision) {
		ill := func(w World) (n int) {
			for _, x := range w.Targets {
				if judge(w, w.Check.Spec.Checks, x).state == unhealthy {
					n++
				}
			}
			return n
		}
		before := ill(w)
		if d.After == 0 {
			w.Now = w.Now.Add(1000 * time.Hour)
			require.Equal(t, before, ill(w), "nothing was due")
			return
		}
		w.Now = w.Now.Add(d.After - time.Second)
		require.Equal(t, before, ill(w))
		w.Now = w.Now.Add(time.Second)
		require.Greater(t, ill(w), before)
	})
}
