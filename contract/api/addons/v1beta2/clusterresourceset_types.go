package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=clusterresourcesets,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Applied",type="string",JSONPath=".status.conditions[?(@.type==\"ResourcesApplied\")].status"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// ClusterResourceSet delivers the objects in ConfigMaps and Secrets, such as a network add-on, to every Cluster that its
// selector matches.
type ClusterResourceSet struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec ClusterResourceSetSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status ClusterResourceSetStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *ClusterResourceSet) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *ClusterResourceSet) SetConditions(conditions []metav1.Condition) {
	x.Status.Conditions = conditions
}

// +kubebuilder:object:root=true

// ClusterResourceSetList is a list of ClusterResourceSet.
type ClusterResourceSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []ClusterResourceSet `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &ClusterResourceSet{}, &ClusterResourceSetList{})
}

// ClusterResourceSetSpec says what is delivered, where, and how often.
type ClusterResourceSetSpec struct {
	// clusterSelector picks the Clusters of this namespace that receive the resources. An empty selector picks none. It
	// cannot be changed.
	// +required
	ClusterSelector metav1.LabelSelector `json:"clusterSelector,omitempty,omitzero"`

	// resources lists the Secrets and ConfigMaps of this namespace whose values are YAML or JSON objects, applied in this
	// order.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Resources []ResourceReference `json:"resources,omitempty"`

	// strategy says what happens after the first delivery: ApplyOnce leaves the objects alone, Reconcile applies them again
	// whenever the Secret or ConfigMap changes. It cannot be changed.
	// +optional
	// +kubebuilder:validation:Enum=ApplyOnce;Reconcile
	Strategy string `json:"strategy,omitempty"`
}

// ResourceReference names one Secret or ConfigMap that holds objects.
type ResourceReference struct {
	// kind is Secret or ConfigMap. A Secret must be of type addons.cluster.x-k8s.io/resource-set.
	// +required
	// +kubebuilder:validation:Enum=Secret;ConfigMap
	Kind string `json:"kind"`

	// name is the name of the Secret or ConfigMap, in the namespace of the ClusterResourceSet.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// ClusterResourceSetStatus tells whether the resources reached all matching Clusters.
// +kubebuilder:validation:MinProperties=1
type ClusterResourceSetStatus struct {
	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated holds what earlier API versions reported. Nothing acts on it.
	// +optional
	Deprecated clusterv1.MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// observedGeneration is the generation of the spec that this status belongs to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}
