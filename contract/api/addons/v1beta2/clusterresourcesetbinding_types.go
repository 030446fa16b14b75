package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=clusterresourcesetbindings,scope=Namespaced,categories=cluster-api
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// ClusterResourceSetBinding records what was delivered to one Cluster. It has the name of the Cluster and is written by
// the controller only.
type ClusterResourceSetBinding struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec ClusterResourceSetBindingSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// ClusterResourceSetBindingList is a list of ClusterResourceSetBinding.
type ClusterResourceSetBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []ClusterResourceSetBinding `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &ClusterResourceSetBinding{}, &ClusterResourceSetBindingList{})
}

// ClusterResourceSetBindingSpec lists the deliveries to one Cluster.
type ClusterResourceSetBindingSpec struct {
	// bindings holds one entry for each ClusterResourceSet that matches the Cluster.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Bindings []ResourceSetBinding `json:"bindings,omitempty"`

	// clusterName is the Cluster that received the resources.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`
}

// ResourceSetBinding is what one ClusterResourceSet delivered.
type ResourceSetBinding struct {
	// clusterResourceSetName is the ClusterResourceSet that delivered.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClusterResourceSetName string `json:"clusterResourceSetName,omitempty"`

	// resources holds one entry for each Secret or ConfigMap delivered.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Resources []ResourceBinding `json:"resources,omitempty"`
}

// ResourceBinding is the delivery of one Secret or ConfigMap.
type ResourceBinding struct {
	// applied says that the last delivery of the resource succeeded completely.
	// +required
	Applied bool `json:"applied"`

	// hash is a digest of the data that was delivered last; a different one means that the resource changed since.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Hash string `json:"hash,omitempty"`

	// kind is Secret or ConfigMap.
	// +required
	// +kubebuilder:validation:Enum=Secret;ConfigMap
	Kind string `json:"kind"`

	// lastAppliedTime is when the resource was delivered last.
	// +optional
	LastAppliedTime metav1.Time `json:"lastAppliedTime,omitempty,omitzero"`

	// name is the name of the Secret or ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}
