package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=devclustertemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// DevClusterTemplate ...
type DevClusterTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +optional
	Spec DevClusterTemplateSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// DevClusterTemplateList is a list of DevClusterTemplate.
type DevClusterTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []DevClusterTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &DevClusterTemplate{}, &DevClusterTemplateList{})
}

// DevClusterTemplateSpec ...
type DevClusterTemplateSpec struct {
	// template ...
	// +required
	Template DevClusterTemplateTemplate `json:"template,omitempty,omitzero"`
}

// DevClusterTemplateTemplate ...
type DevClusterTemplateTemplate struct {
	// metadata ...
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec ...
	// +required
	Spec DevClusterSpec `json:"spec,omitempty,omitzero"`
}
