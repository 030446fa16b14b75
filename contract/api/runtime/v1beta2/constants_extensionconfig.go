package v1beta2

// Condition types: what a condition is about.
const (
	ExtensionConfigDiscoveredCondition = "Discovered"
)

// Reasons: why a condition has its status, one word for machines.
const (
	ExtensionConfigDiscoveredReason    = "Discovered"
	ExtensionConfigNotDiscoveredReason = "NotDiscovered"
)

// Annotation keys.
const (
	InjectCAFromSecretAnnotation = "runtime.cluster.x-k8s.io/inject-ca-from-secret"
	PendingHooksAnnotation       = "runtime.cluster.x-k8s.io/pending-hooks"
	OkToDeleteAnnotation         = "runtime.cluster.x-k8s.io/ok-to-delete"
)

// Other names on the wire.
const (
	FailurePolicyIgnore = "Ignore"
	FailurePolicyFail   = "Fail"
)
