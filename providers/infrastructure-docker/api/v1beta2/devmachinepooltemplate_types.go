package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=devmachinepooltemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// DevMachinePoolTemplate is the pattern of DevMachinePools in a ClusterClass.
type DevMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +optional
	Spec DevMachinePoolTemplateSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// DevMachinePoolTemplateList is a list of DevMachinePoolTemplate.
type DevMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []DevMachinePoolTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &DevMachinePoolTemplate{}, &DevMachinePoolTemplateList{})
}

// DevMachinePoolTemplateSpec holds the pattern. It must not change: make a new template and refer to that one.
type DevMachinePoolTemplateSpec struct {
	// template is the pattern of the objects that are made from it.
	// +required
	Template DevMachinePoolTemplateTemplate `json:"template,omitempty,omitzero"`
}

// DevMachinePoolTemplateTemplate is the pattern of a DevMachinePool.
type DevMachinePoolTemplateTemplate struct {
	// metadata are labels and annotations of the objects that are made from it.
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the objects that are made from it.
	// +required
	Spec DevMachinePoolSpec `json:"spec,omitempty,omitzero"`
}
