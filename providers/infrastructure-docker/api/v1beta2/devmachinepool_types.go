package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=devmachinepools,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// DevMachinePool ...
type DevMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +optional
	Spec DevMachinePoolSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status DevMachinePoolStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *DevMachinePool) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *DevMachinePool) SetConditions(conditions []metav1.Condition) {
	x.Status.Conditions = conditions
}

// +kubebuilder:object:root=true

// DevMachinePoolList is a list of DevMachinePool.
type DevMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []DevMachinePool `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &DevMachinePool{}, &DevMachinePoolList{})
}

// DevMachinePoolSpec ...
type DevMachinePoolSpec struct {
	// backend ...
	// +optional
	Backend *DevMachinePoolBackend `json:"backend,omitempty"`

	// providerID ...
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// providerIDList ...
	// +optional
	ProviderIDList []string `json:"providerIDList,omitempty"`
}

// DevMachinePoolBackend ...
type DevMachinePoolBackend struct {
	// docker ...
	// +optional
	Docker *DevMachinePoolBackendDocker `json:"docker,omitempty"`
}

// DevMachinePoolBackendDocker ...
type DevMachinePoolBackendDocker struct {
	// customImage ...
	// +optional
	CustomImage string `json:"customImage,omitempty"`

	// extraMounts ...
	// +optional
	ExtraMounts []Mount `json:"extraMounts,omitempty"`

	// preLoadImages ...
	// +optional
	PreLoadImages []string `json:"preLoadImages,omitempty"`
}

// DevMachinePoolStatus ...
type DevMachinePoolStatus struct {
	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// infrastructureMachineKind ...
	// +optional
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`

	// instances ...
	// +optional
	Instances []DevMachinePoolInstanceStatus `json:"instances,omitempty"`

	// observedGeneration ...
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// ready ...
	// +optional
	Ready *bool `json:"ready,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

// DevMachinePoolInstanceStatus ...
type DevMachinePoolInstanceStatus struct {
	// addresses ...
	// +optional
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// instanceName ...
	// +optional
	InstanceName string `json:"instanceName,omitempty"`

	// providerID ...
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// ready ...
	// +optional
	Ready *bool `json:"ready,omitempty"`

	// version ...
	// +optional
	Version string `json:"version,omitempty"`
}
