package machine

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/core/internal/drain"
	"github.com/slipway-capi/slipway/core/internal/volumes"
)

// lookAtVolumes is how soon volumes are looked at again: neither Nodes nor attachments tell when one is detached.
const lookAtVolumes = 20 * time.Second

// drainDue says whether the pods of the Node matter now; it decides what is read.
func drainDue(w World) bool {
	node, err := nodeWork(w)
	return w.deleting() && err == nil && node && w.Node.Node != nil && len(hooks(w, clusterv1.PreDrainDeleteHookAnnotationPrefix)) == 0 &&
		!drainSkipped(w)
}

// drainSkipped says whether pods stay where they are. What cannot be read is not taken for gone: a machine that is there
// for sure is drained.
func drainSkipped(w World) bool {
	_, excluded := w.Machine.Annotations[clusterv1.ExcludeNodeDrainingAnnotation]
	return excluded || beyondTheNode(w) || over(w, drainStart(w), w.Machine.Spec.Deletion.NodeDrainTimeoutSeconds)
}

// volumesSkipped says the same of volumes. The kubelet of an unreachable Node detaches nothing.
func volumesSkipped(w World) bool {
	_, excluded := w.Machine.Annotations[clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation]
	return excluded || beyondTheNode(w) || w.Node.Node == nil || drain.Unreachable(w.Node.Node) ||
		over(w, volumesStart(w), w.Machine.Spec.Deletion.NodeVolumeDetachTimeoutSeconds)
}

// beyondTheNode says that the deletion has got further than the Node: a later hook waits, or the machine is known to go.
func beyondTheNode(w World) bool {
	d := w.Machine.Status.Deletion
	infra := w.Infrastructure
	return d != nil && !d.WaitForPreTerminateHookStartTime.IsZero() || infra.Missing || infra.Object != nil && !infra.Object.GetDeletionTimestamp().IsZero()
}

func drainStart(w World) metav1.Time {
	if d := w.Machine.Status.Deletion; d != nil {
		return d.NodeDrainStartTime
	}
	return metav1.Time{}
}

func volumesStart(w World) metav1.Time {
	if d := w.Machine.Status.Deletion; d != nil {
		return d.WaitForNodeVolumeDetachStartTime
	}
	return metav1.Time{}
}

// over says whether a step has taken all the time it may; unset and 0 are for ever.
func over(w World, start metav1.Time, seconds *int32) bool {
	return seconds != nil && *seconds > 0 && !start.IsZero() && !w.Now.Before(start.Add(time.Duration(*seconds)*time.Second))
}

// drainNode says whether pods still hold the deletion.
func (d *Decision) drainNode(w World) bool {
	if drainSkipped(w) || w.Node.Connected && w.Node.Err == nil && w.Node.Node == nil {
		return false
	}
	began := d.begin(w, func(s *clusterv1.MachineDeletionStatus) *metav1.Time { return &s.NodeDrainStartTime })
	d.until(w, began, w.Machine.Spec.Deletion.NodeDrainTimeoutSeconds)
	if start := drainStart(w); start.IsZero() {
		// First of all the time is stored, so that it is counted from the first attempt whatever happens.
		d.deleting(clusterv1.MachineDeletingDrainingNodeReason, "Draining the Node begins")
		d.look(time.Millisecond)
		return true
	}
	plan, ok := d.plan(w)
	if !ok {
		return true
	}
	if plan.Done() {
		if conditions.Reason(w.Machine, clusterv1.DeletingCondition) == clusterv1.MachineDeletingDrainingNodeReason {
			d.Events = append(d.Events, Event{"SuccessfulDrainNode", fmt.Sprintf("Node %s is drained", plan.Node)})
		}
		return false
	}
	report := plan.Report(began, nil)
	d.deleting(clusterv1.MachineDeletingDrainingNodeReason, report.Message)
	d.Actions = append(d.Actions, Drain{Plan: plan, Began: began})
	d.look(report.After)
	return true
}

// plan is what the drain does with each pod; without one the condition says why.
func (d *Decision) plan(w World) (drain.Plan, bool) {
	var wrong *drain.RuleError
	switch {
	case !w.Node.Connected:
		d.deleting(clusterv1.MachineDeletingDrainingNodeReason, "The workload cluster cannot be reached to drain the Node; set nodeDrainTimeoutSeconds to go on without after a time, or the annotation "+clusterv1.ExcludeNodeDrainingAnnotation)
		return drain.Plan{}, false
	case w.Node.Err != nil || w.DrainErr != nil || w.Drain == nil:
		d.deleting(clusterv1.MachineDeletingDrainingNodeReason, "What runs on the Node cannot be read")
		d.fail(errors.Join(w.Node.Err, w.DrainErr))
		d.look(lookAtVolumes)
		return drain.Plan{}, false
	}
	plan, err := drain.Decide(*w.Drain)
	if errors.As(err, &wrong) {
		d.deleting(clusterv1.MachineDeletingDrainingNodeReason, "The Node cannot be drained before this is corrected: "+wrong.Error())
		d.look(lookAtVolumes)
		return plan, false
	}
	if err != nil {
		d.deleting(clusterv1.MachineDeletingDrainingNodeReason, "The Node cannot be drained: "+err.Error())
		d.fail(err)
		return plan, false
	}
	return plan, true
}

// detachVolumes says whether volumes still hold the deletion.
func (d *Decision) detachVolumes(w World) bool {
	if volumesSkipped(w) {
		return false
	}
	if w.Volumes == nil || w.VolumesErr != nil {
		d.deleting(clusterv1.MachineDeletingWaitingForVolumeDetachReason, "The volumes of the Node cannot be read")
		d.fail(w.VolumesErr)
		d.look(lookAtVolumes)
		return true
	}
	wait := volumes.Decide(*w.Volumes)
	if wait.Done() {
		if conditions.Reason(w.Machine, clusterv1.DeletingCondition) == clusterv1.MachineDeletingWaitingForVolumeDetachReason {
			d.Events = append(d.Events, Event{"NodeVolumesDetached", fmt.Sprintf("All volumes of Node %s are detached", w.Node.Node.Name)})
		}
		return false
	}
	began := d.begin(w, func(s *clusterv1.MachineDeletionStatus) *metav1.Time { return &s.WaitForNodeVolumeDetachStartTime })
	d.until(w, began, w.Machine.Spec.Deletion.NodeVolumeDetachTimeoutSeconds)
	d.deleting(clusterv1.MachineDeletingWaitingForVolumeDetachReason, wait.Message)
	d.look(lookAtVolumes)
	return true
}

// begin notes when a step began, unless that is known.
func (d *Decision) begin(w World, of func(*clusterv1.MachineDeletionStatus) *metav1.Time) metav1.Time {
	if d.Machine.Status.Deletion == nil {
		d.Machine.Status.Deletion = &clusterv1.MachineDeletionStatus{}
	}
	start := of(d.Machine.Status.Deletion)
	if start.IsZero() {
		*start = metav1.NewTime(w.Now.Truncate(time.Second))
	}
	return *start
}

// until looks again when the time of a step is over.
func (d *Decision) until(w World, began metav1.Time, seconds *int32) {
	if seconds != nil && *seconds > 0 {
		d.look(max(began.Add(time.Duration(*seconds)*time.Second).Sub(w.Now), time.Millisecond))
	}
}
