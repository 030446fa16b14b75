package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=machines,scope=Namespaced,shortName=ma,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Node Name",type="string",JSONPath=".status.nodeRef.name"
// +kubebuilder:printcolumn:name="Provider ID",type="string",JSONPath=".spec.providerID"
// +kubebuilder:printcolumn:name="Failure domain",type="string",JSONPath=".status.failureDomain"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type==\"Available\")].status"
// +kubebuilder:printcolumn:name="Up-to-date",type="string",JSONPath=".status.conditions[?(@.type==\"UpToDate\")].status"
// +kubebuilder:printcolumn:name="Internal-IP",type="string",JSONPath=".status.addresses[?(@.type==\"InternalIP\")].address"
// +kubebuilder:printcolumn:name="External-IP",type="string",JSONPath=".status.addresses[?(@.type==\"ExternalIP\")].address"
// +kubebuilder:printcolumn:name="OS-Image",type="string",JSONPath=".status.nodeInfo.osImage"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Phase",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.version"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// Machine is one machine that becomes one Node. It never changes its infrastructure; another machine is another Machine.
type Machine struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec MachineSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status MachineStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *Machine) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *Machine) SetConditions(conditions []metav1.Condition) { x.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// MachineList is a list of Machine.
type MachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []Machine `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &Machine{}, &MachineList{})
}

// MachineSpec is the machine as it should be.
type MachineSpec struct {
	// bootstrap says how the machine is turned into a Node.
	// +required
	Bootstrap Bootstrap `json:"bootstrap,omitempty,omitzero"`

	// clusterName is the Cluster that the object belongs to, in the same namespace. It cannot be changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// deletion says how Machines are deleted: for how long their nodes are drained and volumes detached. Unset takes the
	// values of the class.
	// +optional
	Deletion MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// failureDomain is where the machine must run, one of the names in the Cluster's status.failureDomains. Unset leaves it
	// to the infrastructure.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// infrastructureRef names the infrastructure object, in a template of Machines the template of it.
	// +required
	InfrastructureRef ContractVersionedObjectReference `json:"infrastructureRef,omitempty,omitzero"`

	// minReadySeconds is for how long a Machine must be Ready before it counts as available. Default 0. It changes in place.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// providerID is the name that the infrastructure gives the machine. It is how the Node is found, and is filled in by the
	// controller.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// readinessGates lists further conditions that the Machine must have to be Ready. They are updated in place.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []MachineReadinessGate `json:"readinessGates,omitempty"`

	// taints lists taints for the Nodes, brought in place to Nodes that exist. It needs the feature MachineTaintPropagation.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`

	// version is the Kubernetes version that the machine shall run.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
}

// Bootstrap says where the data comes from that turns a machine into a Node.
type Bootstrap struct {
	// configRef names the object that makes the data, in a template of Machines the template of it.
	// +optional
	ConfigRef ContractVersionedObjectReference `json:"configRef,omitempty,omitzero"`

	// dataSecretName is the Secret that holds the data. It is filled in from the bootstrap object; set by hand it replaces
	// one.
	// +optional
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=253
	DataSecretName *string `json:"dataSecretName,omitempty"`
}

// ContractVersionedObjectReference names an object in the same namespace. Its API version is found from the labels of
// its CustomResourceDefinition.
type ContractVersionedObjectReference struct {
	// apiGroup is the API group of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	APIGroup string `json:"apiGroup,omitempty"`

	// kind is the kind of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`
	Kind string `json:"kind,omitempty"`

	// name is the name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`
}

// MachineDeletionSpec says how long the steps of a deletion may take.
// +kubebuilder:validation:MinProperties=1
type MachineDeletionSpec struct {
	// nodeDeletionTimeoutSeconds is for how long the deletion of the Node is tried after its machine is gone; 0 tries for
	// ever. Default 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeDeletionTimeoutSeconds *int32 `json:"nodeDeletionTimeoutSeconds,omitempty"`

	// nodeDrainTimeoutSeconds is for how long a Node may be drained before deletion goes on regardless. Unset or 0 waits for
	// ever.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeDrainTimeoutSeconds *int32 `json:"nodeDrainTimeoutSeconds,omitempty"`

	// nodeVolumeDetachTimeoutSeconds is for how long volumes may take to detach before deletion goes on regardless. Unset or
	// 0 waits for ever.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeVolumeDetachTimeoutSeconds *int32 `json:"nodeVolumeDetachTimeoutSeconds,omitempty"`
}

// MachineReadinessGate names a condition that must be good before a Machine is Ready.
type MachineReadinessGate struct {
	// conditionType is the type of the condition, as in status.conditions.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
	ConditionType string `json:"conditionType,omitempty"`

	// polarity says which status is good: Positive means True, Negative means False. Default Positive.
	// +optional
	// +kubebuilder:validation:Enum=Positive;Negative
	Polarity string `json:"polarity,omitempty"`
}

