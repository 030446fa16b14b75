package machinedeployment

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/core/internal/rollup"
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
		rollup.Ready(w.Machines, clusterv1.MachinesReadyCondition),
		rollup.UpToDate(w.Machines, clusterv1.MachinesUpToDateCondition, w.Now),
		rollup.Remediating(w.Machines, ""), deletingCondition(w))
	md.Status.Phase = phase(w, md)
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func count(w World, md *clusterv1.MachineDeployment) {
	var replicas, ready, available, upToDate int32
	var versions []clusterv1.StatusVersion
	for _, s := range w.Sets {
		replicas += have(s)
		ready += number(s.Status.ReadyReplicas)
		available += number(s.Status.AvailableReplicas)
		upToDate += number(s.Status.UpToDateReplicas)
		versions = append(versions, s.Status.Versions...)
	}
	md.Status.Replicas, md.Status.ReadyReplicas, md.Status.AvailableReplicas, md.Status.UpToDateReplicas = &replicas, &ready, &available, &upToDate
	md.Status.Versions = rollup.Versions(versions)
}

func availableCondition(w World, md *clusterv1.MachineDeployment) metav1.Condition {
	t := clusterv1.AvailableCondition
	_, unavailable := fences(w)
	need := w.wanted() - unavailable
	switch {
	case w.deleting():
		return condition(t, metav1.ConditionFalse, clusterv1.NotAvailableReason, "Deletion in progress")
	case need > 0 && !reported(w.Sets):
		return condition(t, metav1.ConditionUnknown, clusterv1.MachineDeploymentAvailableWaitingForAvailableReplicasSetReason, "No MachineSet has reported its replicas yet")
	case number(md.Status.AvailableReplicas) >= need:
		return condition(t, metav1.ConditionTrue, clusterv1.AvailableReason, "")
	}
	return condition(t, metav1.ConditionFalse, clusterv1.NotAvailableReason, fmt.Sprintf("%d available replicas, at least %d required (spec.strategy.rollout.maxUnavailable is %d, spec.replicas is %d)",
		number(md.Status.AvailableReplicas), need, unavailable, w.wanted()))
}

func reported(sets []*clusterv1.MachineSet) bool {
	return slices.ContainsFunc(sets, func(s *clusterv1.MachineSet) bool { return s.Status.AvailableReplicas != nil })
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
	if len(d.Missing) > 0 {
		lines = append(lines, "* Blocked because these do not exist: "+strings.Join(d.Missing, ", "))
	}
	for _, line := range d.Kept {
		lines = append(lines, "* "+line)
	}
	lines = append(lines, blocked(w)...)
	return condition(clusterv1.RollingOutCondition, metav1.ConditionTrue, clusterv1.RollingOutReason, fmt.Sprintf("Rolling out %d not up-to-date replicas\n%s", n, strings.Join(lines, "\n")))
}

// blocked repeats what stands in the way of new Machines of each set, as the sets tell it below their first line.
func blocked(w World) []string {
	var out []string
	for _, s := range w.Sets {
		c := conditions.Get(s, clusterv1.ScalingUpCondition)
		if c == nil || c.Status != metav1.ConditionTrue {
			continue
		}
		for _, reason := range strings.Split(c.Message, "\n")[1:] {
			out = append(out, "* MachineSet "+s.Name+" waits: "+strings.TrimPrefix(reason, "* "))
		}
	}
	slices.Sort(out)
	return out
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
		if len(d.Missing) > 0 {
			message += " is blocked because these do not exist: " + strings.Join(d.Missing, ", ")
		}
		message = strings.Join(append([]string{message}, blocked(w)...), "\n")
		up = condition(clusterv1.ScalingUpCondition, metav1.ConditionTrue, clusterv1.ScalingUpReason, message)
	case current > target:
		down = condition(clusterv1.ScalingDownCondition, metav1.ConditionTrue, clusterv1.ScalingDownReason, fmt.Sprintf("Scaling down from %d to %d replicas", current, target))
	}
	return up, down
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
