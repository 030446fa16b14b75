// Package rollup sums up what a group of Machines says, in the same way for the MachineSet, the MachineDeployment and the
// Cluster that they belong to. It is pure.
package rollup

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/labels"
)

// upToDateGrace is how long a new Machine may be without the UpToDate condition before that is worth a word.
const upToDateGrace = 10 * time.Second

// Ready combines the Ready conditions of Machines into a condition of type target.
func Ready(machines []*clusterv1.Machine, target string) metav1.Condition {
	return aggregate(machines, clusterv1.ReadyCondition, target,
		conditions.Reasons{True: clusterv1.ReadyReason, False: clusterv1.NotReadyReason, Unknown: clusterv1.ReadyUnknownReason})
}

// UpToDate combines the UpToDate conditions of Machines into a condition of type target. Machines that are too young to
// have been judged are left out.
func UpToDate(machines []*clusterv1.Machine, target string, now time.Time) metav1.Condition {
	judged := slices.DeleteFunc(slices.Clone(machines), func(m *clusterv1.Machine) bool {
		return !conditions.Has(m, clusterv1.MachineUpToDateCondition) && now.Sub(m.CreationTimestamp.Time) <= upToDateGrace
	})
	return aggregate(judged, clusterv1.MachineUpToDateCondition, target,
		conditions.Reasons{True: clusterv1.UpToDateReason, False: clusterv1.NotUpToDateReason, Unknown: clusterv1.UpToDateUnknownReason})
}

func aggregate(machines []*clusterv1.Machine, source, target string, reasons conditions.Reasons) metav1.Condition {
	sources := conditions.Sources("Machine", machines, func(m *clusterv1.Machine) bool { return labels.IsControlPlane(m.Labels) })
	return conditions.Aggregate(sources, source, target, conditions.AggregateOptions{
		Reasons: reasons, None: &conditions.Fallback{Status: metav1.ConditionTrue, Reason: clusterv1.NoReplicasReason},
	})
}

// Remediating says whether an owner is to replace or repair some of the Machines. The message of the False condition is
// the caller's.
func Remediating(machines []*clusterv1.Machine, otherwise string) metav1.Condition {
	being := slices.DeleteFunc(slices.Clone(machines), func(m *clusterv1.Machine) bool {
		return !conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition)
	})
	c := metav1.Condition{Type: clusterv1.RemediatingCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotRemediatingReason, Message: otherwise}
	if len(being) > 0 {
		c.Status, c.Reason = metav1.ConditionTrue, clusterv1.RemediatingReason
		c.Message = conditions.Aggregate(conditions.Sources("Machine", being, nil), clusterv1.MachineOwnerRemediatedCondition, c.Type, conditions.AggregateOptions{}).Message
	}
	return c
}

// Versions adds up the replicas of equal versions, the lowest version first. Versions that compare as equal, or that are
// none, stand in the order of their text, so that the list never changes by itself.
func Versions(list []clusterv1.StatusVersion) []clusterv1.StatusVersion {
	sum := map[string]int32{}
	for _, v := range list {
		sum[v.Version] += v.Replicas
	}
	var out []clusterv1.StatusVersion
	for v, n := range sum {
		out = append(out, clusterv1.StatusVersion{Version: v, Replicas: n})
	}
	slices.SortFunc(out, func(a, b clusterv1.StatusVersion) int {
		return cmp.Or(compare(a.Version, b.Version), cmp.Compare(a.Version, b.Version))
	})
	return out
}

// compare puts what is no version behind everything that is one.
func compare(a, b string) int {
	x, errX := version.ParseGeneric(a)
	y, errY := version.ParseGeneric(b)
	switch {
	case errX != nil && errY != nil:
		return 0
	case errX != nil:
		return 1
	case errY != nil:
		return -1
	case x.LessThan(y):
		return -1
	case y.LessThan(x):
		return 1
	}
	return 0
}
