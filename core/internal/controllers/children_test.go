package controllers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/apply"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
)

// Whoever looks at the owners of fields, be it a user or another implementation after a change, knows these names.
//
// Conformance: SH-14
func TestNamesUnderWhichChildrenAreApplied(t *testing.T) {
	assert.Equal(t, "capi-machineset capi-machineset-metadata capi-machinedeployment",
		machineset.FieldOwnerOfMachines+" "+machineset.FieldOwnerOfMetadata+" "+machinedeployment.FieldOwnerOfSets)
}

// An API server has been seen to lose the record of who owns which fields.
//
// Conformance: SH-17
func TestALostRecordOfOwnersDropsNothing(t *testing.T) {
	namespace := env.Namespace(t)
	intent := func(labels ...string) *clusterv1.Machine {
		ref := clusterv1.ContractVersionedObjectReference{APIGroup: fakeMachine.Group, Kind: fakeMachine.Kind, Name: "m"}
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "m", Labels: map[string]string{}},
			Spec: clusterv1.MachineSpec{ClusterName: "none", InfrastructureRef: ref, Bootstrap: clusterv1.Bootstrap{ConfigRef: ref}}}
		m.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Machine"))
		for _, l := range labels {
			m.Labels[l] = "here"
		}
		return m
	}
	send := func(labels ...string) map[string]string {
		m := intent(labels...)
		require.NoError(t, apply.Send(ctx, env.Client, machineset.FieldOwnerOfMachines, m))
		return m.Labels
	}
	send("a", "b")
	m := intent()
	require.NoError(t, env.Client.Patch(ctx, m, mergePatch(t, map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{}}, "labels": map[string]any{"users": "own"}}})))
	assert.Equal(t, map[string]string{"a": "here", "b": "here", "c": "here", "users": "own"}, send("a", "b", "c"), "nothing is dropped")
	assert.Equal(t, map[string]string{"a": "here", "users": "own"}, send("a"), "what leaves the intent leaves the object, as before")
}
