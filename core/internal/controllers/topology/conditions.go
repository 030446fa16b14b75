package topology

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// describe sums up how far the topology is.
func describe(w World, v upgrade.Decision) metav1.Condition {
	md, mp := v.MachineDeployments, v.MachinePools
	switch {
	case w.ControlPlane == nil:
		return *condition(metav1.ConditionFalse, clusterv1.ClusterTopologyReconciledClusterCreatingReason, "The objects of the topology are being created")
	case v.ControlPlaneWaits != "" || v.Next != "":
		return upgradePending(clusterv1.ClusterTopologyReconciledControlPlaneUpgradePendingReason,
			fmt.Sprintf("Control plane is to be upgraded to %s: %s", v.Next, v.ControlPlaneWaits))
	case len(md.CreationPending) > 0:
		return waiting(clusterv1.ClusterTopologyReconciledMachineDeploymentsCreatePendingReason, "MachineDeployments", md.CreationPending, "are created when the control plane is upgraded")
	case len(mp.CreationPending) > 0:
		return waiting(clusterv1.ClusterTopologyReconciledMachinePoolsCreatePendingReason, "MachinePools", mp.CreationPending, "are created when the control plane is upgraded")
	case len(md.UpgradePending) > 0:
		return waiting(clusterv1.ClusterTopologyReconciledMachineDeploymentsUpgradePendingReason, "MachineDeployments", md.UpgradePending, "are to be upgraded to "+w.Cluster.Spec.Topology.Version)
	case len(mp.UpgradePending) > 0:
		return waiting(clusterv1.ClusterTopologyReconciledMachinePoolsUpgradePendingReason, "MachinePools", mp.UpgradePending, "are to be upgraded to "+w.Cluster.Spec.Topology.Version)
	case len(md.UpgradeDeferred) > 0:
		return waiting(clusterv1.ClusterTopologyReconciledMachineDeploymentsUpgradeDeferredReason, "MachineDeployments", md.UpgradeDeferred, "stay behind until their annotation to defer the upgrade is removed")
	case len(mp.UpgradeDeferred) > 0:
		return waiting(clusterv1.ClusterTopologyReconciledMachinePoolsUpgradeDeferredReason, "MachinePools", mp.UpgradeDeferred, "stay behind until their annotation to defer the upgrade is removed")
	}
	return *condition(metav1.ConditionTrue, clusterv1.ClusterTopologyReconcileSucceededReason, "")
}

func upgradePending(reason, message string) metav1.Condition {
	return *condition(metav1.ConditionFalse, reason, strings.TrimSuffix(message, ": "))
}

// waiting names at most five groups.
func waiting(reason, kind string, names []string, what string) metav1.Condition {
	const shown = 5
	list := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return *condition(metav1.ConditionFalse, reason, fmt.Sprintf("%s %s %s", kind, list, what))
}
