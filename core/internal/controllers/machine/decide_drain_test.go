package machine

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// pods are what runs on the Node.
func pods(names ...string) change {
	return func(w *World) {
		for _, n := range names {
			w.Drain.Pods = append(w.Drain.Pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: n}, Spec: corev1.PodSpec{NodeName: "n"}})
		}
	}
}

// attached is a volume that nothing has detached yet.
func attached(w *World) {
	w.Volumes.Attachments = []storagev1.VolumeAttachment{{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: storagev1.VolumeAttachmentSpec{NodeName: "n"}}}
}

func drainTimeout(seconds int32, ago time.Duration) change {
	return machineWith(func(m *clusterv1.Machine) {
		m.Spec.Deletion.NodeDrainTimeoutSeconds = &seconds
		m.Status.Deletion.NodeDrainStartTime = metav1.NewTime(now.Add(-ago))
	})
}

func volumeTimeout(seconds int32, ago time.Duration) change {
	return machineWith(func(m *clusterv1.Machine) {
		m.Spec.Deletion.NodeVolumeDetachTimeoutSeconds = &seconds
		m.Status.Deletion.WaitForNodeVolumeDetachStartTime = metav1.NewTime(now.Add(-ago))
	})
}

func notBegun(w *World) { w.Machine.Status.Deletion = nil }

func infraDeleting(w *World) {
	at := metav1.NewTime(now)
	w.Infrastructure.Object.SetDeletionTimestamp(&at)
}

// Conformance: MA-60, MA-61, MA-62, MA-63, MA-64, MA-65, MA-66
func TestDrainAndVolumesHoldTheInfrastructure(t *testing.T) {
	const draining, detaching = clusterv1.MachineDeletingDrainingNodeReason, clusterv1.MachineDeletingWaitingForVolumeDetachReason
	const further = clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason
	unreachable := nodeCondition(corev1.NodeReady, corev1.ConditionUnknown, "")
	for _, c := range []struct {
		name    string
		changes []change
		reason  string
		message string
		err     string
		// evicts says that pods are asked to go.
		evicts bool
	}{
		{name: "the time is noted first", changes: []change{pods("a"), notBegun}, reason: draining, message: "begins"},
		{name: "a pod is evicted", changes: []change{pods("a")}, reason: draining, message: "Pod ns/a", evicts: true},
		{name: "a hook before comes first", changes: []change{pods("a"), annotated(preDrain)}, reason: clusterv1.MachineDeletingWaitingForPreDrainHookReason},
		{name: "excluded", changes: []change{pods("a"), annotated(clusterv1.ExcludeNodeDrainingAnnotation)}, reason: further},
		{name: "not for a cluster that goes", changes: []change{pods("a"), clusterDeleting}, reason: further},
		{name: "not for the last control plane machine", changes: []change{pods("a"), func(w *World) { w.ControlPlane.OtherMachines = 0 }}, reason: further},
		{name: "time is not over", changes: []change{pods("a"), drainTimeout(60, 59*time.Second)}, reason: draining, evicts: true},
		{name: "time is over", changes: []change{pods("a"), drainTimeout(60, time.Minute)}, reason: further},
		{name: "0 is for ever", changes: []change{pods("a"), drainTimeout(0, time.Hour)}, reason: draining, evicts: true},
		{name: "the infrastructure is going", changes: []change{pods("a"), infraDeleting}, reason: further},
		{name: "the infrastructure is gone", changes: []change{pods("a"), infrastructureIs(none)}, reason: clusterv1.MachineDeletingWaitingForBootstrapDeletionReason},
		{name: "an infrastructure that cannot be read is not gone", changes: []change{pods("a"), infrastructureIs(Referred{Err: errRead})}, reason: draining, evicts: true},
		{name: "no Node any more", changes: []change{nodeIs(NodeView{Connected: true})}, reason: further},
		{name: "no connection is told", changes: []change{nodeIs(NodeView{})}, reason: draining, message: "The workload cluster cannot be reached to drain the Node; set nodeDrainTimeoutSeconds"},
		{name: "no connection, and time is over", changes: []change{nodeIs(NodeView{}), drainTimeout(60, time.Hour)}, reason: further},
		{name: "pods that cannot be read", changes: []change{func(w *World) { w.Drain, w.DrainErr = nil, errors.New("busy") }}, reason: draining, err: "busy"},
		{name: "a rule that cannot be followed", changes: []change{pods("a"), func(w *World) {
			w.Drain.Rules = []clusterv1.MachineDrainRule{{ObjectMeta: metav1.ObjectMeta{Name: "bad"}, Spec: clusterv1.MachineDrainRuleSpec{
				Pods: []clusterv1.MachineDrainRulePod{{Selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}}}}}}}
		}}, reason: draining, message: "before this is corrected: MachineDrainRule bad"},

		{name: "a volume is waited for", changes: []change{attached}, reason: detaching, message: "a"},
		{name: "volumes come after pods", changes: []change{pods("a"), attached}, reason: draining, evicts: true},
		{name: "volumes excluded", changes: []change{attached, annotated(clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation)}, reason: further},
		{name: "time for volumes is over", changes: []change{attached, volumeTimeout(60, time.Minute)}, reason: further},
		{name: "time for volumes is not over", changes: []change{attached, volumeTimeout(60, 59*time.Second)}, reason: detaching},
		{name: "nobody detaches on an unreachable Node", changes: []change{attached, unreachable}, reason: further},
		{name: "volumes that cannot be read", changes: []change{func(w *World) { w.Volumes, w.VolumesErr = nil, errors.New("busy") }}, reason: detaching, err: "busy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(append([]change{deletingFor(time.Minute)}, c.changes...)...))
			if c.err != "" {
				require.ErrorContains(t, d.Err, c.err)
			} else {
				require.NoError(t, d.Err)
			}
			assert.Equal(t, c.reason, conditions.Reason(d.Machine, clusterv1.DeletingCondition))
			assert.Contains(t, conditions.Message(d.Machine, clusterv1.DeletingCondition), c.message)
			evicts := false
			for _, a := range d.Actions {
				_, is := a.(Drain)
				evicts = evicts || is
			}
			assert.Equal(t, c.evicts, evicts)
		})
	}
}

// Conformance: MA-62, MA-67
func TestTheEndOfAStepIsToldAndItsTimeIsKept(t *testing.T) {
	w := world(deletingFor(time.Minute), pods("a"), drainTimeout(60, 20*time.Second))
	d := Decide(w)
	assert.LessOrEqual(t, d.After, 40*time.Second, "it is looked at again when the time is over")
	assert.Equal(t, w.Machine.Status.Deletion.NodeDrainStartTime, d.Machine.Status.Deletion.NodeDrainStartTime)
	w.Machine, w.Drain.Pods = d.Machine, nil
	d = Decide(w)
	require.Len(t, d.Events, 1)
	assert.Equal(t, "SuccessfulDrainNode", d.Events[0].Reason)
}

func TestWhenPodsAreRead(t *testing.T) {
	assert.False(t, drainDue(world()), "not while nobody deletes the Machine")
	assert.True(t, drainDue(world(deletingFor(0))))
	assert.False(t, drainDue(world(deletingFor(0), annotated(preDrain))))
	assert.False(t, drainDue(world(deletingFor(0), clusterDeleting)))
	assert.False(t, drainDue(world(deletingFor(0), infraDeleting)))
}
