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

// KubeadmControlPlane runs the control plane machines of one cluster: it makes, upgrades, repairs and removes them one
// at a time, and keeps etcd's quorum.
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

// KubeadmControlPlaneSpec says which control plane is wanted.
type KubeadmControlPlaneSpec struct {
	// kubeadmConfigSpec is how machines are set up. Most changes replace the machines one after the other.
	// +optional
	KubeadmConfigSpec bootstrapv1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// machineNaming says how machines are named.
	// +optional
	MachineNaming clusterv1.MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`

	// machineTemplate is the pattern of the machines.
	// +required
	MachineTemplate KubeadmControlPlaneMachineTemplate `json:"machineTemplate,omitempty,omitzero"`

	// remediation limits how unhealthy machines are replaced.
	// +optional
	Remediation KubeadmControlPlaneRemediation `json:"remediation,omitempty,omitzero"`

	// replicas is how many machines run; odd numbers only, unless etcd is external. Unset is 1.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// rollout says when and how machines are replaced.
	// +optional
	Rollout KubeadmControlPlaneRollout `json:"rollout,omitempty,omitzero"`

	// version is the Kubernetes version, such as v1.37.2. A change replaces the machines one after the other, by at most one
	// minor version at a time.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
}

// KubeadmControlPlaneMachineTemplate is the pattern of the machines.
type KubeadmControlPlaneMachineTemplate struct {
	// metadata are labels and annotations of Machines and of the objects that belong to them. A change reaches existing ones
	// in place.
	// +optional
	Metadata clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is what the Machines have in common.
	// +required
	Spec KubeadmControlPlaneMachineTemplateSpec `json:"spec,omitempty,omitzero"`
}

// KubeadmControlPlaneMachineTemplateSpec is what the Machines have in common.
type KubeadmControlPlaneMachineTemplateSpec struct {
	// deletion says how long each step of a machine's deletion may take. A change reaches existing machines in place.
	// +optional
	Deletion clusterv1.MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// infrastructureRef is the template of the infrastructure machines. A change of its name or kind replaces the machines.
	// +required
	InfrastructureRef clusterv1.ContractVersionedObjectReference `json:"infrastructureRef,omitempty,omitzero"`

	// readinessGates are further conditions that a Machine must have to be ready. A change reaches existing machines in
	// place.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []clusterv1.ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// taints are taints of the Nodes. A change reaches existing ones in place. Needs the feature gate
	// MachineTaintPropagation.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []clusterv1.MachineTaint `json:"taints,omitempty"`
}

// KubeadmControlPlaneRemediation limits how unhealthy machines are replaced.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRemediation struct {
	// maxRetry is how often a replacement that fails again is replaced; unset is without limit.
	// +optional
	MaxRetry *int32 `json:"maxRetry,omitempty"`

	// minHealthyPeriodSeconds is how long a replacement must be healthy before its failure counts as a new one, in seconds;
	// unset is 3600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinHealthyPeriodSeconds *int32 `json:"minHealthyPeriodSeconds,omitempty"`

	// retryPeriodSeconds is the time between two attempts, in seconds; unset is 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RetryPeriodSeconds *int32 `json:"retryPeriodSeconds,omitempty"`
}

// KubeadmControlPlaneRollout says when and how machines are replaced.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRollout struct {
	// after is a time; once it is past, machines that are older than it are replaced.
	// +optional
	After metav1.Time `json:"after,omitempty,omitzero"`

	// before replaces machines before something about them ends.
	// +optional
	Before KubeadmControlPlaneRolloutBefore `json:"before,omitempty,omitzero"`

	// strategy is the manner of replacing.
	// +optional
	Strategy KubeadmControlPlaneRolloutStrategy `json:"strategy,omitempty,omitzero"`
}

// KubeadmControlPlaneRolloutBefore replaces machines before something about them ends.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRolloutBefore struct {
	// certificatesExpiryDays replaces a machine this many days before its certificates expire; unset never does.
	// +optional
	// +kubebuilder:validation:Minimum=7
	CertificatesExpiryDays int32 `json:"certificatesExpiryDays,omitempty"`
}

// KubeadmControlPlaneRolloutStrategy is the manner of replacing.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRolloutStrategy struct {
	// rollingUpdate is how machines are replaced one after the other.
	// +optional
	RollingUpdate KubeadmControlPlaneRollingUpdate `json:"rollingUpdate,omitempty,omitzero"`

	// type is RollingUpdate, the only one there is.
	// +required
	// +kubebuilder:validation:Enum=RollingUpdate
	Type string `json:"type"`
}

// KubeadmControlPlaneRollingUpdate is how machines are replaced one after the other.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneRollingUpdate struct {
	// maxSurge is how many machines more than replicas may exist: 1, the default, makes the new one first; 0 removes the old
	// one first and needs at least three machines.
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}

// KubeadmControlPlaneStatus is what is known about a control plane.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneStatus struct {
	// availableReplicas is how many machines are available.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions say what is well and what is not, and why.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated holds what only readers of older API versions look at.
	// +optional
	Deprecated KubeadmControlPlaneDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// initialization is what the Cluster waits for.
	// +optional
	Initialization KubeadmControlPlaneInitializationStatus `json:"initialization,omitempty,omitzero"`

	// lastRemediation is the newest replacement of an unhealthy machine.
	// +optional
	LastRemediation KubeadmControlPlaneLastRemediationStatus `json:"lastRemediation,omitempty,omitzero"`

	// observedGeneration is the newest generation of the spec that the controller has dealt with.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// readyReplicas is how many machines are ready.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas is how many machines exist.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// selector is the label selector of the machines, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Selector string `json:"selector,omitempty"`

	// upToDateReplicas is how many machines are as the spec wants them.
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// version is the oldest Kubernetes version that runs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// versions are the Kubernetes versions that run, oldest first, with their numbers of machines.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=version
	Versions []clusterv1.StatusVersion `json:"versions,omitempty"`
}

// KubeadmControlPlaneDeprecatedStatus holds what only readers of older API versions look at.
type KubeadmControlPlaneDeprecatedStatus struct {
	// v1beta1 holds what only readers of v1beta1 look at.
	// +optional
	V1Beta1 *KubeadmControlPlaneDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// KubeadmControlPlaneDeprecatedV1Beta1Status holds what only readers of v1beta1 look at.
type KubeadmControlPlaneDeprecatedV1Beta1Status struct {
	// conditions say what is well and what is not, and why.
	// +optional
	Conditions []clusterv1.Condition `json:"conditions,omitempty"`

	// failureMessage says what has failed for good, for readers of v1beta1.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage string `json:"failureMessage,omitempty"`

	// failureReason is the word for what has failed for good, for readers of v1beta1.
	// +optional
	FailureReason string `json:"failureReason,omitempty"`

	// readyReplicas is how many Nodes are ready, for readers of v1beta1.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// unavailableReplicas is how many machines are missing or not ready, for readers of v1beta1.
	// +optional
	UnavailableReplicas *int32 `json:"unavailableReplicas,omitempty"`

	// updatedReplicas is how many machines are as the spec wants them, for readers of v1beta1.
	// +optional
	UpdatedReplicas *int32 `json:"updatedReplicas,omitempty"`
}

// KubeadmControlPlaneInitializationStatus is what the Cluster waits for.
// +kubebuilder:validation:MinProperties=1
type KubeadmControlPlaneInitializationStatus struct {
	// controlPlaneInitialized is true once the first machine runs an API server; it never becomes false again.
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`
}

// KubeadmControlPlaneLastRemediationStatus is a replacement of an unhealthy machine.
type KubeadmControlPlaneLastRemediationStatus struct {
	// machine is the machine that was replaced.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Machine string `json:"machine,omitempty"`

	// retryCount is how many attempts preceded this one without success.
	// +required
	// +kubebuilder:validation:Minimum=0
	RetryCount int32 `json:"retryCount"`

	// time is when it was replaced.
	// +required
	Time metav1.Time `json:"time,omitempty,omitzero"`
}
