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

// DevMachine ...
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

// DevMachineSpec ...
type DevMachineSpec struct {
	// backend ...
	// +required
	Backend DevMachineBackend `json:"backend,omitempty,omitzero"`

	// providerID ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`
}

// DevMachineBackend ...
type DevMachineBackend struct {
	// docker ...
	// +optional
	Docker *DockerMachineBackend `json:"docker,omitempty"`

	// inMemory ...
	// +optional
	InMemory *InMemoryMachineBackend `json:"inMemory,omitempty"`
}

// DockerMachineBackend ...
type DockerMachineBackend struct {
	// bootstrapTimeout ...
	// +optional
	BootstrapTimeout *metav1.Duration `json:"bootstrapTimeout,omitempty"`

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

// Mount ...
type Mount struct {
	// containerPath ...
	// +optional
	ContainerPath string `json:"containerPath,omitempty"`

	// hostPath ...
	// +optional
	HostPath string `json:"hostPath,omitempty"`

	// readOnly ...
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`
}

// InMemoryMachineBackend ...
type InMemoryMachineBackend struct {
	// apiServer ...
	// +optional
	APIServer *InMemoryComponent `json:"apiServer,omitempty"`

	// etcd ...
	// +optional
	Etcd *InMemoryComponent `json:"etcd,omitempty"`

	// node ...
	// +optional
	Node *InMemoryComponent `json:"node,omitempty"`

	// vm ...
	// +optional
	VM *InMemoryComponent `json:"vm,omitempty"`
}

// InMemoryComponent ...
type InMemoryComponent struct {
	// provisioning ...
	// +optional
	Provisioning InMemoryProvisioning `json:"provisioning,omitempty,omitzero"`
}

// InMemoryProvisioning ...
type InMemoryProvisioning struct {
	// startupDuration ...
	// +required
	StartupDuration metav1.Duration `json:"startupDuration"`

	// startupJitter ...
	// +optional
	StartupJitter string `json:"startupJitter,omitempty"`
}

// DevMachineStatus ...
type DevMachineStatus struct {
	// addresses ...
	// +optional
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated ...
	// +optional
	Deprecated clusterv1.MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// failureDomain ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// initialization ...
	// +optional
	Initialization DevClusterInitializationStatus `json:"initialization,omitempty,omitzero"`
}
