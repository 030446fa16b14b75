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

// DevClusterTemplate is the pattern of DevClusters in a ClusterClass.
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

// DevClusterTemplateSpec holds the pattern. It must not change: make a new template and refer to that one.
type DevClusterTemplateSpec struct {
	// template is the pattern of the objects that are made from it.
	// +required
	Template DevClusterTemplateTemplate `json:"template,omitempty,omitzero"`
}

// DevClusterTemplateTemplate is the pattern of a DevCluster.
type DevClusterTemplateTemplate struct {
	// metadata are labels and annotations of the objects that are made from it.
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the objects that are made from it.
	// +required
	Spec DevClusterSpec `json:"spec,omitempty,omitzero"`
}
