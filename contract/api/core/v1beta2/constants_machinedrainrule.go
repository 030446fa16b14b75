package v1beta2

// Label keys and values.
const (
	PodDrainLabel = "cluster.x-k8s.io/drain"
)

// Other names on the wire.
const (
	MachineDrainRuleDrainBehaviorDrain         = "Drain"
	MachineDrainRuleDrainBehaviorSkip          = "Skip"
	MachineDrainRuleDrainBehaviorWaitCompleted = "WaitCompleted"
)
