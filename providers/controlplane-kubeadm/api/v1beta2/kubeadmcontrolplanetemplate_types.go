package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=kubeadmcontrolplanetemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=".metadata.ownerReferences[?(@.kind==\"ClusterClass\")].name"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// KubeadmControlPlaneTemplate ...
type KubeadmControlPlaneTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +optional
	Spec KubeadmControlPlaneTemplateSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// KubeadmControlPlaneTemplateList is a list of KubeadmControlPlaneTemplate.
type KubeadmControlPlaneTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []KubeadmControlPlaneTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &KubeadmControlPlaneTemplate{}, &KubeadmControlPlaneTemplateList{})
}

// KubeadmControlPlaneTemplateSpec ...
type KubeadmControlPlaneTemplateSpec struct {
	// template ...
	// +required
	Template KubeadmControlPlaneTemplateResource `json:"template,omitempty,omitzero"`
}

// KubeadmControlPlaneTemplateResource ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneTemplateResource struct {
	// metadata ...
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec ...
	// +optional
	Spec KubeadmControlPlaneTemplateResourceSpec `json:"spec,omitempty,omitzero"`
}

// KubeadmControlPlaneTemplateResourceSpec ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneTemplateResourceSpec struct {
	// kubeadmConfigSpec ...
	// +optional
	KubeadmConfigSpec bootstrapv1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// machineNaming ...
	// +optional
	MachineNaming clusterv1.MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`

	// machineTemplate ...
	// +optional
	MachineTemplate KubeadmControlPlaneTemplateResourceMachineTemplate `json:"machineTemplate,omitempty,omitzero"`

	// remediation ...
	// +optional
	Remediation KubeadmControlPlaneRemediation `json:"remediation,omitempty,omitzero"`

	// rollout ...
	// +optional
	Rollout KubeadmControlPlaneRollout `json:"rollout,omitempty,omitzero"`
}

// KubeadmControlPlaneTemplateResourceMachineTemplate ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneTemplateResourceMachineTemplate struct {
	// metadata ...
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec ...
	// +optional
	Spec KubeadmControlPlaneTemplateResourceMachineTemplateSpec `json:"spec,omitempty,omitzero"`
}

// KubeadmControlPlaneTemplateResourceMachineTemplateSpec ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneTemplateResourceMachineTemplateSpec struct {
	// deletion ...
	// +optional
	Deletion clusterv1.MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// taints ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []clusterv1.MachineTaint `json:"taints,omitempty"`
}
