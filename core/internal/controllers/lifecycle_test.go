package controllers_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// story is one cluster with one machine, and the provider objects whose controllers the test plays.
type story struct {
	*testing.T
	namespace                                          string
	cluster                                            *clusterv1.Cluster
	machine                                            *clusterv1.Machine
	infra, controlPlane, machineInfra, bootstrapConfig *unstructured.Unstructured
	node                                               *corev1.Node
}

func (s *story) load(o client.Object) error {
	return env.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
}

func (s *story) gone(o client.Object) bool { return apierrors.IsNotFound(s.load(o)) }

func (s *story) deleting(o client.Object) bool {
	return s.load(o) == nil && !o.GetDeletionTimestamp().IsZero()
}

func (s *story) until(what string, o client.Object, done func() bool) {
	s.Helper()
	eventually(s.T, what, func() bool { return s.load(o) == nil && done() })
}

func (s *story) reason(o interface {
	client.Object
	conditions.Getter
}, conditionType string) string {
	if s.load(o) != nil {
		return ""
	}
	return conditions.Reason(o, conditionType)
}

// TestFromReferencesToRunning walks one cluster and one machine through their lives; the references come before the
// objects, as in a file that a user applies at once.
//
// Conformance: CL-02, CL-05, CL-06, CL-24
func TestFromReferencesToRunning(t *testing.T) {
	s := &story{T: t, namespace: env.Namespace(t)}
	s.createCluster()
	s.provisionCluster()
	s.initializeControlPlane()
	s.createMachine()
	s.bootMachine()
	s.failBoot()
	s.joinNode()
	s.deleteInOrder()
}

func (s *story) createCluster() {
	s.cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c"}, Spec: clusterv1.ClusterSpec{
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: fakeCluster.Group, Kind: fakeCluster.Kind, Name: "c"},
		ControlPlaneRef:   clusterv1.ContractVersionedObjectReference{APIGroup: fakeControlPlane.Group, Kind: fakeControlPlane.Kind, Name: "c"},
	}}
	require.NoError(s, env.Client.Create(ctx, s.cluster))
	eventually(s.T, "the missing infrastructure is named", func() bool {
		return s.reason(s.cluster, clusterv1.InfrastructureReadyCondition) == clusterv1.ObjectDoesNotExistReason
	})
	assert.Contains(s, s.cluster.Finalizers, clusterv1.ClusterFinalizer)
	assert.Equal(s, clusterv1.ClusterPhaseProvisioning, s.cluster.Status.Phase)
}

func (s *story) provisionCluster() {
	s.infra = fake(s.T, fakeCluster, s.namespace, "c")
	s.until("the infrastructure is adopted when it appears", s.infra, func() bool {
		return s.infra.GetLabels()[clusterv1.ClusterNameLabel] == "c" && len(s.infra.GetOwnerReferences()) == 1
	})
	report(s.T, s.infra, map[string]any{"controlPlaneEndpoint": map[string]any{"host": "10.0.0.1", "port": int64(6443)}}, map[string]any{
		"initialization": map[string]any{"provisioned": true},
		"failureDomains": []any{map[string]any{"name": "b"}, map[string]any{"name": "a", "controlPlane": true}},
	})
	s.until("the cluster is provisioned", s.cluster, func() bool { return s.cluster.Status.Phase == clusterv1.ClusterPhaseProvisioned })
	assert.Equal(s, clusterv1.APIEndpoint{Host: "10.0.0.1", Port: 6443}, s.cluster.Spec.ControlPlaneEndpoint)
	require.Len(s, s.cluster.Status.FailureDomains, 2)
	assert.Equal(s, "a", s.cluster.Status.FailureDomains[0].Name)
}

func (s *story) initializeControlPlane() {
	s.controlPlane = fake(s.T, fakeControlPlane, s.namespace, "c")
	report(s.T, s.controlPlane, nil, map[string]any{"initialization": map[string]any{"controlPlaneInitialized": true}})
	require.NoError(s, env.Client.Create(ctx, kubeconfigSecret(s.namespace, "c")))
	s.until("the cluster is initialized and answers", s.cluster, func() bool {
		return conditions.IsTrue(s.cluster, clusterv1.ClusterControlPlaneInitializedCondition) &&
			conditions.IsTrue(s.cluster, clusterv1.ClusterRemoteConnectionProbeCondition)
	})
}

func (s *story) createMachine() {
	s.machineInfra, s.bootstrapConfig = fake(s.T, fakeMachine, s.namespace, "m"), fake(s.T, fakeBootstrap, s.namespace, "m")
	s.machine = &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "m",
		Labels: map[string]string{"node.cluster.x-k8s.io/pool": "blue", "other": "stays-here"}},
		Spec: clusterv1.MachineSpec{ClusterName: "c", InfrastructureRef: reference(s.machineInfra), Bootstrap: clusterv1.Bootstrap{ConfigRef: reference(s.bootstrapConfig)}}}
	require.NoError(s, env.Client.Create(ctx, s.machine))
	for _, o := range []*unstructured.Unstructured{s.machineInfra, s.bootstrapConfig} {
		s.until(o.GetKind()+" is adopted", o, func() bool {
			return metav1.IsControlledBy(o, s.machine) && o.GetLabels()[clusterv1.ClusterNameLabel] == "c"
		})
	}
	s.until("the machine waits", s.machine, func() bool { return s.machine.Status.Phase == clusterv1.MachinePhasePending })
	require.Len(s, s.machine.OwnerReferences, 1, "a stand-alone machine belongs to its cluster")
}

