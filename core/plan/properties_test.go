package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// TestPlansAddUp: whatever is proposed and whatever state the Machines are in, a plan comes to an end, tells of every
// Machine once, and what is left and added is exactly what is wanted.
//
// Conformance: MD-60
func TestPlansAddUp(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			m := newManagement(t)
			m.disturb(rng)
			proposed := m.md.DeepCopy()
			proposeAtRandom(rng, &proposed.Spec)
			plan := m.plan(proposed)
			require.Equal(t, plan, m.plan(proposed), "asked twice it says the same")

			seen, counted := map[string]bool{}, map[Fate]int{}
			for _, machine := range plan.Machines {
				require.False(t, seen[machine.Name], machine.Name)
				seen[machine.Name] = true
				counted[machine.Fate]++
				if machine.Fate == Replaced || machine.Fate == Removed {
					require.NotEmpty(t, machine.Why, machine.Name)
				}
				if machine.Fate == InPlace {
					require.NotEmpty(t, machine.Because, machine.Name)
				}
			}
			require.Len(t, plan.Machines, 3)
			require.Equal(t, int(*proposed.Spec.Replicas), counted[Untouched]+counted[InPlace]+counted[Replaced]+plan.Added, "%+v", plan)
		})
	}
}

// disturb brings the Machines into a random state.
func (m *management) disturb(rng *rand.Rand) {
	for _, name := range []string{"md-a-1", "md-a-2", "md-a-3"} {
		switch rng.IntN(6) {
		case 0:
			m.change(name, func(o *clusterv1.Machine) { o.Finalizers = []string{clusterv1.MachineFinalizer} })
			require.NoError(m, m.Delete(m.Context(), &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}))
		case 1:
			m.change(name, func(o *clusterv1.Machine) { o.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""} })
		case 2:
			m.change(name, func(o *clusterv1.Machine) {
				conditions.Set(o, metav1.Condition{Type: clusterv1.AvailableCondition, Status: metav1.ConditionFalse, Reason: "Test"})
			})
		}
	}
}

func proposeAtRandom(rng *rand.Rand, s *clusterv1.MachineDeploymentSpec) {
	s.Replicas = ptr(int32(rng.IntN(7)))
	s.Rollout.Strategy.RollingUpdate.MaxSurge = ptr(intstr.FromInt32(int32(rng.IntN(3))))
	s.Rollout.Strategy.RollingUpdate.MaxUnavailable = ptr(intstr.FromInt32(int32(rng.IntN(3))))
	if rng.IntN(2) == 0 {
		newVersion(s)
	}
	if rng.IntN(3) == 0 {
		s.Template.Spec.InfrastructureRef = infra([]string{"small", "large", "missing"}[rng.IntN(3)])
	}
	if rng.IntN(3) == 0 {
		s.Template.Metadata.Labels["tier"] = "web"
	}
	switch rng.IntN(6) {
	case 0:
		onDelete(s)
	case 1:
		s.Paused = ptr(true)
	case 2:
		s.Rollout.After = metav1.NewTime(epoch)
	}
}
