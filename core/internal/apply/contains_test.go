package apply_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/apply"
)

func TestContains(t *testing.T) {
	minute, hour, empty := int32(60), int32(3600), ""
	owner := metav1.OwnerReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "MachinePool", Name: "p", UID: "1"}
	stored := func(change func(*clusterv1.Machine)) *clusterv1.Machine {
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m", Labels: map[string]string{"a": "1", "b": "2"}, Finalizers: []string{"x", "y"}, UID: "7",
			OwnerReferences: []metav1.OwnerReference{{Kind: "Other", Name: "o"}, owner}},
			Spec:   clusterv1.MachineSpec{ClusterName: "c", Version: "v1.37.0", ProviderID: "id", Bootstrap: clusterv1.Bootstrap{DataSecretName: &empty}, Deletion: clusterv1.MachineDeletionSpec{NodeDrainTimeoutSeconds: &minute}},
			Status: clusterv1.MachineStatus{Phase: "Running"}}
		change(m)
		return m
	}
	want := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m", Labels: map[string]string{"a": "1"}, Finalizers: []string{"y"}, OwnerReferences: []metav1.OwnerReference{owner}},
		Spec: clusterv1.MachineSpec{ClusterName: "c", Version: "v1.37.0", Bootstrap: clusterv1.Bootstrap{DataSecretName: &empty}, Deletion: clusterv1.MachineDeletionSpec{NodeDrainTimeoutSeconds: &minute}}}
	want.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Machine"))
	for _, tt := range []struct {
		name   string
		change func(*clusterv1.Machine)
		want   bool
	}{
		{"all and more", func(*clusterv1.Machine) {}, true},
		{"a label is missing", func(m *clusterv1.Machine) { delete(m.Labels, "a") }, false},
		{"a label differs", func(m *clusterv1.Machine) { m.Labels["a"] = "9" }, false},
		{"the owner is missing", func(m *clusterv1.Machine) { m.OwnerReferences = m.OwnerReferences[:1] }, false},
		{"the owner has another identity", func(m *clusterv1.Machine) { m.OwnerReferences[1].UID = "2" }, false},
		{"the finalizer is missing", func(m *clusterv1.Machine) { m.Finalizers = []string{"x"} }, false},
		{"a number differs", func(m *clusterv1.Machine) { m.Spec.Deletion.NodeDrainTimeoutSeconds = &hour }, false},
		{"a number is missing", func(m *clusterv1.Machine) { m.Spec.Deletion.NodeDrainTimeoutSeconds = nil }, false},
		{"the empty name is missing", func(m *clusterv1.Machine) { m.Spec.Bootstrap.DataSecretName = nil }, false},
		{"a list has more", func(m *clusterv1.Machine) {
			m.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "X"}}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			have, err := apply.Contains(stored(tt.change), want)
			require.NoError(t, err)
			assert.Equal(t, tt.want, have)
		})
	}
	gates := want.DeepCopy()
	gates.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "X"}}
	has, err := apply.Contains(stored(func(m *clusterv1.Machine) {
		m.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "X"}, {ConditionType: "Y"}}
	}), gates)
	require.NoError(t, err)
	assert.False(t, has, "a list with more than wanted has to shrink")
}
