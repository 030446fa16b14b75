package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// Conformance: CL-02, MG-17
func TestWhichChangesOfMembersWakeTheCluster(t *testing.T) {
	three := int32(3)
	at := metav1.NewTime(now)
	for _, c := range []struct {
		name   string
		member client.Object
		change func(client.Object)
		want   bool
	}{
		{"a resync", machine("m", nil), func(client.Object) {}, false},
		{"a Machine becomes available", machine("m", nil), func(o client.Object) {
			conditions.Set(o.(*clusterv1.Machine), metav1.Condition{Type: clusterv1.AvailableCondition, Status: isFalse, Reason: "No"})
		}, true},
		{"a Machine gets its Node", machine("m", nil), func(o client.Object) { o.(*clusterv1.Machine).Status.NodeRef.Name = "n" }, true},
		{"a Machine runs another version", machine("m", nil), func(o client.Object) { o.(*clusterv1.Machine).Status.NodeInfo.KubeletVersion = "v1.37.2" }, true},
		{"a Machine begins to go", machine("m", nil), func(o client.Object) { o.SetDeletionTimestamp(&at) }, true},
		{"a Machine goes over to another Cluster", machine("m", nil), func(o client.Object) { o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "other"}) }, true},
		{"a Machine tells of its drain", machine("m", nil), func(o client.Object) {
			conditions.Set(o.(*clusterv1.Machine), metav1.Condition{Type: clusterv1.DeletingCondition, Status: isTrueNow, Reason: "Draining", Message: "3 pods"})
		}, false},
		{"a Machine gets addresses", machine("m", nil), func(o client.Object) {
			o.(*clusterv1.Machine).Status.Addresses = []clusterv1.MachineAddress{{Type: "InternalIP", Address: "10.0.0.1"}}
		}, false},
		{"the set of a deployment counts", machineSet("ms", "md"), func(o client.Object) { o.(*clusterv1.MachineSet).Status.Replicas = &three }, false},
		{"a set of its own counts", machineSet("ms", ""), func(o client.Object) { o.(*clusterv1.MachineSet).Status.Replicas = &three }, true},
		{"a deployment counts", deployment("md", 1), func(o client.Object) { o.(*clusterv1.MachineDeployment).Status.ReadyReplicas = &three }, true},
		{"a deployment is scaled", deployment("md", 1), func(o client.Object) { o.(*clusterv1.MachineDeployment).Spec.Replicas = &three }, true},
		{"a pool is scaled", &clusterv1.MachinePool{}, func(o client.Object) { o.(*clusterv1.MachinePool).Spec.Replicas = &three }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := c.member.DeepCopyObject().(client.Object)
			c.change(after)
			assert.Equal(t, c.want, tells(event.UpdateEvent{ObjectOld: c.member, ObjectNew: after}))
		})
	}
}

// Conformance: MG-23
func TestClassesOfClusters(t *testing.T) {
	c := runningCluster()
	assert.Len(t, byReference(c), 4, "two objects and their kinds")
	c.Spec.Topology.ClassRef.Name = "class"
	assert.Contains(t, byReference(c), "ClusterClass/ns/class")
	c.Spec.Topology.ClassRef.Namespace = "shared"
	assert.Contains(t, byReference(c), "ClusterClass/shared/class")
}
