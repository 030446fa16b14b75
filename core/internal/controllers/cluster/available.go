package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// availabilityGates are the Cluster's own; only where it has none do those of its class count.
func availabilityGates(w World) []clusterv1.ClusterAvailabilityGate {
	if len(w.Cluster.Spec.AvailabilityGates) > 0 {
		return w.Cluster.Spec.AvailabilityGates
	}
	return w.Class.AvailabilityGates
}

// available sums up what makes a cluster usable, the gates of its user included.
func available(w World, c *clusterv1.Cluster) metav1.Condition {
	opts := conditions.SummaryOptions{
		For: []string{clusterv1.DeletingCondition, clusterv1.ClusterRemoteConnectionProbeCondition, clusterv1.InfrastructureReadyCondition,
			clusterv1.ClusterControlPlaneAvailableCondition, clusterv1.ClusterWorkersAvailableCondition, clusterv1.ClusterTopologyReconciledCondition},
		Negative: []string{clusterv1.DeletingCondition},
		Reasons:  conditions.Reasons{True: clusterv1.AvailableReason, False: clusterv1.NotAvailableReason, Unknown: clusterv1.AvailableUnknownReason},
		Custom:   map[string]func(metav1.Condition) conditions.Priority{clusterv1.ClusterTopologyReconciledCondition: judgeTopology},
	}
	if !w.hasTopology() {
		opts.Optional = []string{clusterv1.ClusterTopologyReconciledCondition}
	}
	for _, g := range availabilityGates(w) {
		opts.For = append(opts.For, g.ConditionType)
		if g.Polarity == clusterv1.NegativePolarityCondition {
			opts.Negative = append(opts.Negative, g.ConditionType)
		}
	}
	if w.deleting() {
		gone := func(k metav1.Condition) conditions.Priority {
			if k.Reason == clusterv1.ObjectDeletedReason || k.Reason == clusterv1.ObjectDoesNotExistReason {
				return conditions.Info
			}
			return conditions.Judge(k, false)
		}
		opts.Custom[clusterv1.InfrastructureReadyCondition], opts.Custom[clusterv1.ClusterControlPlaneAvailableCondition] = gone, gone
	}
	return conditions.Summary(c, clusterv1.AvailableCondition, opts)
}

// judgeTopology: only a topology that cannot be reconciled is an issue, work in progress is not.
func judgeTopology(c metav1.Condition) conditions.Priority {
	if c.Status == metav1.ConditionFalse && c.Reason != clusterv1.ClusterTopologyReconciledFailedReason && c.Reason != clusterv1.ClusterTopologyReconciledClusterClassNotReconciledReason {
		return conditions.Info
	}
	return conditions.Judge(c, false)
}
