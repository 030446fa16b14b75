package v1beta2

// Condition types: what a condition is about.
const (
	DevClusterDockerLoadBalancerAvailableCondition = "LoadBalancerAvailable"
)

// Annotation keys.
const (
	// FaultsAnnotation on a DevCluster of the in-memory backend says what goes wrong in it; see docs/faults.md.
	FaultsAnnotation = "inmemorycluster.infrastructure.cluster.x-k8s.io/faults"

	ListenerAnnotationName = "inmemorycluster.infrastructure.cluster.x-k8s.io/listener"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	ClusterFinalizer = "dockercluster.infrastructure.cluster.x-k8s.io"
)