// MachineTaint is a taint that the Node of a Machine shall have.
type MachineTaint struct {
	// effect is NoSchedule, PreferNoSchedule or NoExecute.
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect string `json:"effect"`

	// key is the key of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	Key string `json:"key,omitempty"`

	// propagation says how far the controller cares: Always puts the taint back when it is gone, OnInitialization sets it
	// once.
	// +required
	// +kubebuilder:validation:Enum=Always;OnInitialization
	Propagation string `json:"propagation"`

	// value is the value of the taint.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	Value string `json:"value,omitempty"`
}

// MachineStatus is the machine as it was observed.
// +kubebuilder:validation:MinProperties=1
type MachineStatus struct {
	// addresses lists the addresses that the infrastructure reports.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	Addresses []MachineAddress `json:"addresses,omitempty"`

	// certificatesExpiryDate is when the control plane certificates on the machine end. It is set on control plane Machines
	// only.
	// +optional
	CertificatesExpiryDate metav1.Time `json:"certificatesExpiryDate,omitempty,omitzero"`

	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deletion records when the steps of the deletion began.
	// +optional
	Deletion *MachineDeletionStatus `json:"deletion,omitempty"`

	// deprecated holds what earlier API versions reported. Nothing acts on it.
	// +optional
	Deprecated MachineDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// failureDomain is where the machine does run.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// initialization records steps that happen once and are never taken back. It serves the order of creation, not the
	// watching of health.
	// +optional
	Initialization MachineInitializationStatus `json:"initialization,omitempty,omitzero"`

	// lastUpdated is when the phase changed last.
	// +optional
	LastUpdated metav1.Time `json:"lastUpdated,omitempty,omitzero"`

	// nodeInfo is what the kubelet reports of the system: versions, kernel, architecture.
	// +optional
	NodeInfo corev1.NodeSystemInfo `json:"nodeInfo,omitempty,omitzero"`

	// nodeRef names the Node in the workload cluster.
	// +optional
	NodeRef MachineNodeReference `json:"nodeRef,omitempty,omitzero"`

	// observedGeneration is the generation of the spec that this status belongs to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase sums the state up in one word for people. Nothing decides by it.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Provisioning;Provisioned;Running;Updating;Deleting;Deleted;Failed;Unknown
	Phase string `json:"phase,omitempty"`
}

// MachineAddress is one address of a machine.
type MachineAddress struct {
	// address is a DNS name or an IP address.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Address string `json:"address,omitempty"`

	// type is Hostname, ExternalIP, InternalIP, ExternalDNS or InternalDNS.
	// +required
	// +kubebuilder:validation:Enum=Hostname;ExternalIP;InternalIP;ExternalDNS;InternalDNS
	Type string `json:"type"`
}

// MachineDeletionStatus records when the steps of a deletion began.
type MachineDeletionStatus struct {
	// nodeDrainStartTime is when draining began; the drain timeout counts from it.
	// +optional
	NodeDrainStartTime metav1.Time `json:"nodeDrainStartTime,omitempty,omitzero"`

	// waitForNodeVolumeDetachStartTime is when the wait for volumes began; its timeout counts from it.
	// +optional
	WaitForNodeVolumeDetachStartTime metav1.Time `json:"waitForNodeVolumeDetachStartTime,omitempty,omitzero"`

	// waitForPreDrainHookStartTime is when the wait for pre-drain hooks began.
	// +optional
	WaitForPreDrainHookStartTime metav1.Time `json:"waitForPreDrainHookStartTime,omitempty,omitzero"`

	// waitForPreTerminateHookStartTime is when the wait for pre-terminate hooks began.
	// +optional
	WaitForPreTerminateHookStartTime metav1.Time `json:"waitForPreTerminateHookStartTime,omitempty,omitzero"`
}

// MachineDeprecatedStatus holds what earlier API versions reported.
type MachineDeprecatedStatus struct {
	// v1beta1 holds what the API version v1beta1 reported.
	// +optional
	V1Beta1 *MachineDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// MachineDeprecatedV1Beta1Status is what v1beta1 reported in the status.
type MachineDeprecatedV1Beta1Status struct {
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
}

// Condition is a condition in the form of API version v1beta1, with a severity.
type Condition struct {
	// lastTransitionTime is when the status changed last.
	// +required
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty,omitzero"`

	// message is a sentence for people.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Message string `json:"message,omitempty"`

	// reason is a word for machines.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// severity is Error, Warning or Info, and empty while the status is True.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Severity string `json:"severity,omitempty"`

	// status is True, False or Unknown.
	// +required
	Status string `json:"status"`

	// type is the name of the condition.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Type string `json:"type,omitempty"`
}

// MachineInitializationStatus records the first steps of a machine.
// +kubebuilder:validation:MinProperties=1
type MachineInitializationStatus struct {
	// bootstrapDataSecretCreated turns true when the bootstrap data is there.
	// +optional
	BootstrapDataSecretCreated *bool `json:"bootstrapDataSecretCreated,omitempty"`

	// infrastructureProvisioned turns true when the machine has been provisioned.
	// +optional
	InfrastructureProvisioned *bool `json:"infrastructureProvisioned,omitempty"`
}

// MachineNodeReference names an object whose kind is known.
type MachineNodeReference struct {
	// name is the name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`
}
