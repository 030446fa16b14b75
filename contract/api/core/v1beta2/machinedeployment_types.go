package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=machinedeployments,scope=Namespaced,shortName=md,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type==\"Available\")].status"
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

// MachineDeployment ...
type MachineDeployment struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec MachineDeploymentSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status MachineDeploymentStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *MachineDeployment) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *MachineDeployment) SetConditions(conditions []metav1.Condition) {
	x.Status.Conditions = conditions
}

// +kubebuilder:object:root=true

// MachineDeploymentList is a list of MachineDeployment.
type MachineDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []MachineDeployment `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &MachineDeployment{}, &MachineDeploymentList{})
}

// MachineDeploymentSpec ...
type MachineDeploymentSpec struct {
	// clusterName ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// deletion ...
	// +optional
	Deletion MachineSetDeletion `json:"deletion,omitempty,omitzero"`

	// machineNaming ...
	// +optional
	MachineNaming MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`

	// paused ...
	// +optional
	Paused *bool `json:"paused,omitempty"`

	// remediation ...
	// +optional
	Remediation MachineDeploymentRemediation `json:"remediation,omitempty,omitzero"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// rollout ...
	// +optional
	Rollout MachineDeploymentRollout `json:"rollout,omitempty,omitzero"`

	// selector ...
	// +required
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`

	// template ...
	// +required
	Template MachineTemplateSpec `json:"template,omitempty,omitzero"`
}

// MachineDeploymentRemediation ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentRemediation struct {
	// maxInFlight ...
	// +optional
	MaxInFlight *intstr.IntOrString `json:"maxInFlight,omitempty"`
}

// MachineDeploymentRollout ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentRollout struct {
	// after ...
	// +optional
	After metav1.Time `json:"after,omitempty,omitzero"`

	// strategy ...
	// +optional
	Strategy MachineDeploymentRolloutStrategy `json:"strategy,omitempty,omitzero"`
}

// MachineDeploymentRolloutStrategy ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentRolloutStrategy struct {
	// rollingUpdate ...
	// +optional
	RollingUpdate MachineDeploymentRollingUpdate `json:"rollingUpdate,omitempty,omitzero"`

	// type ...
	// +required
	// +kubebuilder:validation:Enum=RollingUpdate;OnDelete
	Type string `json:"type"`
}

// MachineDeploymentRollingUpdate ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentRollingUpdate struct {
	// maxSurge ...
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// maxUnavailable ...
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// MachineDeploymentStatus ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentStatus struct {
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
	Deprecated MachineDeploymentDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// observedGeneration ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase ...
	// +optional
	// +kubebuilder:validation:Enum=ScalingUp;ScalingDown;Running;Failed;Unknown
	Phase string `json:"phase,omitempty"`

	// readyReplicas ...
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// selector ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Selector string `json:"selector,omitempty"`

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

// MachineDeploymentDeprecatedStatus ...
type MachineDeploymentDeprecatedStatus struct {
	// v1beta1 ...
	// +optional
	V1Beta1 *MachineDeploymentDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// MachineDeploymentDeprecatedV1Beta1Status ...
type MachineDeploymentDeprecatedV1Beta1Status struct {
	// availableReplicas ...
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions ...
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`

	// readyReplicas ...
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// unavailableReplicas ...
	// +optional
	UnavailableReplicas *int32 `json:"unavailableReplicas,omitempty"`

	// updatedReplicas ...
	// +optional
	UpdatedReplicas *int32 `json:"updatedReplicas,omitempty"`
}
