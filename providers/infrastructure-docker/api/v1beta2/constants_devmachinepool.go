package v1beta2

// Condition types: what a condition is about.
const (
	ReplicasReadyCondition = "ReplicasReady"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	MachinePoolFinalizer = "dockermachinepool.infrastructure.cluster.x-k8s.io"
)
