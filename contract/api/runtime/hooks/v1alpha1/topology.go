package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Variable is the value of a variable.
type Variable struct {
	// name is the name of the variable.
	Name string `json:"name"`

	// value is any JSON value.
	Value clusterv1.JSON `json:"value"`
}

// HolderReference says who refers to a template, and in which field.
type HolderReference struct {
	// apiVersion is group and version of the holder.
	APIVersion string `json:"apiVersion"`

	// kind is the kind of the holder.
	Kind string `json:"kind"`

	// namespace is the namespace of the holder.
	Namespace string `json:"namespace"`

	// name is the name of the holder.
	Name string `json:"name"`

	// fieldPath is the field of the holder that refers to the template.
	FieldPath string `json:"fieldPath"`
}

// GeneratePatchesRequestItem is one template.
type GeneratePatchesRequestItem struct {
	// uid identifies the template within the request and its response.
	UID types.UID `json:"uid"`

	// holderReference says who refers to the template.
	HolderReference HolderReference `json:"holderReference"`

	// object is the template.
	Object runtime.RawExtension `json:"object"`

	// variables lists those that only this template has.
	Variables []Variable `json:"variables,omitempty"`
}

// GeneratePatchesResponseItem is the change of one template.
type GeneratePatchesResponseItem struct {
	// uid is that of the template in the request.
	UID types.UID `json:"uid"`

	// patchType is JSONPatch or JSONMergePatch.
	PatchType PatchType `json:"patchType"`

	// patch is the change in the format of its type. It may change only spec.template.spec.
	Patch []byte `json:"patch"`
}

// ValidateTopologyRequestItem is one template after all patches.
type ValidateTopologyRequestItem struct {
	// holderReference says who refers to the template.
	HolderReference HolderReference `json:"holderReference"`

	// object is the template.
	Object runtime.RawExtension `json:"object"`

	// variables lists those that only this template has.
	Variables []Variable `json:"variables,omitempty"`
}

// GeneratePatchesRequest hands all templates of a cluster to an extension that computes changes of them.
// +kubebuilder:object:root=true
type GeneratePatchesRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// variables lists those of the whole cluster.
	Variables []Variable `json:"variables,omitempty"`

	// items lists the templates.
	Items []GeneratePatchesRequestItem `json:"items"`
}

// GeneratePatchesResponse holds the changes.
// +kubebuilder:object:root=true
type GeneratePatchesResponse struct {
	metav1.TypeMeta `json:",inline"`
	CommonResponse  `json:",inline"`

	// items lists the changes; templates that stay as they are need none.
	Items []GeneratePatchesResponseItem `json:"items,omitempty"`
}

// ValidateTopologyRequest hands all templates of a cluster, after all patches, to an extension that judges them.
// +kubebuilder:object:root=true
type ValidateTopologyRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// variables lists those of the whole cluster.
	Variables []Variable `json:"variables,omitempty"`

	// items lists the templates.
	Items []*ValidateTopologyRequestItem `json:"items"`
}

// ValidateTopologyResponse says by its status whether the templates are good.
// +kubebuilder:object:root=true
type ValidateTopologyResponse struct {
	metav1.TypeMeta `json:",inline"`
	CommonResponse  `json:",inline"`
}

// DiscoverVariablesRequest asks an extension which variables its patches use.
// +kubebuilder:object:root=true
type DiscoverVariablesRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`
}

// DiscoverVariablesResponse holds the definitions of the variables.
// +kubebuilder:object:root=true
type DiscoverVariablesResponse struct {
	metav1.TypeMeta `json:",inline"`
	CommonResponse  `json:",inline"`

	// variables lists the definitions.
	Variables []clusterv1.ClusterClassVariable `json:"variables,omitempty"`
}
