package conditions

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// canonical is the order in which conditions are shown: what users look at first, then what it is made of, then what goes on.
var canonical = rank(
	"Available", "Ready", "UpToDate",
	"RemoteConnectionProbe", "BootstrapConfigReady", "InfrastructureReady",
	"ControlPlaneInitialized", "ControlPlaneAvailable", "WorkersAvailable",
	"Initialized", "CertificatesAvailable", "DataSecretAvailable", "EtcdClusterHealthy", "ControlPlaneComponentsHealthy",
	"NodeHealthy", "NodeReady", "NodeKubeadmLabelsAndTaintsSet",
	"APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy", "EtcdPodHealthy", "EtcdMemberHealthy",
	"HealthCheckSucceeded", "OwnerRemediated", "ExternallyRemediated", "RemediationAllowed",
	"TopologyReconciled", "VariablesReady", "RefVersionsUpToDate",
	"Updating", "RollingOut", "Remediating", "ScalingDown", "ScalingUp",
	"ControlPlaneMachinesReady", "WorkerMachinesReady", "MachinesReady",
	"ControlPlaneMachinesUpToDate", "WorkerMachinesUpToDate", "MachinesUpToDate",
)

// last are the conditions after those of unknown types.
var last = rank("Paused", "Deleting")

// Compare orders two conditions by type: canonical ones first, unknown types by name, then Paused and Deleting.
func Compare(a, b metav1.Condition) int { return compareTypes(a.Type, b.Type) }

func compareTypes(a, b string) int {
	if ra, rb := position(a), position(b); ra != rb {
		return ra - rb
	}
	return strings.Compare(a, b)
}

func position(conditionType string) int {
	if i, ok := canonical[conditionType]; ok {
		return i
	}
	if i, ok := last[conditionType]; ok {
		return len(canonical) + 1 + i
	}
	return len(canonical)
}

func rank(types ...string) map[string]int {
	ranks := make(map[string]int, len(types))
	for i, t := range types {
		ranks[t] = i
	}
	return ranks
}
