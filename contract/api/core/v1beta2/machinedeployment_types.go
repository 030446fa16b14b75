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

// MachineDeployment keeps a number of equal Machines, and rolls them over to a new template step by step.
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

// MachineDeploymentSpec is the deployment as it should be.
type MachineDeploymentSpec struct {
	// clusterName is the Cluster that the object belongs to, in the same namespace. It cannot be changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// deletion says which Machines go first when fewer are wanted.
	// +optional
	Deletion MachineSetDeletion `json:"deletion,omitempty,omitzero"`

	// machineNaming says how Machines are named.
	// +optional
	MachineNaming MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`

	// paused stops rollouts: no MachineSet is made for a new template, and changes of replicas are spread over those that
	// exist.
	// +optional
	Paused *bool `json:"paused,omitempty"`

	// remediation limits the remediation of unhealthy Machines.
	// +optional
	Remediation MachineDeploymentRemediation `json:"remediation,omitempty,omitzero"`

	// replicas is the number of Machines. Default 1; an autoscaler may own it.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// rollout says when, and by which strategy, Machines are replaced.
	// +optional
	Rollout MachineDeploymentRollout `json:"rollout,omitempty,omitzero"`

	// selector matches the labels of the objects that belong to this one. It must match the labels of the template.
	// +required
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`

	// template is what each new Machine is made from. Changes of version, bootstrap, infrastructure or failure domain
	// replace Machines; the rest changes in place.
	// +required
	Template MachineTemplateSpec `json:"template,omitempty,omitzero"`
}

// MachineDeploymentRemediation limits the remediation of unhealthy Machines.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentRemediation struct {
	// maxInFlight is how many Machines may be under remediation at once, a number or a percentage of the replicas, rounded
	// up. Unset sets no limit.
	// +optional
	MaxInFlight *intstr.IntOrString `json:"maxInFlight,omitempty"`
}

// MachineDeploymentRollout says when, and how, Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentRollout struct {
	// after is a time: Machines of MachineSets created before it are replaced once it has come, even if the template is the
	// same.
	// +optional
	After metav1.Time `json:"after,omitempty,omitzero"`

	// strategy says how old Machines are replaced by new ones.
	// +optional
	Strategy MachineDeploymentRolloutStrategy `json:"strategy,omitempty,omitzero"`
}

// MachineDeploymentRolloutStrategy is a way of replacing Machines.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentRolloutStrategy struct {
	// rollingUpdate sets the limits of a RollingUpdate.
	// +optional
	RollingUpdate MachineDeploymentRollingUpdate `json:"rollingUpdate,omitempty,omitzero"`

	// type is RollingUpdate, which replaces Machines step by step, or OnDelete, which replaces a Machine when the user
	// deletes it.
	// +required
	// +kubebuilder:validation:Enum=RollingUpdate;OnDelete
	Type string `json:"type"`
}

// MachineDeploymentRollingUpdate sets the limits of a RollingUpdate.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentRollingUpdate struct {
	// maxSurge is how many Machines may exist above the replicas, a number or a percentage, rounded up. Default 1.
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// maxUnavailable is how many of the replicas may be unavailable, a number or a percentage, rounded down. Default 0. If
	// maxSurge is 0 too, it counts as 1.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// MachineDeploymentStatus is the deployment as it was observed.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentStatus struct {
	// availableReplicas counts machines that are Available.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated holds what earlier API versions reported. Nothing acts on it.
	// +optional
	Deprecated MachineDeploymentDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// observedGeneration is the generation of the spec that this status belongs to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase sums the state up in one word for people. Nothing decides by it.
	// +optional
	// +kubebuilder:validation:Enum=ScalingUp;ScalingDown;Running;Failed;Unknown
	Phase string `json:"phase,omitempty"`

	// readyReplicas counts machines that are Ready.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas counts the machines that exist, those in deletion too.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// selector is the selector as a string, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Selector string `json:"selector,omitempty"`

	// upToDateReplicas counts machines that already are as the spec wants them.
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// versions counts machines by Kubernetes version, the lowest version first.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=version
	Versions []StatusVersion `json:"versions,omitempty"`
}

// MachineDeploymentDeprecatedStatus holds what earlier API versions reported.
type MachineDeploymentDeprecatedStatus struct {
	// v1beta1 holds what the API version v1beta1 reported.
	// +optional
	V1Beta1 *MachineDeploymentDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// MachineDeploymentDeprecatedV1Beta1Status is what v1beta1 reported in the status.
type MachineDeploymentDeprecatedV1Beta1Status struct {
	// availableReplicas counts machines that are Available.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`

	// readyReplicas counts machines that are Ready.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// unavailableReplicas counts machines that are not available, as v1beta1 reported it.
	// +optional
	UnavailableReplicas *int32 `json:"unavailableReplicas,omitempty"`

	// updatedReplicas counts machines of the present template, as v1beta1 reported it.
	// +optional
	UpdatedReplicas *int32 `json:"updatedReplicas,omitempty"`
}
