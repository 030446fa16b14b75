package machinepool_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/ownership"
)

// provision brings the provider objects, which come after the pool as in a file that a user applies at once.
func (s *story) provision() {
	s.until("the missing infrastructure is named", s.pool, func() bool {
		return conditions.Reason(s.pool, clusterv1.InfrastructureReadyCondition) == clusterv1.ObjectDoesNotExistReason
	})
	assert.Contains(s, s.pool.Finalizers, clusterv1.MachinePoolFinalizer)
	assert.Equal(s, "Pending", s.pool.Status.Phase)
	s.infra, s.config = s.fake(poolInfra, "p", nil), s.fake(configKind, "p", nil)
	for _, o := range []*unstructured.Unstructured{s.infra, s.config} {
		s.until(o.GetKind()+" is adopted when it appears", o, func() bool {
			return metav1.IsControlledBy(o, s.pool) && o.GetLabels()[clusterv1.ClusterNameLabel] == "c"
		})
	}
	s.patch(s.config, true, map[string]any{"initialization": map[string]any{"dataSecretCreated": true}, "dataSecretName": "data"})
	s.until("the data is taken over", s.pool, func() bool { return s.pool.Status.Phase == "Provisioning" })
	assert.Equal(s, "data", *s.pool.Spec.Template.Spec.Bootstrap.DataSecretName)
}

// open says whether the controllers let pods come to a Node; the API server has a taint of its own on new ones.
func open(n *corev1.Node) bool {
	return !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "node.cluster.x-k8s.io/uninitialized" })
}

func (s *story) phase(phase string) {
	s.Helper()
	s.until("the pool is "+phase, s.pool, func() bool { return s.pool.Status.Phase == phase })
}

// TestAPoolWithoutMachines: an auto-scaling group whose members are known by their provider IDs only.
//
// Conformance: MP-14, MP-21, MP-23, MP-24, MP-29, MP-33
func TestAPoolWithoutMachines(t *testing.T) {
	s := begin(t, nil)
	s.provision()
	s.members("", "a", "b")
	s.phase("Provisioned")
	a, b := s.joins("a"), s.joins("b")
	s.phase("Running")
	s.until("all members are available", s.pool, func() bool { return conditions.IsTrue(s.pool, clusterv1.AvailableCondition) })
	assert.Len(t, s.pool.Status.NodeRefs, 2)
	for _, n := range []*corev1.Node{a, b} {
		s.until("the Node leads back to the pool", n, func() bool { return n.Annotations[clusterv1.OwnerNameAnnotation] == "p" })
		assert.Equal(t, "MachinePool", n.Annotations[clusterv1.OwnerKindAnnotation])
		s.until("the Node takes pods", n, func() bool { return open(n) })
		assert.NotContains(t, n.Labels, "node-restriction.kubernetes.io/pool")
	}
	var machines clusterv1.MachineList
	require.NoError(t, env.Client.List(ctx, &machines, client.InNamespace(s.namespace)))
	assert.Empty(t, machines.Items)

	require.NoError(t, env.Client.Delete(ctx, a))
	s.until("a Node that somebody deletes is missed", s.pool, func() bool { return len(s.pool.Status.NodeRefs) == 1 })
	a = s.joins("a")
	s.until("and found again", s.pool, func() bool { return len(s.pool.Status.NodeRefs) == 2 })

	s.members("", "b")
	s.eventually("the Node of a member that is gone is deleted", func() bool { return s.gone(a) })
	s.patch(s.pool, false, map[string]any{"replicas": 1})
	s.phase("Running")
	s.quiet()
	s.deleteWith(b)
}

// quiet wants that an event that changes nothing causes no write.
func (s *story) quiet() {
	s.Helper()
	s.until("the pool is at rest", s.pool, func() bool { return s.pool.Status.ObservedGeneration == s.pool.Generation })
	version, before := s.pool.ResourceVersion, writes.Load()
	metav1.SetMetaDataAnnotation(&s.pool.ObjectMeta, "touched", "yes")
	require.NoError(s, env.Client.Update(ctx, s.pool))
	s.until("the change is seen", s.pool, func() bool { return s.pool.ResourceVersion != version })
	touched := s.pool.ResourceVersion
	s.patch(s.infra, true, map[string]any{"other": "field"})
	s.patch(s.infra, true, map[string]any{"other": "value"})
	// What follows needs a reconcile after those events; nothing may have been written until then.
	s.patch(s.infra, true, map[string]any{"failureReason": "Marker"})
	s.until("the next report is seen", s.pool, func() bool { return s.pool.Status.Deprecated.V1Beta1 != nil })
	assert.NotEqual(s, touched, s.pool.ResourceVersion)
	assert.EqualValues(s, 1, writes.Load()-before, "one write for one difference")
}

