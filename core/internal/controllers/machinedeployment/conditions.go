package machinedeployment

import (
	"fmt"
	"sort"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

var ownConditions = []string{
	clusterv1.AvailableCondition, clusterv1.RollingOutCondition, clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition,
	clusterv1.MachinesReadyCondition, clusterv1.MachinesUpToDateCondition, clusterv1.RemediatingCondition, clusterv1.DeletingCondition, clusterv1.PausedCondition,
}

// describe derives status and conditions from the world and from what has been decided.
func (d *Decision) describe(w World) {
	md := d.Deployment
	count(w, md)
	if selector, err := metav1.LabelSelectorAsSelector(&md.Spec.Selector); err == nil {
		md.Status.Selector = selector.String()
	}
	up, down := d.scaling(w)
	conditions.SetAll(md, availableCondition(w, md), d.rollingOut(w), up, down,
		aggregate(w.Machines, clusterv1.ReadyCondition, clusterv1.MachinesReadyCondition, conditions.Reasons{True: clusterv1.ReadyReason, False: clusterv1.NotReadyReason, Unknown: clusterv1.ReadyUnknownReason}),
		aggregate(settled(w), clusterv1.MachineUpToDateCondition, clusterv1.MachinesUpToDateCondition, conditions.Reasons{True: clusterv1.UpToDateReason, False: clusterv1.NotUpToDateReason, Unknown: clusterv1.UpToDateUnknownReason}),
		remediating(w), deletingCondition(w))
	md.Status.Phase = phase(w, md)
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func count(w World, md *clusterv1.MachineDeployment) {
	var replicas, ready, available, upToDate int32
	byVersion := map[string]int32{}
	for _, s := range w.Sets {
		replicas += have(s)
		ready += number(s.Status.ReadyReplicas)
		available += number(s.Status.AvailableReplicas)
		upToDate += number(s.Status.UpToDateReplicas)
		for _, v := range s.Status.Versions {
			byVersion[v.Version] += v.Replicas
		}
	}
	md.Status.Replicas, md.Status.ReadyReplicas, md.Status.AvailableReplicas, md.Status.UpToDateReplicas = &replicas, &ready, &available, &upToDate
	md.Status.Versions = nil
	for v, n := range byVersion {
		md.Status.Versions = append(md.Status.Versions, clusterv1.StatusVersion{Version: v, Replicas: n})
	}
	sort.Slice(md.Status.Versions, func(i, j int) bool {
		a, errA := version.ParseGeneric(md.Status.Versions[i].Version)
		b, errB := version.ParseGeneric(md.Status.Versions[j].Version)
		return errA == nil && errB == nil && a.LessThan(b)
	})
}

func availableCondition(w World, md *clusterv1.MachineDeployment) metav1.Condition {
	t := clusterv1.AvailableCondition
	_, unavailable := fences(w)
	need := w.wanted() - unavailable
	switch {
	case w.deleting():
		return condition(t, metav1.ConditionFalse, clusterv1.NotAvailableReason, "Deletion in progress")
	case number(md.Status.AvailableReplicas) >= need:
		return condition(t, metav1.ConditionTrue, clusterv1.AvailableReason, "")
	}
	return condition(t, metav1.ConditionFalse, clusterv1.NotAvailableReason, fmt.Sprintf("%d available replicas, at least %d required (spec.strategy.rollout.maxUnavailable is %d, spec.replicas is %d)",
		number(md.Status.AvailableReplicas), need, unavailable, w.wanted()))
}

// rollingOut tells how many Machines are not up to date and why, the version first.
func (d *Decision) rollingOut(w World) metav1.Condition {
	n := 0
	reasons := map[string]bool{}
	for _, m := range w.Machines {
		c := conditions.Get(m, clusterv1.MachineUpToDateCondition)
		if c == nil || c.Status != metav1.ConditionFalse {
			continue
		}
		n++
		for _, l := range strings.Split(c.Message, "\n") {
			reasons[l] = true
		}
	}
	if n == 0 {
		return condition(clusterv1.RollingOutCondition, metav1.ConditionFalse, clusterv1.NotRollingOutReason, "")
	}
	var lines []string
	for l := range reasons {
		lines = append(lines, l)
	}
	sort.Slice(lines, func(i, j int) bool {
		a, b := strings.HasPrefix(lines[i], "* Version"), strings.HasPrefix(lines[j], "* Version")
		if a != b {
			return a
		}
		return lines[i] < lines[j]
	})
	if len(d.missing) > 0 {
		lines = append(lines, "* Blocked because these do not exist: "+strings.Join(d.missing, ", "))
	}
	return condition(clusterv1.RollingOutCondition, metav1.ConditionTrue, clusterv1.RollingOutReason, fmt.Sprintf("Rolling out %d not up-to-date replicas\n%s", n, strings.Join(lines, "\n")))
}

func (d *Decision) scaling(w World) (up, down metav1.Condition) {
	current, target := number(d.Deployment.Status.Replicas), w.wanted()
	if w.deleting() {
		target = 0
	}
	up = condition(clusterv1.ScalingUpCondition, metav1.ConditionFalse, clusterv1.NotScalingUpReason, "")
	down = condition(clusterv1.ScalingDownCondition, metav1.ConditionFalse, clusterv1.NotScalingDownReason, "")
	switch {
	case current < target:
		message := fmt.Sprintf("Scaling up from %d to %d replicas", current, target)
		if len(d.missing) > 0 {
			message += " is blocked because these do not exist: " + strings.Join(d.missing, ", ")
		}
		up = condition(clusterv1.ScalingUpCondition, metav1.ConditionTrue, clusterv1.ScalingUpReason, message)
	case current > target:
		down = condition(clusterv1.ScalingDownCondition, metav1.ConditionTrue, clusterv1.ScalingDownReason, fmt.Sprintf("Scaling down from %d to %d replicas", current, target))
	}
	return up, down
}

// settled leaves out Machines that are too young to have been judged.
func settled(w World) []*clusterv1.Machine {
	var out []*clusterv1.Machine
	for _, m := range w.Machines {
		if conditions.Has(m, clusterv1.MachineUpToDateCondition) || w.Now.Sub(m.CreationTimestamp.Time) > 10*time.Second {
			out = append(out, m)
		}
	}
	return out
}

func aggregate(machines []*clusterv1.Machine, source, target string, reasons conditions.Reasons) metav1.Condition {
	return conditions.Aggregate(conditions.Sources("Machine", machines, nil), source, target, conditions.AggregateOptions{
		Reasons: reasons, None: &conditions.Fallback{Status: metav1.ConditionTrue, Reason: clusterv1.NoReplicasReason},
	})
}

func remediating(w World) metav1.Condition {
	var being []*clusterv1.Machine
	for _, m := range w.Machines {
		if conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition) {
			being = append(being, m)
		}
	}
	if len(being) == 0 {
		return condition(clusterv1.RemediatingCondition, metav1.ConditionFalse, clusterv1.NotRemediatingReason, "")
	}
	c := conditions.Aggregate(conditions.Sources("Machine", being, nil), clusterv1.MachineOwnerRemediatedCondition, clusterv1.RemediatingCondition, conditions.AggregateOptions{})
	return condition(clusterv1.RemediatingCondition, metav1.ConditionTrue, clusterv1.RemediatingReason, c.Message)
}

func deletingCondition(w World) metav1.Condition {
	switch {
	case !w.deleting():
		return condition(clusterv1.DeletingCondition, metav1.ConditionFalse, clusterv1.NotDeletingReason, "")
	case len(w.Sets) > 0:
		return condition(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.DeletingReason, fmt.Sprintf("Deleting %d MachineSet(s) with %d Machine(s)", len(w.Sets), len(w.Machines)))
	}
	return condition(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.DeletionCompletedReason, "Deletion completed")
}

func phase(w World, md *clusterv1.MachineDeployment) string {
	switch current := number(md.Status.Replicas); {
	case w.deleting(), current > w.wanted():
		return clusterv1.MachineDeploymentPhaseScalingDown
	case current < w.wanted(), number(md.Status.ReadyReplicas) < w.wanted():
		return clusterv1.MachineDeploymentPhaseScalingUp
	}
	return clusterv1.MachineDeploymentPhaseRunning
}
