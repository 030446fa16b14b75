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

// DevCluster ...
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

// DevClusterSpec ...
type DevClusterSpec struct {
	// backend ...
	// +required
	Backend DevClusterBackend `json:"backend,omitempty,omitzero"`

	// controlPlaneEndpoint ...
	// +optional
	ControlPlaneEndpoint clusterv1.APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`
}

// DevClusterBackend ...
type DevClusterBackend struct {
	// docker ...
	// +optional
	Docker *DockerClusterBackend `json:"docker,omitempty"`

	// inMemory ...
	// +optional
	InMemory *InMemoryClusterBackend `json:"inMemory,omitempty"`
}

// DockerClusterBackend ...
type DockerClusterBackend struct {
	// failureDomains ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	FailureDomains []clusterv1.FailureDomain `json:"failureDomains,omitempty"`

	// loadBalancer ...
	// +optional
	LoadBalancer *DockerLoadBalancer `json:"loadBalancer,omitempty"`
}

// DockerLoadBalancer ...
type DockerLoadBalancer struct {
	// customHAProxyConfigTemplateRef ...
	// +optional
	CustomHAProxyConfigTemplateRef *ConfigMapReference `json:"customHAProxyConfigTemplateRef,omitempty"`

	// imageRepository ...
	// +optional
	ImageRepository string `json:"imageRepository,omitempty"`

	// imageTag ...
	// +optional
	ImageTag string `json:"imageTag,omitempty"`
}

// ConfigMapReference ...
type ConfigMapReference struct {
	// name ...
	// +optional
	// +kubebuilder:default:=""
	Name string `json:"name,omitempty"`
}

// InMemoryClusterBackend ...
type InMemoryClusterBackend struct {
}

// DevClusterStatus ...
type DevClusterStatus struct {
	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated ...
	// +optional
	Deprecated clusterv1.MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// failureDomains ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	FailureDomains []clusterv1.FailureDomain `json:"failureDomains,omitempty"`

	// initialization ...
	// +optional
	Initialization DevClusterInitializationStatus `json:"initialization,omitempty,omitzero"`
}

// DevClusterInitializationStatus ...
// +kubebuilder:validation:MinProperties=1
type DevClusterInitializationStatus struct {
	// provisioned ...
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}