// deleteWith deletes the pool, whose last Node is still there.
func (s *story) deleteWith(n *corev1.Node) {
	require.NoError(s, env.Client.Delete(ctx, s.pool))
	s.eventually("the infrastructure goes first", func() bool { return s.deleting(s.infra) })
	assert.False(s, s.deleting(s.config))
	s.release(s.infra)
	s.eventually("then the bootstrap config", func() bool { return s.deleting(s.config) })
	assert.False(s, s.gone(n))
	s.release(s.config)
	s.eventually("then the Node", func() bool { return s.gone(n) })
	s.eventually("then the pool", func() bool { return s.gone(s.pool) })
}

// TestAPoolOfMachines: a provider that shows its members, with the controller of Machines beside.
//
// Conformance: MP-14, MP-17, MP-19, MP-20, MP-23, MP-29, IP6, IP7
func TestAPoolOfMachines(t *testing.T) {
	s := begin(t, nil)
	s.provision()
	infraA, infraB := s.member("a"), s.member("b")
	s.members("FakeMachine", "a", "b")
	a, b := s.machine("a"), s.machine("b")
	s.until("a member gets its Machine", a, func() bool { return a.Spec.ProviderID == s.id("a") })
	assert.Equal(t, "p", a.Labels[clusterv1.MachinePoolNameLabel])
	require.NotNil(t, a.Spec.Bootstrap.DataSecretName)
	assert.Empty(t, *a.Spec.Bootstrap.DataSecretName)
	assert.True(t, metav1.IsControlledBy(a, s.pool))
	s.until("the Machine takes its member over", infraA, func() bool { return metav1.IsControlledBy(infraA, a) })
	nodeA, nodeB := s.joins("a"), s.joins("b")
	s.phase("Running")
	s.until("the Node gets the Machine's labels before it takes pods", nodeA, func() bool { return open(nodeA) })
	assert.Equal(t, "blue", nodeA.Labels["node-restriction.kubernetes.io/pool"])
	assert.Equal(t, "a", nodeA.Annotations[clusterv1.MachineAnnotation])
	assert.Equal(t, "MachinePool", nodeA.Annotations[clusterv1.OwnerKindAnnotation])
	for _, kind := range []string{clusterv1.AvailableCondition, clusterv1.MachinesReadyCondition, clusterv1.MachinesUpToDateCondition} {
		s.until("the pool is "+kind, s.pool, func() bool { return conditions.IsTrue(s.pool, kind) })
	}
	s.changeTemplate(a)

	require.NoError(t, env.Client.Delete(ctx, a))
	s.eventually("the deletion of a Machine takes its member along", func() bool { return s.deleting(infraA) })
	assert.False(t, s.gone(a), "the Machine waits for it")
	s.members("FakeMachine", "b")
	s.release(infraA)
	s.eventually("then the Machine is gone", func() bool { return s.gone(a) })
	s.eventually("its Node too", func() bool { return s.gone(nodeA) })
	assert.True(t, s.gone(s.machine("a")), "no Machine is made again for a member that left")

	s.release(infraB)
	require.NoError(t, env.Client.Delete(ctx, infraB))
	s.members("FakeMachine")
	s.eventually("a member that the infrastructure takes away takes its Machine along", func() bool { return s.gone(b) })
	s.eventually("and its Node", func() bool { return s.gone(nodeB) })
	s.deletePoolOfMachines()
}

