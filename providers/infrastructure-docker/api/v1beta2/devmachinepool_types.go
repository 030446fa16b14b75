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

// DevMachinePool is a set of equal machines for development.
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

// DevMachinePoolSpec says which machines are wanted.
type DevMachinePoolSpec struct {
	// backend is what the machines are made of.
	// +optional
	Backend *DevMachinePoolBackend `json:"backend,omitempty"`

	// providerID is the pool's name among all pools. It is filled in by the controller.
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// providerIDList are the names of the machines, by which their Nodes are found. It is filled in by the controller.
	// +optional
	ProviderIDList []string `json:"providerIDList,omitempty"`
}

// DevMachinePoolBackend is what the machines are made of. At most one of its fields is set; none is docker.
type DevMachinePoolBackend struct {
	// docker makes each machine a container.
	// +optional
	Docker *DevMachinePoolBackendDocker `json:"docker,omitempty"`

	// inMemory simulates the machines inside of the manager.
	// +optional
	InMemory *DevMachinePoolBackendInMemory `json:"inMemory,omitempty"`
}

// DevMachinePoolBackendInMemory is what simulated machines have in common.
type DevMachinePoolBackendInMemory struct {
	// node is the simulated Node.
	// +optional
	Node *InMemoryComponent `json:"node,omitempty"`

	// vm is the simulated virtual machine.
	// +optional
	VM *InMemoryComponent `json:"vm,omitempty"`
}

// DevMachinePoolBackendDocker is what the containers have in common.
type DevMachinePoolBackendDocker struct {
	// customImage is the image of the machine; unset takes the one that belongs to the Kubernetes version. It cannot be
	// changed.
	// +optional
	CustomImage string `json:"customImage,omitempty"`

	// extraMounts are paths of the host that the machine sees.
	// +optional
	ExtraMounts []Mount `json:"extraMounts,omitempty"`

	// preLoadImages are images of the host's engine that are loaded into the machine before its bootstrap.
	// +optional
	PreLoadImages []string `json:"preLoadImages,omitempty"`
}

// DevMachinePoolStatus is what is known about the pool.
type DevMachinePoolStatus struct {
	// conditions say what is well and what is not, and why.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// infrastructureMachineKind is the kind of the machines that the pool is made of.
	// +optional
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`

	// instances are the machines of the pool.
	// +optional
	Instances []DevMachinePoolInstanceStatus `json:"instances,omitempty"`

	// observedGeneration is the newest generation of the spec that the controller has dealt with.
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// ready is true once the pool has the wanted machines.
	// +optional
	Ready *bool `json:"ready,omitempty"`

	// replicas is how many machines exist.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

// DevMachinePoolInstanceStatus is one machine of a pool.
type DevMachinePoolInstanceStatus struct {
	// addresses are the machine's names and addresses.
	// +optional
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// instanceName is the name of the container.
	// +optional
	InstanceName string `json:"instanceName,omitempty"`

	// providerID is the machine's name among all machines.
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// ready is true once the machine has run its bootstrap.
	// +optional
	Ready *bool `json:"ready,omitempty"`

	// version is the machine's Kubernetes version.
	// +optional
	Version string `json:"version,omitempty"`
}
