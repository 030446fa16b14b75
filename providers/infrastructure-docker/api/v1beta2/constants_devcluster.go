package v1beta2

// Condition types: what a condition is about.
const (
	DevClusterDockerLoadBalancerAvailableCondition = "LoadBalancerAvailable"
)

// Annotation keys.
const (
	ListenerAnnotationName = "inmemorycluster.infrastructure.cluster.x-k8s.io/listener"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	ClusterFinalizer = "dockercluster.infrastructure.cluster.x-k8s.io"
)
