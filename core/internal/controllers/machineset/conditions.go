package machineset

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/core/internal/rollup"
)

const (
	// stale is how long a Machine may be in deletion before that is worth a word.
	stale = 15 * time.Minute
	// slowDrain is how long the drain of a Node may take before what holds it is told.
	slowDrain = 5 * time.Minute
)

var ownConditions = []string{
	clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition, clusterv1.MachinesReadyCondition, clusterv1.MachinesUpToDateCondition,
	clusterv1.RemediatingCondition, clusterv1.DeletingCondition, clusterv1.PausedCondition,
}

// describe derives status and conditions from the world and from what has been decided.
func (d *Decision) describe(w World) {
	s := d.Set
	count(w, s)
	if selector, err := metav1.LabelSelectorAsSelector(&s.Spec.Selector); err == nil {
		s.Status.Selector = selector.String()
	}
	conditions.SetAll(s, d.scalingUp(w), d.scalingDown(w), rollup.Ready(w.Machines, clusterv1.MachinesReadyCondition),
		rollup.UpToDate(w.Machines, clusterv1.MachinesUpToDateCondition, w.Now), rollup.Remediating(w.Machines, ""), deletingCondition(w))
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func count(w World, s *clusterv1.MachineSet) {
	var replicas, ready, available, upToDate int32
	var versions []clusterv1.StatusVersion
	for _, m := range w.Machines {
		replicas++
		for t, n := range map[string]*int32{clusterv1.ReadyCondition: &ready, clusterv1.AvailableCondition: &available, clusterv1.MachineUpToDateCondition: &upToDate} {
			// While a Machine is updated in place its conditions may still be those of before.
			if conditions.IsTrue(m, t) && !inplace.Updating(m) {
				*n++
			}
		}
		v := m.Status.NodeInfo.KubeletVersion
		if v == "" {
			v = m.Spec.Version
		}
		if v != "" {
			versions = append(versions, clusterv1.StatusVersion{Version: v, Replicas: 1})
		}
	}
	s.Status.Replicas, s.Status.ReadyReplicas, s.Status.AvailableReplicas, s.Status.UpToDateReplicas = &replicas, &ready, &available, &upToDate
	s.Status.Versions = rollup.Versions(versions)
}

func (d *Decision) scalingUp(w World) metav1.Condition {
	if w.deleting() || len(w.counted()) >= w.wanted() {
		return condition(clusterv1.ScalingUpCondition, metav1.ConditionFalse, clusterv1.NotScalingUpReason, "")
	}
	message := fmt.Sprintf("Scaling up from %d to %d replicas", len(w.counted()), w.wanted())
	if len(d.Blocked) > 0 {
		message += " is blocked because:\n* " + strings.Join(d.Blocked, "\n* ")
	}
	return condition(clusterv1.ScalingUpCondition, metav1.ConditionTrue, clusterv1.ScalingUpReason, message)
}

func (d *Decision) scalingDown(w World) metav1.Condition {
	target := w.wanted()
	if w.deleting() {
		target = 0
	}
	exist := len(w.Machines)
	if !w.deleting() {
		exist = len(w.counted())
	}
	if exist <= target {
		return condition(clusterv1.ScalingDownCondition, metav1.ConditionFalse, clusterv1.NotScalingDownReason, "")
	}
	message := fmt.Sprintf("Scaling down from %d to %d replicas", exist, target)
	if to := w.Set.Annotations[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation]; to != "" && !w.deleting() {
		message += ", by handing Machines over to MachineSet " + to
		if !slices.ContainsFunc(w.counted(), movable) {
			message += ", but none of them is well enough to be updated in place"
		}
	}
	names, drains := d.lingering(w)
	if len(names) > 0 {
		message += "\n* Machines in deletion since more than 15m: " + strings.Join(names, ", ")
	}
	for _, line := range drains {
		message += "\n* " + line
	}
	return condition(clusterv1.ScalingDownCondition, metav1.ConditionTrue, clusterv1.ScalingDownReason, message)
}

// lingering lists Machines that leave slowly, and for drains that are slow what holds them. The moment at which that
// begins for the next one is known, so it is looked at then.
func (d *Decision) lingering(w World) (names, drains []string) {
	since := func(t metav1.Time, limit time.Duration) bool {
		left := limit - w.Now.Sub(t.Time)
		d.After = decision.Sooner(d.After, left)
		return left <= 0
	}
	for _, m := range w.Machines {
		if m.DeletionTimestamp.IsZero() {
			continue
		}
		if since(*m.DeletionTimestamp, stale) {
			names = append(names, m.Name)
		}
		c := conditions.Get(m, clusterv1.DeletingCondition)
		draining := c != nil && c.Reason == clusterv1.MachineDeletingDrainingNodeReason && m.Status.Deletion != nil && !m.Status.Deletion.NodeDrainStartTime.IsZero()
		if draining && since(m.Status.Deletion.NodeDrainStartTime, slowDrain) {
			drains = append(drains, "Machine "+m.Name+" is being drained since more than 5m: "+strings.ReplaceAll(c.Message, "\n", " "))
		}
	}
	sort.Strings(names)
	sort.Strings(drains)
	return names, drains
}

func deletingCondition(w World) metav1.Condition {
	switch {
	case !w.deleting():
		return condition(clusterv1.DeletingCondition, metav1.ConditionFalse, clusterv1.NotDeletingReason, "")
	case len(w.Machines) > 0:
		return condition(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.DeletingReason, fmt.Sprintf("Deleting %d Machine(s)", len(w.Machines)))
	}
	return condition(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.DeletionCompletedReason, "Deletion completed")
}
