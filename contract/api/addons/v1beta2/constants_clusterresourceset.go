package v1beta2

// Condition types: what a condition is about.
const (
	ClusterResourceSetResourcesAppliedCondition = "ResourcesApplied"
)

// Reasons: why a condition has its status, one word for machines.
const (
	ClusterResourceSetResourcesAppliedReason                = "Applied"
	ClusterResourceSetResourcesNotAppliedReason             = "NotApplied"
	ClusterResourceSetResourcesAppliedWrongSecretTypeReason = "WrongSecretType"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	ClusterResourceSetFinalizer = "addons.cluster.x-k8s.io"
)

// Other names on the wire.
const (
	ClusterResourceSetSecretType            = "addons.cluster.x-k8s.io/resource-set"
	SecretClusterResourceSetResourceKind    = "Secret"
	ConfigMapClusterResourceSetResourceKind = "ConfigMap"
	ClusterResourceSetStrategyApplyOnce     = "ApplyOnce"
	ClusterResourceSetStrategyReconcile     = "Reconcile"
)
