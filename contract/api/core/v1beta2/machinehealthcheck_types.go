package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=machinehealthchecks,scope=Namespaced,shortName=mhc;mhcs,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".status.expectedMachines"
// +kubebuilder:printcolumn:name="Healthy",type="integer",JSONPath=".status.currentHealthy"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// MachineHealthCheck ...
type MachineHealthCheck struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec MachineHealthCheckSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status MachineHealthCheckStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *MachineHealthCheck) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *MachineHealthCheck) SetConditions(conditions []metav1.Condition) {
	x.Status.Conditions = conditions
}

// +kubebuilder:object:root=true

// MachineHealthCheckList is a list of MachineHealthCheck.
type MachineHealthCheckList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []MachineHealthCheck `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &MachineHealthCheck{}, &MachineHealthCheckList{})
}

// MachineHealthCheckSpec ...
type MachineHealthCheckSpec struct {
	// checks ...
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// clusterName ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// remediation ...
	// +optional
	Remediation MachineHealthCheckRemediation `json:"remediation,omitempty,omitzero"`

	// selector ...
	// +required
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`
}

// MachineHealthCheckChecks ...
// +kubebuilder:validation:MinProperties=1
type MachineHealthCheckChecks struct {
	// nodeStartupTimeoutSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeStartupTimeoutSeconds *int32 `json:"nodeStartupTimeoutSeconds,omitempty"`

	// unhealthyMachineConditions ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	UnhealthyMachineConditions []UnhealthyMachineCondition `json:"unhealthyMachineConditions,omitempty"`

	// unhealthyNodeConditions ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	UnhealthyNodeConditions []UnhealthyNodeCondition `json:"unhealthyNodeConditions,omitempty"`
}

// UnhealthyMachineCondition ...
type UnhealthyMachineCondition struct {
	// status ...
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Status string `json:"status"`

	// timeoutSeconds ...
	// +required
	// +kubebuilder:validation:Minimum=0
	TimeoutSeconds int32 `json:"timeoutSeconds"`

	// type ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['Ready','Available','HealthCheckSucceeded','OwnerRemediated','ExternallyRemediated'])",message="type must not be one of Ready, Available, HealthCheckSucceeded, OwnerRemediated, ExternallyRemediated: they depend on health checks themselves"
	Type string `json:"type,omitempty"`
}

// UnhealthyNodeCondition ...
type UnhealthyNodeCondition struct {
	// status ...
	// +required
	// +kubebuilder:validation:MinLength=1
	Status string `json:"status,omitempty"`

	// timeoutSeconds ...
	// +required
	// +kubebuilder:validation:Minimum=0
	TimeoutSeconds int32 `json:"timeoutSeconds"`

	// type ...
	// +required
	// +kubebuilder:validation:MinLength=1
	Type string `json:"type,omitempty"`
}

// MachineHealthCheckRemediation ...
// +kubebuilder:validation:MinProperties=1
type MachineHealthCheckRemediation struct {
	// templateRef ...
	// +optional
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`

	// triggerIf ...
	// +optional
	TriggerIf MachineHealthCheckRemediationTriggerIf `json:"triggerIf,omitempty,omitzero"`
}

// MachineHealthCheckRemediationTemplateReference ...
type MachineHealthCheckRemediationTemplateReference struct {
	// apiVersion ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[a-z]([-a-z0-9]*[a-z0-9])?$`
	APIVersion string `json:"apiVersion,omitempty"`

	// kind ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`
	Kind string `json:"kind,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`
}

// MachineHealthCheckRemediationTriggerIf ...
// +kubebuilder:validation:MinProperties=1
type MachineHealthCheckRemediationTriggerIf struct {
	// unhealthyInRange ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^\[[0-9]+-[0-9]+\]$`
	UnhealthyInRange string `json:"unhealthyInRange,omitempty"`

	// unhealthyLessThanOrEqualTo ...
	// +optional
	UnhealthyLessThanOrEqualTo *intstr.IntOrString `json:"unhealthyLessThanOrEqualTo,omitempty"`
}

// MachineHealthCheckStatus ...
// +kubebuilder:validation:MinProperties=1
type MachineHealthCheckStatus struct {
	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// currentHealthy ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	CurrentHealthy *int32 `json:"currentHealthy,omitempty"`

	// deprecated ...
	// +optional
	Deprecated MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// expectedMachines ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	ExpectedMachines *int32 `json:"expectedMachines,omitempty"`

	// observedGeneration ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// remediationsAllowed ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	RemediationsAllowed *int32 `json:"remediationsAllowed,omitempty"`

	// targets ...
	// +optional
	// +kubebuilder:validation:MaxItems=10000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Targets []string `json:"targets,omitempty"`
}

// MachineHealthCheckDeprecatedStatus ...
type MachineHealthCheckDeprecatedStatus struct {
	// v1beta1 ...
	// +optional
	V1Beta1 *MachineHealthCheckDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// MachineHealthCheckDeprecatedV1Beta1Status ...
type MachineHealthCheckDeprecatedV1Beta1Status struct {
	// conditions ...
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
}
