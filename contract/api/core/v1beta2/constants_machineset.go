package v1beta2

// Reasons: why a condition has its status, one word for machines.
const (
	MachineSetMachineCannotBeRemediatedReason         = "CannotBeRemediated"
	MachineSetMachineRemediationDeferredReason        = "RemediationDeferred"
	MachineSetMachineRemediationMachineDeletingReason = "MachineDeleting"
)

// Annotation keys.
const (
	MachineSetMoveMachinesToMachineSetAnnotation       = "in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset"
	MachineSetReceiveMachinesFromMachineSetsAnnotation = "in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets"
	AcknowledgedMoveAnnotation                         = "in-place-updates.internal.cluster.x-k8s.io/acknowledged-move"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	MachineSetTopologyFinalizer = "machineset.topology.cluster.x-k8s.io"
	MachineSetFinalizer         = "cluster.x-k8s.io/machineset"
)

// Other names on the wire.
const (
	RandomMachineSetDeletionOrder = "Random"
	NewestMachineSetDeletionOrder = "Newest"
	OldestMachineSetDeletionOrder = "Oldest"
)
