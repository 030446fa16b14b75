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

// KubeadmControlPlaneTemplate is the pattern of control planes in a ClusterClass.
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

// KubeadmControlPlaneTemplateSpec holds the pattern. It must not change: make a new template and refer to that one.
type KubeadmControlPlaneTemplateSpec struct {
	// template is the pattern of the objects that are made from it.
	// +required
	Template KubeadmControlPlaneTemplateResource `json:"template,omitempty,omitzero"`
}

// KubeadmControlPlaneTemplateResource is the pattern of a KubeadmControlPlane.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneTemplateResource struct {
	// metadata are labels and annotations of the objects that are made from it.
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the objects that are made from it.
	// +optional
	Spec KubeadmControlPlaneTemplateResourceSpec `json:"spec,omitempty,omitzero"`
}

// KubeadmControlPlaneTemplateResourceSpec is the spec of a KubeadmControlPlane without what a topology decides:
// replicas, version and infrastructure.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneTemplateResourceSpec struct {
	// kubeadmConfigSpec is how machines are set up. Most changes replace the machines one after the other.
	// +optional
	KubeadmConfigSpec bootstrapv1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// machineNaming says how machines are named.
	// +optional
	MachineNaming clusterv1.MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`

	// machineTemplate is the pattern of the machines.
	// +optional
	MachineTemplate KubeadmControlPlaneTemplateResourceMachineTemplate `json:"machineTemplate,omitempty,omitzero"`

	// remediation limits how unhealthy machines are replaced.
	// +optional
	Remediation KubeadmControlPlaneRemediation `json:"remediation,omitempty,omitzero"`

	// rollout says when and how machines are replaced.
	// +optional
	Rollout KubeadmControlPlaneRollout `json:"rollout,omitempty,omitzero"`
}

// KubeadmControlPlaneTemplateResourceMachineTemplate is the pattern of the machines.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneTemplateResourceMachineTemplate struct {
	// metadata are labels and annotations of Machines and of the objects that belong to them.
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is what the Machines have in common.
	// +optional
	Spec KubeadmControlPlaneTemplateResourceMachineTemplateSpec `json:"spec,omitempty,omitzero"`
}

// KubeadmControlPlaneTemplateResourceMachineTemplateSpec is what the Machines have in common.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneTemplateResourceMachineTemplateSpec struct {
	// deletion says how long each step of a machine's deletion may take. A change reaches existing machines in place.
	// +optional
	Deletion clusterv1.MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// taints are taints of the Nodes. Needs the feature gate MachineTaintPropagation.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []clusterv1.MachineTaint `json:"taints,omitempty"`
}
