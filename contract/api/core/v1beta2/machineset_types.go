package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=machinesets,scope=Namespaced,shortName=ms,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".spec.replicas"
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.replicas"
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.readyReplicas"
// +kubebuilder:printcolumn:name="Available",type="integer",JSONPath=".status.availableReplicas"
// +kubebuilder:printcolumn:name="Up-to-date",type="integer",JSONPath=".status.upToDateReplicas"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.template.spec.version"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// MachineSet ...
type MachineSet struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec MachineSetSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status MachineSetStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *MachineSet) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *MachineSet) SetConditions(conditions []metav1.Condition) { x.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// MachineSetList is a list of MachineSet.
type MachineSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []MachineSet `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &MachineSet{}, &MachineSetList{})
}

// MachineSetSpec ...
type MachineSetSpec struct {
	// clusterName ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// deletion ...
	// +optional
	Deletion MachineSetDeletion `json:"deletion,omitempty,omitzero"`

	// machineNaming ...
	// +optional
	MachineNaming MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// selector ...
	// +required
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`

	// template ...
	// +required
	Template MachineTemplateSpec `json:"template,omitempty,omitzero"`
}

// MachineSetDeletion ...
// +kubebuilder:validation:MinProperties=1
type MachineSetDeletion struct {
	// order ...
	// +optional
	// +kubebuilder:validation:Enum=Random;Newest;Oldest
	Order string `json:"order,omitempty"`
}

// MachineNamingSpec ...
// +kubebuilder:validation:MinProperties=1
type MachineNamingSpec struct {
	// template ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Template string `json:"template,omitempty"`
}

// MachineTemplateSpec ...
type MachineTemplateSpec struct {
	// metadata ...
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec ...
	// +required
	Spec MachineSpec `json:"spec,omitempty,omitzero"`
}

// ObjectMeta ...
// +kubebuilder:validation:MinProperties=1
type ObjectMeta struct {
	// annotations ...
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// labels ...
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

// MachineSetStatus ...
// +kubebuilder:validation:MinProperties=1
type MachineSetStatus struct {
	// availableReplicas ...
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated ...
	// +optional
	Deprecated MachineSetDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// observedGeneration ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// readyReplicas ...
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// selector ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Selector string `json:"selector,omitempty"`

	// upToDateReplicas ...
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// versions ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=version
	Versions []StatusVersion `json:"versions,omitempty"`
}

// MachineSetDeprecatedStatus ...
type MachineSetDeprecatedStatus struct {
	// v1beta1 ...
	// +optional
	V1Beta1 *MachineSetDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// MachineSetDeprecatedV1Beta1Status ...
type MachineSetDeprecatedV1Beta1Status struct {
	// availableReplicas ...
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions ...
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`

	// failureMessage ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage string `json:"failureMessage,omitempty"`

	// failureReason ...
	// +optional
	FailureReason string `json:"failureReason,omitempty"`

	// fullyLabeledReplicas ...
	// +optional
	FullyLabeledReplicas *int32 `json:"fullyLabeledReplicas,omitempty"`

	// readyReplicas ...
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`
}

// StatusVersion ...
type StatusVersion struct {
	// replicas ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	Replicas int32 `json:"replicas,omitempty"`

	// version ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
}
