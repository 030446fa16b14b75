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

// MachineSet keeps a number of Machines of one template. A MachineDeployment makes one for each of its templates.
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

// MachineSetSpec is the set as it should be.
type MachineSetSpec struct {
	// clusterName is the Cluster that the object belongs to, in the same namespace. It cannot be changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// deletion says which Machines go first when fewer are wanted.
	// +optional
	Deletion MachineSetDeletion `json:"deletion,omitempty,omitzero"`

	// machineNaming says how Machines are named.
	// +optional
	MachineNaming MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`

	// replicas is the number of Machines. Default 1.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// selector matches the labels of the objects that belong to this one. It must match the labels of the template.
	// +required
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`

	// template is what each new Machine is made from.
	// +required
	Template MachineTemplateSpec `json:"template,omitempty,omitzero"`
}

// MachineSetDeletion says which Machines go first.
// +kubebuilder:validation:MinProperties=1
type MachineSetDeletion struct {
	// order says which Machine goes first when fewer are wanted, after marked and unhealthy ones: Random, Newest or Oldest.
	// Default Random.
	// +optional
	// +kubebuilder:validation:Enum=Random;Newest;Oldest
	Order string `json:"order,omitempty"`
}

// MachineNamingSpec says how Machines are named.
// +kubebuilder:validation:MinProperties=1
type MachineNamingSpec struct {
	// template is a Go template for names over .cluster.name, .machineSet.name and .random, which it must use. Names above
	// 63 characters are cut.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Template string `json:"template,omitempty"`
}

// MachineTemplateSpec is what Machines are made from.
type MachineTemplateSpec struct {
	// metadata holds labels and annotations for the Machines and their objects. They change in place.
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the Machines.
	// +required
	Spec MachineSpec `json:"spec,omitempty,omitzero"`
}

// ObjectMeta holds the metadata that a template passes on.
// +kubebuilder:validation:MinProperties=1
type ObjectMeta struct {
	// annotations are added to the annotations of each object.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// labels are added to the labels of each object.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

// MachineSetStatus is the set as it was observed.
// +kubebuilder:validation:MinProperties=1
type MachineSetStatus struct {
	// availableReplicas counts machines that are Available.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated holds what earlier API versions reported. Nothing acts on it.
	// +optional
	Deprecated MachineSetDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// observedGeneration is the generation of the spec that this status belongs to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// readyReplicas counts machines that are Ready.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas counts the machines that exist, those in deletion too.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// selector is the selector as a string, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Selector string `json:"selector,omitempty"`

	// upToDateReplicas counts machines that already are as the spec wants them.
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// versions counts machines by Kubernetes version, the lowest version first.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=version
	Versions []StatusVersion `json:"versions,omitempty"`
}

// MachineSetDeprecatedStatus holds what earlier API versions reported.
type MachineSetDeprecatedStatus struct {
	// v1beta1 holds what the API version v1beta1 reported.
	// +optional
	V1Beta1 *MachineSetDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// MachineSetDeprecatedV1Beta1Status is what v1beta1 reported in the status.
type MachineSetDeprecatedV1Beta1Status struct {
	// availableReplicas counts machines that are Available.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`

	// failureMessage is the terminal problem in a sentence, as v1beta1 reported it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage string `json:"failureMessage,omitempty"`

	// failureReason is the terminal problem in a word, as v1beta1 reported it.
	// +optional
	FailureReason string `json:"failureReason,omitempty"`

	// fullyLabeledReplicas counts Machines that have all labels of the template, as v1beta1 reported it.
	// +optional
	FullyLabeledReplicas *int32 `json:"fullyLabeledReplicas,omitempty"`

	// readyReplicas counts machines that are Ready.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`
}

// StatusVersion counts machines of one version.
type StatusVersion struct {
	// replicas is the number of machines of the version.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Replicas int32 `json:"replicas,omitempty"`

	// version is a Kubernetes version.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
}
