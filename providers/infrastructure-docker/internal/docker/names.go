package docker

import (
	"strings"
)

// Labels of containers. All but the last are shared with kind, whose tools find the containers by them.
const (
	ClusterLabel       = "io.x-k8s.kind.cluster"
	RoleLabel          = "io.x-k8s.kind.role"
	FailureDomainLabel = "io.x-k8s.cluster.failureDomain"
	// OwnerLabel holds the UID of the object a container was made for. A container of the right name with another owner
	// is a stranger: what is left of another management cluster, or belongs to a living one.
	OwnerLabel = "slipway.dev/owner-uid"
)

// Roles of containers.
const (
	ControlPlaneRole = "control-plane"
	WorkerRole       = "worker"
	LoadBalancerRole = "external-load-balancer"
)

// ContainerName is the name of a machine's container, which is also the name of its Node.
func ContainerName(cluster, machine string) string {
	if strings.HasPrefix(machine, cluster) {
		return machine
	}
	return cluster + "-" + machine
}

// LoadBalancerName is the name of a cluster's load balancer container.
func LoadBalancerName(cluster string) string { return cluster + "-lb" }

// ProviderID identifies a machine's container in the Machine and the Node.
func ProviderID(container string) string { return "docker:////" + container }

// NodeImages are the images to try for a Kubernetes version, ours first. A plus sign is not allowed in a tag.
func NodeImages(version string) []string {
	version = strings.ReplaceAll(version, "+", "_")
	if !strings.HasPrefix(version, "v") {
		version = "v" + version
	}
	return []string{"slipway/node:" + version, "kindest/node:" + version}
}

// LoadBalancerImages are the images to try for a load balancer, ours first.
func LoadBalancerImages() []string {
	return []string{"slipway/haproxy:latest", "kindest/haproxy:v20230606-42a2262b"}
}