func (s *story) bootMachine() {
	report(s.T, s.bootstrapConfig, nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": true}, "dataSecretName": "m-data"})
	s.until("the data secret is taken over", s.machine, func() bool { return s.machine.Status.Phase == clusterv1.MachinePhaseProvisioning })
	assert.Equal(s, "m-data", *s.machine.Spec.Bootstrap.DataSecretName)
	id := "fake:///" + s.namespace + "/m"
	report(s.T, s.machineInfra, map[string]any{"providerID": id}, map[string]any{
		"initialization": map[string]any{"provisioned": true}, "failureDomain": "a",
		"addresses": []any{map[string]any{"type": "InternalIP", "address": "10.0.0.2"}},
	})
	s.until("the machine is provisioned", s.machine, func() bool { return s.machine.Status.Phase == clusterv1.MachinePhaseProvisioned })
	assert.Equal(s, id, s.machine.Spec.ProviderID)
	assert.Equal(s, "a", s.machine.Status.FailureDomain)
	assert.Equal(s, []clusterv1.MachineAddress{{Type: "InternalIP", Address: "10.0.0.2"}}, s.machine.Status.Addresses)
}

// failBoot: what the infrastructure knows of a first boot that fails is told by the Machine, until there is a Node.
func (s *story) failBoot() {
	failed := bootstrapreport.Report{Step: "kubeadm join", Phase: "preflight", Cause: bootstrapreport.TokenUnknown, Output: "the last line"}.Condition()
	report(s.T, s.machineInfra, nil, map[string]any{"conditions": []any{map[string]any{
		"type": failed.Type, "status": string(failed.Status), "reason": failed.Reason, "message": failed.Message, "lastTransitionTime": "2026-01-02T03:04:05Z",
	}}})
	s.until("the machine says why there is no Node", s.machine, func() bool {
		return strings.HasSuffix(conditions.Message(s.machine, clusterv1.MachineNodeHealthyCondition), "to exist: kubeadm join failed in phase preflight")
	})
	c := conditions.Get(s.machine, bootstrapreport.ConditionType)
	require.NotNil(s, c)
	assert.Equal(s, "TokenUnknown", c.Reason)
	assert.Contains(s, c.Message, "the last line")
}

func (s *story) joinNode() {
	s.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.namespace + "-m"}, Spec: corev1.NodeSpec{
		ProviderID: s.machine.Spec.ProviderID,
		Taints:     []corev1.Taint{{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}, {Key: "foreign", Effect: corev1.TaintEffectNoSchedule}},
	}}
	require.NoError(s, env.Client.Create(ctx, s.node))
	s.until("the node is found", s.machine, func() bool { return s.machine.Status.NodeRef.Name == s.node.Name })
	s.until("the node is synced", s.node, func() bool { return s.node.Labels["node.cluster.x-k8s.io/pool"] == "blue" })
	s.until("the report is gone", s.machine, func() bool { return !conditions.Has(s.machine, bootstrapreport.ConditionType) })
	assert.NotContains(s, s.node.Labels, "other")
	assert.Equal(s, "m", s.node.Annotations[clusterv1.MachineAnnotation])
	assert.NotContains(s, taintKeys(s.node), "node.cluster.x-k8s.io/uninitialized")
	assert.Contains(s, taintKeys(s.node), "foreign")
	s.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"},
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse}, {Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse}, {Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse}}
	require.NoError(s, env.Client.Status().Update(ctx, s.node))
	s.until("the machine is available", s.machine, func() bool { return conditions.IsTrue(s.machine, clusterv1.AvailableCondition) })
	assert.Equal(s, clusterv1.MachinePhaseRunning, s.machine.Status.Phase)
	s.until("the cluster counts the machine", s.cluster, func() bool {
		w := s.cluster.Status.Workers
		return w != nil && w.AvailableReplicas != nil && *w.AvailableReplicas == 1
	})
}

func taintKeys(n *corev1.Node) []string {
	var keys []string
	for _, t := range n.Spec.Taints {
		keys = append(keys, t.Key)
	}
	return keys
}

// deleteInOrder: nothing of the cluster goes before what needs it is gone.
func (s *story) deleteInOrder() {
	require.NoError(s, env.Client.Delete(ctx, s.cluster))
	eventually(s.T, "the machine's infrastructure goes first", func() bool { return s.deleting(s.machineInfra) })
	eventually(s.T, "the cluster names what it waits for", func() bool {
		return s.reason(s.cluster, clusterv1.DeletingCondition) == clusterv1.ClusterDeletingWaitingForWorkersDeletionReason
	})
	assert.Contains(s, conditions.Message(s.cluster, clusterv1.DeletingCondition), "* Machines: m")
	eventually(s.T, "the machine says the same", func() bool {
		return s.reason(s.machine, clusterv1.DeletingCondition) == clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason
	})
	for _, o := range []client.Object{s.bootstrapConfig, s.controlPlane, s.infra} {
		assert.False(s, s.deleting(o), "%T goes later", o)
	}
	release(s.T, s.machineInfra)
	eventually(s.T, "then its bootstrap config", func() bool { return s.deleting(s.bootstrapConfig) })
	release(s.T, s.bootstrapConfig)
	eventually(s.T, "then the machine itself", func() bool { return s.gone(s.machine) })
	eventually(s.T, "then the control plane", func() bool { return s.deleting(s.controlPlane) })
	assert.False(s, s.deleting(s.infra), "the cluster's infrastructure goes last")
	release(s.T, s.controlPlane)
	eventually(s.T, "then the cluster's infrastructure", func() bool { return s.deleting(s.infra) })
	release(s.T, s.infra)
	eventually(s.T, "then the cluster", func() bool { return s.gone(s.cluster) })
}
