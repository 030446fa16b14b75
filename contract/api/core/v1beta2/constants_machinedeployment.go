package v1beta2

// Reasons: why a condition has its status, one word for machines.
const (
	MachineDeploymentAvailableWaitingForAvailableReplicasSetReason = "WaitingForAvailableReplicasSet"
)

// Label keys and values.
const (
	MachineDeploymentUniqueLabel = "machine-template-hash"
)

// Annotation keys.
const (
	RevisionAnnotation        = "machinedeployment.clusters.x-k8s.io/revision"
	DesiredReplicasAnnotation = "machinedeployment.clusters.x-k8s.io/desired-replicas"
	MaxReplicasAnnotation     = "machinedeployment.clusters.x-k8s.io/max-replicas"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	MachineDeploymentTopologyFinalizer = "machinedeployment.topology.cluster.x-k8s.io"
	MachineDeploymentFinalizer         = "cluster.x-k8s.io/machinedeployment"
)

// Other names on the wire.
const (
	RollingUpdateMachineDeploymentStrategyType = "RollingUpdate"
	OnDeleteMachineDeploymentStrategyType      = "OnDelete"
)

// Phases: a summary for people; nothing is decided on them.
const (
	MachineDeploymentPhaseScalingUp   = "ScalingUp"
	MachineDeploymentPhaseScalingDown = "ScalingDown"
	MachineDeploymentPhaseRunning     = "Running"
	MachineDeploymentPhaseFailed      = "Failed"
	MachineDeploymentPhaseUnknown     = "Unknown"
)
