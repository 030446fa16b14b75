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

// MachineHealthCheck watches Machines and has unhealthy ones replaced.
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

// MachineHealthCheckSpec says which Machines are watched, by which signs, and what happens.
type MachineHealthCheckSpec struct {
	// checks says by which signs a Machine is unhealthy.
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// clusterName is the Cluster that the object belongs to, in the same namespace. It cannot be changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// remediation says when, and how, unhealthy Machines are replaced.
	// +optional
	Remediation MachineHealthCheckRemediation `json:"remediation,omitempty,omitzero"`

	// selector picks the Machines of the cluster by labels. It must not be empty.
	// +required
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`
}

// MachineHealthCheckChecks lists the signs of illness; any one suffices.
// +kubebuilder:validation:MinProperties=1
type MachineHealthCheckChecks struct {
	// nodeStartupTimeoutSeconds is for how long a Machine may be without a Node; 0 means for ever. Default 600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeStartupTimeoutSeconds *int32 `json:"nodeStartupTimeoutSeconds,omitempty"`

	// unhealthyMachineConditions lists conditions of Machines that mean illness when they last.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	UnhealthyMachineConditions []UnhealthyMachineCondition `json:"unhealthyMachineConditions,omitempty"`

	// unhealthyNodeConditions lists conditions of Nodes that mean illness when they last.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	UnhealthyNodeConditions []UnhealthyNodeCondition `json:"unhealthyNodeConditions,omitempty"`
}

// UnhealthyMachineCondition is a condition of a Machine that means illness when it lasts.
type UnhealthyMachineCondition struct {
	// status is the status that means illness: True, False or Unknown.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Status string `json:"status"`

	// timeoutSeconds is for how long the condition must last.
	// +required
	// +kubebuilder:validation:Minimum=0
	TimeoutSeconds int32 `json:"timeoutSeconds"`

	// type is the type of the condition.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['Ready','Available','HealthCheckSucceeded','OwnerRemediated','ExternallyRemediated'])",message="type must not be one of Ready, Available, HealthCheckSucceeded, OwnerRemediated, ExternallyRemediated: they depend on health checks themselves"
	Type string `json:"type,omitempty"`
}

// UnhealthyNodeCondition is a condition of a Node that means illness when it lasts.
type UnhealthyNodeCondition struct {
	// status is the status that means illness: True, False or Unknown.
	// +required
	// +kubebuilder:validation:MinLength=1
	Status string `json:"status,omitempty"`

	// timeoutSeconds is for how long the condition must last.
	// +required
	// +kubebuilder:validation:Minimum=0
	TimeoutSeconds int32 `json:"timeoutSeconds"`

	// type is the type of the condition.
	// +required
	// +kubebuilder:validation:MinLength=1
	Type string `json:"type,omitempty"`
}

// MachineHealthCheckRemediation says when, and how, unhealthy Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type MachineHealthCheckRemediation struct {
	// templateRef names a template of objects by which an external controller remediates, instead of the deletion of the
	// Machine.
	// +optional
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`

	// triggerIf limits remediation to times when not too many Machines are unhealthy at once. Unset remediates always.
	// +optional
	TriggerIf MachineHealthCheckRemediationTriggerIf `json:"triggerIf,omitempty,omitzero"`
}

// MachineHealthCheckRemediationTemplateReference names a template together with its API version.
type MachineHealthCheckRemediationTemplateReference struct {
	// apiVersion is group and version of the template.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[a-z]([-a-z0-9]*[a-z0-9])?$`
	APIVersion string `json:"apiVersion,omitempty"`

	// kind is the kind of the template; it ends in Template.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`
	Kind string `json:"kind,omitempty"`

	// name is the name of the template, in the namespace of the object that refers to it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`
}

// MachineHealthCheckRemediationTriggerIf limits remediation by the number of unhealthy Machines.
// +kubebuilder:validation:MinProperties=1
type MachineHealthCheckRemediationTriggerIf struct {
	// unhealthyInRange is a range such as [3-5]: Machines are remediated only while the number of unhealthy ones is in it.
	// It wins over unhealthyLessThanOrEqualTo.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^\[[0-9]+-[0-9]+\]$`
	UnhealthyInRange string `json:"unhealthyInRange,omitempty"`

	// unhealthyLessThanOrEqualTo is the largest number of unhealthy Machines, or percentage rounded down, at which they are
	// still remediated. Default 100%.
	// +optional
	UnhealthyLessThanOrEqualTo *intstr.IntOrString `json:"unhealthyLessThanOrEqualTo,omitempty"`
}

// MachineHealthCheckStatus is what the health check found.
// +kubebuilder:validation:MinProperties=1
type MachineHealthCheckStatus struct {
	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// currentHealthy counts the healthy Machines.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CurrentHealthy *int32 `json:"currentHealthy,omitempty"`

	// deprecated holds what earlier API versions reported. Nothing acts on it.
	// +optional
	Deprecated MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// expectedMachines counts the Machines that are watched.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ExpectedMachines *int32 `json:"expectedMachines,omitempty"`

	// observedGeneration is the generation of the spec that this status belongs to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// remediationsAllowed is how many more Machines may be remediated.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RemediationsAllowed *int32 `json:"remediationsAllowed,omitempty"`

	// targets lists the names of the Machines that are watched.
	// +optional
	// +kubebuilder:validation:MaxItems=10000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Targets []string `json:"targets,omitempty"`
}

// MachineHealthCheckDeprecatedStatus holds what earlier API versions reported.
type MachineHealthCheckDeprecatedStatus struct {
	// v1beta1 holds what the API version v1beta1 reported.
	// +optional
	V1Beta1 *MachineHealthCheckDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// MachineHealthCheckDeprecatedV1Beta1Status is what v1beta1 reported in the status.
type MachineHealthCheckDeprecatedV1Beta1Status struct {
	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
}

// Any says that at least one sign of ill health is looked for.
func (x MachineHealthCheckChecks) Any() bool {
	return x.NodeStartupTimeoutSeconds != nil || len(x.UnhealthyNodeConditions) > 0 || len(x.UnhealthyMachineConditions) > 0
}
