package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=ipaddressclaims,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Pool Name",type="string",JSONPath=".spec.poolRef.name"
// +kubebuilder:printcolumn:name="Pool Kind",type="string",JSONPath=".spec.poolRef.kind"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// IPAddressClaim asks a pool for an address.
type IPAddressClaim struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec IPAddressClaimSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status IPAddressClaimStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *IPAddressClaim) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *IPAddressClaim) SetConditions(conditions []metav1.Condition) {
	x.Status.Conditions = conditions
}

// +kubebuilder:object:root=true

// IPAddressClaimList is a list of IPAddressClaim.
type IPAddressClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []IPAddressClaim `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &IPAddressClaim{}, &IPAddressClaimList{})
}

// IPAddressClaimSpec says from which pool the address shall come.
type IPAddressClaimSpec struct {
	// clusterName is the Cluster for which the address is; the claim is paused and moved with it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// poolRef names the pool, an object of an IPAM provider.
	// +required
	PoolRef clusterv1.ContractVersionedObjectReference `json:"poolRef,omitempty,omitzero"`
}

// IPAddressClaimStatus tells which address was given.
// +kubebuilder:validation:MinProperties=1
type IPAddressClaimStatus struct {
	// addressRef names the IPAddress that fulfils the claim.
	// +optional
	AddressRef clusterv1.MachineNodeReference `json:"addressRef,omitempty,omitzero"`

	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated holds what earlier API versions reported. Nothing acts on it.
	// +optional
	Deprecated clusterv1.MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`
}
