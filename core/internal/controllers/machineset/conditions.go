package machineset

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

// stale is how long a Machine may be in deletion before that is worth a word.
const stale = 15 * time.Minute

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
	conditions.SetAll(s, d.scalingUp(w), scalingDown(w), aggregate(w.Machines, clusterv1.ReadyCondition, clusterv1.MachinesReadyCondition,
		conditions.Reasons{True: clusterv1.ReadyReason, False: clusterv1.NotReadyReason, Unknown: clusterv1.ReadyUnknownReason}),
		aggregate(settled(w), clusterv1.MachineUpToDateCondition, clusterv1.MachinesUpToDateCondition,
			conditions.Reasons{True: clusterv1.UpToDateReason, False: clusterv1.NotUpToDateReason, Unknown: clusterv1.UpToDateUnknownReason}),
		remediating(w), deletingCondition(w))
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func count(w World, s *clusterv1.MachineSet) {
	var replicas, ready, available, upToDate int32
	versions := map[string]int32{}
	for _, m := range w.Machines {
		replicas++
		for t, n := range map[string]*int32{clusterv1.ReadyCondition: &ready, clusterv1.AvailableCondition: &available, clusterv1.MachineUpToDateCondition: &upToDate} {
			if conditions.IsTrue(m, t) {
				*n++
			}
		}
		v := m.Status.NodeInfo.KubeletVersion
		if v == "" {
			v = m.Spec.Version
		}
		if v != "" {
			versions[v]++
		}
	}
	s.Status.Replicas, s.Status.ReadyReplicas, s.Status.AvailableReplicas, s.Status.UpToDateReplicas = &replicas, &ready, &available, &upToDate
	s.Status.Versions = sorted(versions)
}

func sorted(byVersion map[string]int32) []clusterv1.StatusVersion {
	var out []clusterv1.StatusVersion
	for v, n := range byVersion {
		out = append(out, clusterv1.StatusVersion{Version: v, Replicas: n})
	}
	sort.Slice(out, func(i, j int) bool {
		a, errA := version.ParseGeneric(out[i].Version)
		b, errB := version.ParseGeneric(out[j].Version)
		if errA != nil || errB != nil || a.EqualTo(b) {
			return out[i].Version < out[j].Version
		}
		return a.LessThan(b)
	})
	return out
}

func (d *Decision) scalingUp(w World) metav1.Condition {
	if w.deleting() || len(w.Machines) >= w.wanted() {
		return condition(clusterv1.ScalingUpCondition, metav1.ConditionFalse, clusterv1.NotScalingUpReason, "")
	}
	message := fmt.Sprintf("Scaling up from %d to %d replicas", len(w.Machines), w.wanted())
	if len(d.blocked) > 0 {
		message += " is blocked because:\n* " + strings.Join(d.blocked, "\n* ")
	}
	return condition(clusterv1.ScalingUpCondition, metav1.ConditionTrue, clusterv1.ScalingUpReason, message)
}

func scalingDown(w World) metav1.Condition {
	target := w.wanted()
	if w.deleting() {
		target = 0
	}
	if len(w.Machines) <= target {
		return condition(clusterv1.ScalingDownCondition, metav1.ConditionFalse, clusterv1.NotScalingDownReason, "")
	}
	message := fmt.Sprintf("Scaling down from %d to %d replicas", len(w.Machines), target)
	if names := lingering(w); len(names) > 0 {
		message += "\n* Machines in deletion since more than 15m: " + strings.Join(names, ", ")
	}
	return condition(clusterv1.ScalingDownCondition, metav1.ConditionTrue, clusterv1.ScalingDownReason, message)
}

func lingering(w World) []string {
	var names []string
	for _, m := range w.Machines {
		if !m.DeletionTimestamp.IsZero() && w.Now.Sub(m.DeletionTimestamp.Time) > stale {
			names = append(names, m.Name)
		}
	}
	sort.Strings(names)
	return names
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
	case len(w.Machines) > 0:
		return condition(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.DeletingReason, fmt.Sprintf("Deleting %d Machine(s)", len(w.Machines)))
	}
	return condition(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.DeletionCompletedReason, "Deletion completed")
}
