package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=devmachinetemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// DevMachineTemplate is the pattern of DevMachines.
type DevMachineTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +optional
	Spec DevMachineTemplateSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status DevMachineTemplateStatus `json:"status,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// DevMachineTemplateList is a list of DevMachineTemplate.
type DevMachineTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []DevMachineTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &DevMachineTemplate{}, &DevMachineTemplateList{})
}

// DevMachineTemplateSpec holds the pattern. It must not change: make a new template and refer to that one.
type DevMachineTemplateSpec struct {
	// template is the pattern of the objects that are made from it.
	// +required
	Template DevMachineTemplateTemplate `json:"template,omitempty,omitzero"`
}

// DevMachineTemplateTemplate is the pattern of a DevMachine.
type DevMachineTemplateTemplate struct {
	// metadata are labels and annotations of the objects that are made from it.
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the objects that are made from it.
	// +required
	Spec DevMachineSpec `json:"spec,omitempty,omitzero"`
}

// DevMachineTemplateStatus is what is known about machines of this pattern.
type DevMachineTemplateStatus struct {
	// capacity is what a machine has: the CPUs and the memory of the host. It lets an autoscaler start from zero.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// nodeInfo is what kind of Node a machine becomes. It lets an autoscaler start from zero.
	// +optional
	NodeInfo DevMachineTemplateNodeInfo `json:"nodeInfo,omitempty,omitzero"`
}

// DevMachineTemplateNodeInfo is what kind of Node a machine becomes.
// +kubebuilder:validation:MinProperties=1
type DevMachineTemplateNodeInfo struct {
	// architecture is that of the processor.
	// +optional
	// +kubebuilder:validation:Enum=amd64;arm64;s390x;ppc64le
	Architecture string `json:"architecture,omitempty"`

	// operatingSystem is that of the machine.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	OperatingSystem string `json:"operatingSystem,omitempty"`
}
