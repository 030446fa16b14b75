package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=machinepools,scope=Namespaced,shortName=mp,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".spec.replicas"
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.replicas"
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.readyReplicas"
// +kubebuilder:printcolumn:name="Available",type="integer",JSONPath=".status.availableReplicas"
// +kubebuilder:printcolumn:name="Up-to-date",type="integer",JSONPath=".status.upToDateReplicas"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Phase",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.template.spec.version"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// MachinePool ...
type MachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec MachinePoolSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status MachinePoolStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *MachinePool) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *MachinePool) SetConditions(conditions []metav1.Condition) { x.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// MachinePoolList is a list of MachinePool.
type MachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []MachinePool `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &MachinePool{}, &MachinePoolList{})
}

// MachinePoolSpec ...
type MachinePoolSpec struct {
	// clusterName ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// failureDomains ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	FailureDomains []string `json:"failureDomains,omitempty"`

	// providerIDList ...
	// +optional
	// +kubebuilder:validation:MaxItems=10000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// template ...
	// +required
	Template MachineTemplateSpec `json:"template,omitempty,omitzero"`
}

// MachinePoolStatus ...
// +kubebuilder:validation:MinProperties=1
type MachinePoolStatus struct {
	// availableReplicas ...
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated ...
	// +optional
	Deprecated MachinePoolDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// initialization ...
	// +optional
	Initialization MachineInitializationStatus `json:"initialization,omitempty,omitzero"`

	// nodeRefs ...
	// +optional
	// +kubebuilder:validation:MaxItems=10000
	// +listType=atomic
	NodeRefs []corev1.ObjectReference `json:"nodeRefs,omitempty"`

	// observedGeneration ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase ...
	// +optional
	// +kubebuilder:validation:Enum=Pending;Provisioning;Provisioned;Running;ScalingUp;ScalingDown;Scaling;Deleting;Failed;Unknown
	Phase string `json:"phase,omitempty"`

	// readyReplicas ...
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// upToDateReplicas ...
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// versions ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=version
	Versions []StatusVersion `json:"versions,omitempty"`
}

// MachinePoolDeprecatedStatus ...
type MachinePoolDeprecatedStatus struct {
	// v1beta1 ...
	// +optional
	V1Beta1 *MachinePoolDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// MachinePoolDeprecatedV1Beta1Status ...
type MachinePoolDeprecatedV1Beta1Status struct {
	// availableReplicas ...
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions ...
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`

	// failureMessage ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage string `json:"failureMessage,omitempty"`

	// failureReason ...
	// +optional
	FailureReason string `json:"failureReason,omitempty"`

	// readyReplicas ...
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// unavailableReplicas ...
	// +optional
	UnavailableReplicas *int32 `json:"unavailableReplicas,omitempty"`
}
