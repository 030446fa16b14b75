package v1beta2

// Condition types: what a condition is about.
const (
	ClusterTopologyReconciledCondition           = "TopologyReconciled"
	ClusterControlPlaneInitializedCondition      = "ControlPlaneInitialized"
	ClusterControlPlaneAvailableCondition        = "ControlPlaneAvailable"
	ClusterWorkersAvailableCondition             = "WorkersAvailable"
	ClusterControlPlaneMachinesReadyCondition    = "ControlPlaneMachinesReady"
	ClusterWorkerMachinesReadyCondition          = "WorkerMachinesReady"
	ClusterControlPlaneMachinesUpToDateCondition = "ControlPlaneMachinesUpToDate"
	ClusterWorkerMachinesUpToDateCondition       = "WorkerMachinesUpToDate"
	ClusterRemoteConnectionProbeCondition        = "RemoteConnectionProbe"
	PositivePolarityCondition                    = "Positive"
	NegativePolarityCondition                    = "Negative"
)

// Reasons: why a condition has its status, one word for machines.
const (
	ClusterTopologyReconcileSucceededReason                          = "ReconcileSucceeded"
	ClusterTopologyReconciledFailedReason                            = "ReconcileFailed"
	ClusterTopologyReconciledClusterCreatingReason                   = "ClusterCreating"
	ClusterTopologyReconciledControlPlaneUpgradePendingReason        = "ControlPlaneUpgradePending"
	ClusterTopologyReconciledMachineDeploymentsCreatePendingReason   = "MachineDeploymentsCreatePending"
	ClusterTopologyReconciledMachineDeploymentsUpgradePendingReason  = "MachineDeploymentsUpgradePending"
	ClusterTopologyReconciledMachineDeploymentsUpgradeDeferredReason = "MachineDeploymentsUpgradeDeferred"
	ClusterTopologyReconciledMachinePoolsUpgradePendingReason        = "MachinePoolsUpgradePending"
	ClusterTopologyReconciledMachinePoolsCreatePendingReason         = "MachinePoolsCreatePending"
	ClusterTopologyReconciledMachinePoolsUpgradeDeferredReason       = "MachinePoolsUpgradeDeferred"
	ClusterTopologyReconciledHookBlockingReason                      = "LifecycleHookBlocking"
	ClusterTopologyReconciledClusterUpgradingReason                  = "ClusterUpgrading"
	ClusterTopologyReconciledClusterClassNotReconciledReason         = "ClusterClassNotReconciled"
	ClusterControlPlaneInitializedReason                             = "Initialized"
	ClusterControlPlaneNotInitializedReason                          = "NotInitialized"
	ClusterWorkersAvailableNoWorkersReason                           = "NoWorkers"
	ClusterRemoteConnectionProbeFailedReason                         = "ProbeFailed"
	ClusterRemoteConnectionProbeSucceededReason                      = "ProbeSucceeded"
	ClusterRollingOutUnknownReason                                   = "RollingOutUnknown"
	ClusterScalingUpUnknownReason                                    = "ScalingUpUnknown"
	ClusterScalingDownUnknownReason                                  = "ScalingDownUnknown"
	ClusterDeletingWaitingForBeforeDeleteHookReason                  = "WaitingForBeforeDeleteHook"
	ClusterDeletingWaitingForWorkersDeletionReason                   = "WaitingForWorkersDeletion"
	ClusterDeletingWaitingForControlPlaneDeletionReason              = "WaitingForControlPlaneDeletion"
	ClusterDeletingWaitingForInfrastructureDeletionReason            = "WaitingForInfrastructureDeletion"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	ClusterFinalizer = "cluster.cluster.x-k8s.io"
)

// Other names on the wire.
const (
	ClusterKind = "Cluster"
)

// Phases: a summary for people; nothing is decided on them.
const (
	ClusterPhasePending      = "Pending"
	ClusterPhaseProvisioning = "Provisioning"
	ClusterPhaseProvisioned  = "Provisioned"
	ClusterPhaseDeleting     = "Deleting"
	ClusterPhaseFailed       = "Failed"
	ClusterPhaseUnknown      = "Unknown"
)
