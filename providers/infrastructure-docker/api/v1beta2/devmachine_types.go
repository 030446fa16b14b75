package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=devmachines,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']"
// +kubebuilder:printcolumn:name="Provider ID",type="string",JSONPath=".spec.providerID"
// +kubebuilder:printcolumn:name="Failure domain",type="string",JSONPath=".status.failureDomain"
// +kubebuilder:printcolumn:name="IP",type="string",JSONPath=".status.addresses[?(@.type==\"InternalIP\")].address"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Provisioned",type="string",JSONPath=".status.initialization.provisioned"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// DevMachine is one machine for development: a container, or a simulation in memory.
type DevMachine struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +optional
	Spec DevMachineSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status DevMachineStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *DevMachine) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *DevMachine) SetConditions(conditions []metav1.Condition) { x.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// DevMachineList is a list of DevMachine.
type DevMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []DevMachine `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &DevMachine{}, &DevMachineList{})
}

// DevMachineSpec says which machine is wanted.
type DevMachineSpec struct {
	// backend is what the machine is made of; unset is docker.
	// +required
	Backend DevMachineBackend `json:"backend,omitempty,omitzero"`

	// providerID is the machine's name among all machines, by which its Node is found. It is filled in by the controller.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`
}

// DevMachineBackend is what the machine is made of. Exactly one of its fields is set.
type DevMachineBackend struct {
	// docker makes the machine a container.
	// +optional
	Docker *DockerMachineBackend `json:"docker,omitempty"`

	// inMemory simulates the machine inside of the manager.
	// +optional
	InMemory *InMemoryMachineBackend `json:"inMemory,omitempty"`
}

// DockerMachineBackend is a container.
type DockerMachineBackend struct {
	// bootstrapTimeout is how long the bootstrap may take; unset is 5m. When it is over, the machine has failed.
	// +optional
	BootstrapTimeout *metav1.Duration `json:"bootstrapTimeout,omitempty"`

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

// Mount is a path of the host that a machine sees.
type Mount struct {
	// containerPath is the path in the machine.
	// +optional
	ContainerPath string `json:"containerPath,omitempty"`

	// hostPath is the path on the host.
	// +optional
	HostPath string `json:"hostPath,omitempty"`

	// readOnly keeps the machine from writing; unset is false.
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`
}

// InMemoryMachineBackend is a simulated machine.
type InMemoryMachineBackend struct {
	// apiServer is the simulated API server of a control plane machine.
	// +optional
	APIServer *InMemoryComponent `json:"apiServer,omitempty"`

	// etcd is the simulated etcd member of a control plane machine.
	// +optional
	Etcd *InMemoryComponent `json:"etcd,omitempty"`

	// node is the simulated Node.
	// +optional
	Node *InMemoryComponent `json:"node,omitempty"`

	// vm is the simulated virtual machine.
	// +optional
	VM *InMemoryComponent `json:"vm,omitempty"`
}

// InMemoryComponent is a part of a simulated machine.
type InMemoryComponent struct {
	// provisioning says how long the part takes to come up; unset is at once.
	// +optional
	Provisioning InMemoryProvisioning `json:"provisioning,omitempty,omitzero"`
}

// InMemoryProvisioning says how long a part takes to come up.
type InMemoryProvisioning struct {
	// startupDuration is the time it takes.
	// +required
	StartupDuration metav1.Duration `json:"startupDuration"`

	// startupJitter is the share by which the time varies at random, as a decimal such as "0.2".
	// +optional
	StartupJitter string `json:"startupJitter,omitempty"`
}

// DevMachineStatus is what is known about the machine.
type DevMachineStatus struct {
	// addresses are the machine's names and addresses.
	// +optional
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// conditions say what is well and what is not, and why.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated holds what only readers of older API versions look at.
	// +optional
	Deprecated clusterv1.MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// failureDomain is where the machine runs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// initialization is what the Machine waits for.
	// +optional
	Initialization DevClusterInitializationStatus `json:"initialization,omitempty,omitzero"`
}