// changeTemplate: labels reach Machines in place and leave them again, those of users stay.
func (s *story) changeTemplate(m *clusterv1.Machine) {
	uid := m.UID
	require.NoError(s, env.Client.Patch(ctx, m, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"user":"mine"}}}`))))
	s.patch(s.pool, false, map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"node.cluster.x-k8s.io/new": "1"}}, "spec": map[string]any{"deletion": map[string]any{"nodeDrainTimeoutSeconds": 60}}}})
	s.until("the Machine has the new label and timeout", m, func() bool {
		return m.Labels["node.cluster.x-k8s.io/new"] == "1" && m.Spec.Deletion.NodeDrainTimeoutSeconds != nil
	})
	s.patch(s.pool, false, map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"node.cluster.x-k8s.io/new": nil}}}})
	s.until("the label is gone", m, func() bool { _, has := m.Labels["node.cluster.x-k8s.io/new"]; return !has })
	assert.Equal(s, "mine", m.Labels["user"])
	assert.Equal(s, uid, m.UID, "nothing was replaced")
}

// deletePoolOfMachines deletes a pool with one new member: its Machine leaves together with the infrastructure.
func (s *story) deletePoolOfMachines() {
	infraC, c := s.member("c"), s.machine("c")
	s.members("FakeMachine", "c")
	s.until("another member comes", infraC, func() bool { return ownership.ControllerOf(infraC) != nil })
	require.NoError(s, env.Client.Delete(ctx, s.pool))
	s.eventually("the Machine leaves", func() bool { return s.deleting(c) && s.deleting(infraC) })
	assert.True(s, s.deleting(s.infra), "together with the infrastructure, which would replace it")
	s.until("the pool names what it waits for", s.pool, func() bool {
		return conditions.Message(s.pool, clusterv1.DeletingCondition) == "* FakePool: p\n* Machines: c"
	})
	s.release(s.infra)
	s.release(infraC)
	s.eventually("the Machine is gone", func() bool { return s.gone(c) })
	s.eventually("then the bootstrap config", func() bool { return s.deleting(s.config) })
	s.release(s.config)
	s.eventually("then the pool", func() bool { return s.gone(s.pool) })
}

// TestAnAutoscalerOwnsTheNumber: the pool follows, and its scale subresource tells.
//
// Conformance: MP-10, IP8
func TestAnAutoscalerOwnsTheNumber(t *testing.T) {
	s := begin(t, map[string]string{clusterv1.ReplicasManagedByAnnotation: "cluster-autoscaler"})
	s.provision()
	s.members("", "a", "b", "c")
	s.until("the number is the autoscaler's", s.pool, func() bool { return *s.pool.Spec.Replicas == 3 })
	s.joins("a")
	s.phase("Scaling")
	s.joins("b")
	s.joins("c")
	s.phase("Running")
	s.members("", "a")
	s.until("also downwards", s.pool, func() bool { return *s.pool.Spec.Replicas == 1 && s.pool.Status.Phase == "Running" })
}

// TestPausingAPool: nothing is done while it is paused, and going on needs no other event.
//
// Conformance: MP-02, SH-04
func TestPausingAPool(t *testing.T) {
	s := begin(t, nil)
	s.provision()
	s.patch(s.cluster, false, map[string]any{"paused": true})
	s.until("the pause is told", s.pool, func() bool { return conditions.IsTrue(s.pool, clusterv1.PausedCondition) })
	s.members("", "a")
	require.NoError(t, env.Client.Delete(ctx, s.pool))
	s.patch(s.cluster, false, map[string]any{"paused": nil})
	s.eventually("the deletion goes on", func() bool { return s.deleting(s.infra) })
	require.NoError(t, s.load(s.pool))
	assert.Empty(t, s.pool.Spec.ProviderIDList, "what was reported during the pause was not taken over")
}

// TestBadPoolsAreRefused: what cannot work is told at admission, by field.
//
// Conformance: MP-32, IP9
func TestBadPoolsAreRefused(t *testing.T) {
	namespace := env.Namespace(t)
	good := func() *clusterv1.MachinePool {
		p := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "p-"}, Spec: clusterv1.MachinePoolSpec{ClusterName: "c"}}
		p.Spec.Template.Spec = clusterv1.MachineSpec{ClusterName: "c", Version: "1.37.0", InfrastructureRef: ref(poolInfra, "p"), Bootstrap: clusterv1.Bootstrap{ConfigRef: ref(configKind, "p")}}
		return p
	}
	for path, spoil := range map[string]func(*clusterv1.MachinePool){
		"spec.template.spec.taints: Forbidden": func(p *clusterv1.MachinePool) {
			p.Spec.Template.Spec.Taints = []clusterv1.MachineTaint{{Key: "a/b", Effect: "NoSchedule", Propagation: "Always"}}
		},
		"spec.template.spec.bootstrap: Required":  func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{} },
		"spec.template.spec.version: Invalid":     func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "latest" },
		"spec.template.spec.clusterName: Invalid": func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.ClusterName = "d" },
		"spec.replicas: Invalid":                  func(p *clusterv1.MachinePool) { n := int32(-1); p.Spec.Replicas = &n },
	} {
		p := good()
		spoil(p)
		assert.ErrorContains(t, env.Client.Create(ctx, p), path)
	}
	p := good()
	require.NoError(t, env.Client.Create(ctx, p))
	assert.EqualValues(t, 1, *p.Spec.Replicas)
	assert.Equal(t, "v1.37.0", p.Spec.Template.Spec.Version)
	assert.EqualValues(t, 10, *p.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds)
	s := &story{T: t}
	s.patch(p, false, map[string]any{"replicas": 4})
	require.NoError(t, env.Client.Patch(ctx, p, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":null}}`))))
	assert.EqualValues(t, 4, *p.Spec.Replicas, "a number that is left out stays")
}
