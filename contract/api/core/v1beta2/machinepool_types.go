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

// MachinePool is a group of equal machines that the infrastructure itself keeps, such as an auto-scaling group.
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

// MachinePoolSpec is the pool as it should be.
type MachinePoolSpec struct {
	// clusterName is the Cluster that the object belongs to, in the same namespace. It cannot be changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// failureDomains lists where the machines may run.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	FailureDomains []string `json:"failureDomains,omitempty"`

	// providerIDList lists the names of the machines in the infrastructure. It is filled in by the controller.
	// +optional
	// +kubebuilder:validation:MaxItems=10000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// replicas is the number of machines. Default 1; the annotation cluster.x-k8s.io/replicas-managed-by leaves it to the
	// infrastructure.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// template is what each new Machine is made from.
	// +required
	Template MachineTemplateSpec `json:"template,omitempty,omitzero"`
}

// MachinePoolStatus is the pool as it was observed.
// +kubebuilder:validation:MinProperties=1
type MachinePoolStatus struct {
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
	Deprecated MachinePoolDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// initialization records steps that happen once and are never taken back. It serves the order of creation, not the
	// watching of health.
	// +optional
	Initialization MachineInitializationStatus `json:"initialization,omitempty,omitzero"`

	// nodeRefs lists the Nodes of the pool.
	// +optional
	// +kubebuilder:validation:MaxItems=10000
	// +listType=atomic
	NodeRefs []corev1.ObjectReference `json:"nodeRefs,omitempty"`

	// observedGeneration is the generation of the spec that this status belongs to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase sums the state up in one word for people. Nothing decides by it.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Provisioning;Provisioned;Running;ScalingUp;ScalingDown;Scaling;Deleting;Failed;Unknown
	Phase string `json:"phase,omitempty"`

	// readyReplicas counts machines that are Ready.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas counts the machines that exist, those in deletion too.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

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

// MachinePoolDeprecatedStatus holds what earlier API versions reported.
type MachinePoolDeprecatedStatus struct {
	// v1beta1 holds what the API version v1beta1 reported.
	// +optional
	V1Beta1 *MachinePoolDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// MachinePoolDeprecatedV1Beta1Status is what v1beta1 reported in the status.
type MachinePoolDeprecatedV1Beta1Status struct {
	// availableReplicas counts machines that are Available.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`

	// failureMessage is the terminal problem in a sentence, as v1beta1 reported it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage string `json:"failureMessage,omitempty"`

	// failureReason is the terminal problem in a word, as v1beta1 reported it.
	// +optional
	FailureReason string `json:"failureReason,omitempty"`

	// readyReplicas counts machines that are Ready.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// unavailableReplicas counts machines that are not available, as v1beta1 reported it.
	// +optional
	UnavailableReplicas *int32 `json:"unavailableReplicas,omitempty"`
}
