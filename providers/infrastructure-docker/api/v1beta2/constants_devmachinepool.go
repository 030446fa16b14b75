package v1beta2

// Condition types: what a condition is about.
const (
	ReplicasReadyCondition = "ReplicasReady"
)

// Label keys and values.
const (
	// DevMachinePoolNameLabel is on the DevMachines of a DevMachinePool, with its name.
	DevMachinePoolNameLabel = "dev.cluster.x-k8s.io/machine-pool"
)

// Annotation keys.
const (
	// DevMachineVersionAnnotation is on the DevMachines of a DevMachinePool: the Kubernetes version that they are made for.
	DevMachineVersionAnnotation = "dev.cluster.x-k8s.io/version"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	MachinePoolFinalizer = "dockermachinepool.infrastructure.cluster.x-k8s.io"
)
