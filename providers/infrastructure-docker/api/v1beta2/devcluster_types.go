package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=devclusters,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// DevCluster is the infrastructure of a cluster for development: containers behind a load balancer, or simulated
// machines in memory.
type DevCluster struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +optional
	Spec DevClusterSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status DevClusterStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *DevCluster) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *DevCluster) SetConditions(conditions []metav1.Condition) { x.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// DevClusterList is a list of DevCluster.
type DevClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []DevCluster `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &DevCluster{}, &DevClusterList{})
}

// DevClusterSpec says which infrastructure is wanted.
type DevClusterSpec struct {
	// backend is what machines are made of; unset is docker.
	// +required
	Backend DevClusterBackend `json:"backend,omitempty,omitzero"`

	// controlPlaneEndpoint is where the API servers are reached. Unset is filled in once the load balancer or the simulated
	// server exists.
	// +optional
	ControlPlaneEndpoint clusterv1.APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`
}

// DevClusterBackend is what machines are made of. Exactly one of its fields is set.
type DevClusterBackend struct {
	// docker makes each machine a container.
	// +optional
	Docker *DockerClusterBackend `json:"docker,omitempty"`

	// inMemory simulates machines inside of the manager.
	// +optional
	InMemory *InMemoryClusterBackend `json:"inMemory,omitempty"`
}

// DockerClusterBackend is a cluster of containers.
type DockerClusterBackend struct {
	// failureDomains are names that stand for failure domains; containers all run on the same host.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	FailureDomains []clusterv1.FailureDomain `json:"failureDomains,omitempty"`

	// loadBalancer is the container before the API servers.
	// +optional
	LoadBalancer *DockerLoadBalancer `json:"loadBalancer,omitempty"`
}

// DockerLoadBalancer is the container before the API servers.
type DockerLoadBalancer struct {
	// customHAProxyConfigTemplateRef is a ConfigMap with a template of HAProxy's configuration, to use instead of the
	// built-in one.
	// +optional
	CustomHAProxyConfigTemplateRef *ConfigMapReference `json:"customHAProxyConfigTemplateRef,omitempty"`

	// imageRepository is where the image comes from; unset is the built-in one.
	// +optional
	ImageRepository string `json:"imageRepository,omitempty"`

	// imageTag is the version of the image; unset is the built-in one.
	// +optional
	ImageTag string `json:"imageTag,omitempty"`
}

// ConfigMapReference is a ConfigMap in the same namespace.
type ConfigMapReference struct {
	// name is the name of the ConfigMap.
	// +optional
	// +kubebuilder:default:=""
	Name string `json:"name,omitempty"`
}

// InMemoryClusterBackend is a cluster of simulated machines.
type InMemoryClusterBackend struct {
}

// DevClusterStatus is what is known about the infrastructure.
type DevClusterStatus struct {
	// conditions say what is well and what is not, and why.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated holds what only readers of older API versions look at.
	// +optional
	Deprecated clusterv1.MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// failureDomains are the failure domains that machines can be put into.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	FailureDomains []clusterv1.FailureDomain `json:"failureDomains,omitempty"`

	// initialization is what the Cluster waits for.
	// +optional
	Initialization DevClusterInitializationStatus `json:"initialization,omitempty,omitzero"`
}

// DevClusterInitializationStatus is what the Cluster waits for.
// +kubebuilder:validation:MinProperties=1
type DevClusterInitializationStatus struct {
	// provisioned is true once the infrastructure can be used.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}
