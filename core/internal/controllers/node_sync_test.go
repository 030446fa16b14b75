package controllers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// running is a story with a machine whose Node has joined.
func running(t *testing.T) *story {
	s := &story{T: t, namespace: env.Namespace(t)}
	s.createCluster()
	s.provisionCluster()
	s.initializeControlPlane()
	s.createMachine()
	s.bootMachine()
	s.joinNode()
	return s
}

// label sets a label, or takes it away.
func label(key string, value any) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}}
}

// Conformance: MA-30, MA-31, MA-37, MG-23
func TestTheNodeFollowsItsMachineAndItself(t *testing.T) {
	const pool, mine = "node.cluster.x-k8s.io/pool", "node.cluster.x-k8s.io/mine"
	s := running(t)
	require.NoError(t, env.Client.Patch(ctx, s.machine, mergePatch(t, label(pool, "green"))))
	s.until("a change of the machine arrives", s.node, func() bool { return s.node.Labels[pool] == "green" })

	require.NoError(t, env.Client.Patch(ctx, s.node, mergePatch(t, label(pool, nil))))
	s.until("what somebody took away comes back", s.node, func() bool { return s.node.Labels[pool] == "green" })

	require.NoError(t, env.Client.Patch(ctx, s.node, mergePatch(t, label(mine, "yes"))))
	require.NoError(t, env.Client.Patch(ctx, s.machine, mergePatch(t, label(pool, nil))))
	s.until("what leaves the machine leaves the node", s.node, func() bool { _, there := s.node.Labels[pool]; return !there })
	assert.Equal(t, "yes", s.node.Labels[mine], "what others put there stays")
	assert.Empty(t, s.node.Annotations[clusterv1.LabelsFromMachineAnnotation])
}

// Conformance: MA-20, MA-22, MA-44
func TestTwoNodesWithOneIdentity(t *testing.T) {
	s := running(t)
	stranger := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.namespace + "-stranger"}, Spec: corev1.NodeSpec{ProviderID: s.node.Spec.ProviderID}}
	require.NoError(t, env.Client.Create(ctx, stranger))
	s.until("both are named", s.machine, func() bool {
		return conditions.Message(s.machine, clusterv1.MachineNodeReadyCondition) == "Nodes "+s.node.Name+", "+stranger.Name+" have the same spec.providerID "+s.machine.Spec.ProviderID
	})
	assert.Equal(t, s.node.Name, s.machine.Status.NodeRef.Name)
	require.NoError(t, s.load(stranger))
	assert.Empty(t, stranger.Annotations[clusterv1.MachineAnnotation], "the stranger is not touched")

	require.NoError(t, env.Client.Delete(ctx, stranger))
	s.until("one is right again", s.machine, func() bool { return conditions.IsTrue(s.machine, clusterv1.MachineNodeReadyCondition) })
	require.NoError(t, env.Client.Delete(ctx, s.node))
	s.until("none is an error", s.machine, func() bool {
		return conditions.Reason(s.machine, clusterv1.MachineNodeReadyCondition) == clusterv1.MachineNodeDeletedReason
	})
}
