package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=kubeadmcontrolplanes,scope=Namespaced,shortName=kcp,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type==\"Available\")].status"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".spec.replicas"
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.replicas"
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.readyReplicas"
// +kubebuilder:printcolumn:name="Available",type="integer",JSONPath=".status.availableReplicas"
// +kubebuilder:printcolumn:name="Up-to-date",type="integer",JSONPath=".status.upToDateReplicas"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Initialized",type="string",JSONPath=".status.initialization.controlPlaneInitialized"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.version"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// KubeadmControlPlane ...
type KubeadmControlPlane struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec KubeadmControlPlaneSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status KubeadmControlPlaneStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *KubeadmControlPlane) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *KubeadmControlPlane) SetConditions(conditions []metav1.Condition) {
	x.Status.Conditions = conditions
}

// +kubebuilder:object:root=true

// KubeadmControlPlaneList is a list of KubeadmControlPlane.
type KubeadmControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []KubeadmControlPlane `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &KubeadmControlPlane{}, &KubeadmControlPlaneList{})
}

// KubeadmControlPlaneSpec ...
type KubeadmControlPlaneSpec struct {
	// kubeadmConfigSpec ...
	// +optional
	KubeadmConfigSpec bootstrapv1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// machineNaming ...
	// +optional
	MachineNaming clusterv1.MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`

	// machineTemplate ...
	// +required
	MachineTemplate KubeadmControlPlaneMachineTemplate `json:"machineTemplate,omitempty,omitzero"`

	// remediation ...
	// +optional
	Remediation KubeadmControlPlaneRemediation `json:"remediation,omitempty,omitzero"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// rollout ...
	// +optional
	Rollout KubeadmControlPlaneRollout `json:"rollout,omitempty,omitzero"`

	// version ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
}

// KubeadmControlPlaneMachineTemplate ...
type KubeadmControlPlaneMachineTemplate struct {
	// metadata ...
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec ...
	// +required
	Spec KubeadmControlPlaneMachineTemplateSpec `json:"spec,omitempty,omitzero"`
}

// KubeadmControlPlaneMachineTemplateSpec ...
type KubeadmControlPlaneMachineTemplateSpec struct {
	// deletion ...
	// +optional
	Deletion clusterv1.MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// infrastructureRef ...
	// +required
	InfrastructureRef clusterv1.ContractVersionedObjectReference `json:"infrastructureRef,omitempty,omitzero"`

	// readinessGates ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []clusterv1.ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// taints ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []clusterv1.MachineTaint `json:"taints,omitempty"`
}

// KubeadmControlPlaneRemediation ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRemediation struct {
	// maxRetry ...
	// +optional
	MaxRetry *int32 `json:"maxRetry,omitempty"`

	// minHealthyPeriodSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinHealthyPeriodSeconds *int32 `json:"minHealthyPeriodSeconds,omitempty"`

	// retryPeriodSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	RetryPeriodSeconds *int32 `json:"retryPeriodSeconds,omitempty"`
}

// KubeadmControlPlaneRollout ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRollout struct {
	// after ...
	// +optional
	After metav1.Time `json:"after,omitempty,omitzero"`

	// before ...
	// +optional
	Before KubeadmControlPlaneRolloutBefore `json:"before,omitempty,omitzero"`

	// strategy ...
	// +optional
	Strategy KubeadmControlPlaneRolloutStrategy `json:"strategy,omitempty,omitzero"`
}

// KubeadmControlPlaneRolloutBefore ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRolloutBefore struct {
	// certificatesExpiryDays ...
	// +optional
	// +kubebuilder:validation:Minimum=7
	CertificatesExpiryDays int32 `json:"certificatesExpiryDays,omitempty"`
}

// KubeadmControlPlaneRolloutStrategy ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRolloutStrategy struct {
	// rollingUpdate ...
	// +optional
	RollingUpdate KubeadmControlPlaneRollingUpdate `json:"rollingUpdate,omitempty,omitzero"`

	// type ...
	// +required
	// +kubebuilder:validation:Enum=RollingUpdate
	Type string `json:"type"`
}

// KubeadmControlPlaneRollingUpdate ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRollingUpdate struct {
	// maxSurge ...
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}

// KubeadmControlPlaneStatus ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneStatus struct {
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
	Deprecated KubeadmControlPlaneDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// initialization ...
	// +optional
	Initialization KubeadmControlPlaneInitializationStatus `json:"initialization,omitempty,omitzero"`

	// lastRemediation ...
	// +optional
	LastRemediation KubeadmControlPlaneLastRemediationStatus `json:"lastRemediation,omitempty,omitzero"`

	// observedGeneration ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

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

	// version ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// versions ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=version
	Versions []clusterv1.StatusVersion `json:"versions,omitempty"`
}

// KubeadmControlPlaneDeprecatedStatus ...
type KubeadmControlPlaneDeprecatedStatus struct {
	// v1beta1 ...
	// +optional
	V1Beta1 *KubeadmControlPlaneDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// KubeadmControlPlaneDeprecatedV1Beta1Status ...
type KubeadmControlPlaneDeprecatedV1Beta1Status struct {
	// conditions ...
	// +optional
	Conditions []clusterv1.Condition `json:"conditions,omitempty"`

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

	// updatedReplicas ...
	// +optional
	UpdatedReplicas *int32 `json:"updatedReplicas,omitempty"`
}

// KubeadmControlPlaneInitializationStatus ...
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneInitializationStatus struct {
	// controlPlaneInitialized ...
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`
}

// KubeadmControlPlaneLastRemediationStatus ...
type KubeadmControlPlaneLastRemediationStatus struct {
	// machine ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Machine string `json:"machine,omitempty"`

	// retryCount ...
	// +required
	// +kubebuilder:validation:Minimum=0
	RetryCount int32 `json:"retryCount"`

	// time ...
	// +required
	Time metav1.Time `json:"time,omitempty,omitzero"`
}
