package patch_test

import (
	"context"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/patch"
)

// scramble sets and unsets fields of a Machine at random.
func scramble(r *rand.Rand, m *clusterv1.Machine) {
	pick := func(f func(), otherwise func()) {
		switch r.Intn(3) {
		case 0:
			f()
		case 1:
			otherwise()
		}
	}
	flag := func() *bool { b := r.Intn(2) == 0; return &b }
	pick(func() { m.Labels = map[string]string{"a": string(rune('a' + r.Intn(3)))} }, func() { m.Labels = nil })
	pick(func() { m.Annotations = map[string]string{"b/c": "d"} }, func() { m.Annotations = nil })
	pick(func() { m.Spec.ProviderID = "dev:///m" }, func() { m.Spec.ProviderID = "" })
	pick(func() { m.Status.Phase = clusterv1.MachinePhaseRunning }, func() { m.Status.Phase = "" })
	pick(func() { m.Status.Initialization.InfrastructureProvisioned = flag() }, func() { m.Status.Initialization.InfrastructureProvisioned = nil })
	pick(func() { m.Status.Initialization.BootstrapDataSecretCreated = flag() }, func() { m.Status.Initialization.BootstrapDataSecretCreated = nil })
	pick(func() {
		m.Status.Addresses = []clusterv1.MachineAddress{{Type: clusterv1.MachineHostName, Address: string(rune('a' + r.Intn(3)))}}
	}, func() { m.Status.Addresses = nil })
	pick(func() { m.Status.NodeRef.Name = "n" }, func() { m.Status.NodeRef = clusterv1.MachineNodeReference{} })
	for _, t := range mine {
		pick(func() {
			conditions.Set(m, metav1.Condition{Type: t, Status: []metav1.ConditionStatus{"True", "False", "Unknown"}[r.Intn(3)], Reason: "R"})
		}, func() { conditions.Delete(m, t) })
	}
}

// TestWhatIsWrittenIsWhatWasWanted: after any change, whoever wrote before, the stored object is what the writer wanted, what others own is as it
// was, it took at most one patch and one apply, and doing the same again takes none.
//
// Conformance: SH-10, SH-11
func TestWhatIsWrittenIsWhatWasWanted(t *testing.T) {
	r, m := rand.New(rand.NewSource(1)), newMachine(t)
	change(t, "other", m, []string{"HealthCheckSucceeded"}, func(m *clusterv1.Machine) { conditions.Set(m, condition("HealthCheckSucceeded", "Succeeded")) })
	for i := range 60 {
		c, obj := count(), stored(t, m)
		h := patch.Begin(c, "machine", obj)
		scramble(r, obj)
		require.NoError(t, h.Finish(context.Background(), obj, patch.Owned(mine...)), "step %d", i)
		assert.LessOrEqual(t, c.writes, 2, "step %d", i)

		got := &clusterv1.Machine{}
		require.NoError(t, env.Client.Get(context.Background(), client.ObjectKeyFromObject(m), got))
		got.ManagedFields, obj.ManagedFields, got.TypeMeta, obj.TypeMeta = nil, nil, metav1.TypeMeta{}, metav1.TypeMeta{}
		if len(got.Labels) == 0 && len(obj.Labels) == 0 {
			got.Labels, obj.Labels = nil, nil
		}
		conditions.Sort(got)
		for j := range obj.Status.Conditions { // the API gives times in another zone
			obj.Status.Conditions[j].LastTransitionTime = got.Status.Conditions[j].LastTransitionTime
		}
		require.Equal(t, obj.Status, got.Status, "step %d", i)
		require.Equal(t, obj, got, "step %d", i)
		require.True(t, conditions.Has(got, "HealthCheckSucceeded"))
		require.Zero(t, change(t, "machine", m, mine, func(*clusterv1.Machine) {}), "step %d", i)
	}
}
