package v1beta2

// Finalizers: their holder lets an object go when its work is undone.
const (
	MachinePoolFinalizer = "machinepool.cluster.x-k8s.io"
)
