package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=clusters,scope=Namespaced,shortName=cl,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=".spec.topology.classRef.name"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type==\"Available\")].status"
// +kubebuilder:printcolumn:name="CP Desired",type="integer",JSONPath=".status.controlPlane.desiredReplicas"
// +kubebuilder:printcolumn:name="CP Current",type="integer",JSONPath=".status.controlPlane.replicas"
// +kubebuilder:printcolumn:name="CP Ready",type="integer",JSONPath=".status.controlPlane.readyReplicas"
// +kubebuilder:printcolumn:name="CP Available",type="integer",JSONPath=".status.controlPlane.availableReplicas"
// +kubebuilder:printcolumn:name="CP Up-to-date",type="integer",JSONPath=".status.controlPlane.upToDateReplicas"
// +kubebuilder:printcolumn:name="W Desired",type="integer",JSONPath=".status.workers.desiredReplicas"
// +kubebuilder:printcolumn:name="W Current",type="integer",JSONPath=".status.workers.replicas"
// +kubebuilder:printcolumn:name="W Ready",type="integer",JSONPath=".status.workers.readyReplicas"
// +kubebuilder:printcolumn:name="W Available",type="integer",JSONPath=".status.workers.availableReplicas"
// +kubebuilder:printcolumn:name="W Up-to-date",type="integer",JSONPath=".status.workers.upToDateReplicas"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Phase",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.topology.version"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// Cluster ...
type Cluster struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec ClusterSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status ClusterStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *Cluster) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *Cluster) SetConditions(conditions []metav1.Condition) { x.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// ClusterList is a list of Cluster.
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []Cluster `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &Cluster{}, &ClusterList{})
}

// ClusterSpec ...
// +kubebuilder:validation:MinProperties=1
type ClusterSpec struct {
	// availabilityGates ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	AvailabilityGates []ClusterAvailabilityGate `json:"availabilityGates,omitempty"`

	// clusterNetwork ...
	// +optional
	ClusterNetwork ClusterNetwork `json:"clusterNetwork,omitempty,omitzero"`

	// controlPlaneEndpoint ...
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// controlPlaneRef ...
	// +optional
	ControlPlaneRef ContractVersionedObjectReference `json:"controlPlaneRef,omitempty,omitzero"`

	// infrastructureRef ...
	// +optional
	InfrastructureRef ContractVersionedObjectReference `json:"infrastructureRef,omitempty,omitzero"`

	// paused ...
	// +optional
	Paused *bool `json:"paused,omitempty"`

	// topology ...
	// +optional
	Topology Topology `json:"topology,omitempty,omitzero"`
}

// ClusterAvailabilityGate ...
type ClusterAvailabilityGate struct {
	// conditionType ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
	ConditionType string `json:"conditionType,omitempty"`

	// polarity ...
	// +optional
	// +kubebuilder:validation:Enum=Positive;Negative
	Polarity string `json:"polarity,omitempty"`
}

// ClusterNetwork ...
// +kubebuilder:validation:MinProperties=1
type ClusterNetwork struct {
	// apiServerPort ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	APIServerPort int32 `json:"apiServerPort,omitempty"`

	// pods ...
	// +optional
	Pods NetworkRanges `json:"pods,omitempty,omitzero"`

	// serviceDomain ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServiceDomain string `json:"serviceDomain,omitempty"`

	// services ...
	// +optional
	Services NetworkRanges `json:"services,omitempty,omitzero"`
}

// NetworkRanges ...
type NetworkRanges struct {
	// cidrBlocks ...
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=43
	CIDRBlocks []string `json:"cidrBlocks,omitempty"`
}

// APIEndpoint ...
// +kubebuilder:validation:MinProperties=1
type APIEndpoint struct {
	// host ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Host string `json:"host,omitempty"`

	// port ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// Topology ...
type Topology struct {
	// classRef ...
	// +required
	ClassRef ClusterClassRef `json:"classRef,omitempty,omitzero"`

	// controlPlane ...
	// +optional
	ControlPlane ControlPlaneTopology `json:"controlPlane,omitempty,omitzero"`

	// variables ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=map
	// +listMapKey=name
	Variables []ClusterVariable `json:"variables,omitempty"`

	// version ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// workers ...
	// +optional
	Workers WorkersTopology `json:"workers,omitempty,omitzero"`
}

// ClusterClassRef ...
type ClusterClassRef struct {
	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`

	// namespace ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`
}

// ControlPlaneTopology ...
// +kubebuilder:validation:MinProperties=1
type ControlPlaneTopology struct {
	// deletion ...
	// +optional
	Deletion MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// healthCheck ...
	// +optional
	HealthCheck ControlPlaneTopologyHealthCheck `json:"healthCheck,omitempty,omitzero"`

	// metadata ...
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// readinessGates ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// rollout ...
	// +optional
	Rollout ControlPlaneTopologyRollout `json:"rollout,omitempty,omitzero"`

	// taints ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`

	// variables ...
	// +optional
	Variables VariableOverrides `json:"variables,omitempty,omitzero"`
}

// ControlPlaneTopologyHealthCheck ...
// +kubebuilder:validation:MinProperties=1
type ControlPlaneTopologyHealthCheck struct {
	// checks ...
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// enabled ...
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// remediation ...
	// +optional
	Remediation MachineHealthCheckRemediation `json:"remediation,omitempty,omitzero"`
}

// ControlPlaneTopologyRollout ...
// +kubebuilder:validation:MinProperties=1
type ControlPlaneTopologyRollout struct {
	// after ...
	// +optional
	After metav1.Time `json:"after,omitempty,omitzero"`
}

// VariableOverrides ...
// +kubebuilder:validation:MinProperties=1
type VariableOverrides struct {
	// overrides ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=map
	// +listMapKey=name
	Overrides []VariableOverridesOverride `json:"overrides,omitempty"`
}

// VariableOverridesOverride ...
type VariableOverridesOverride struct {
	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// value ...
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Value JSON `json:"value,omitempty,omitzero"`
}

// ClusterVariable ...
type ClusterVariable struct {
	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// value ...
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Value JSON `json:"value,omitempty,omitzero"`
}

// WorkersTopology ...
// +kubebuilder:validation:MinProperties=1
type WorkersTopology struct {
	// machineDeployments ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2000
	// +listType=map
	// +listMapKey=name
	MachineDeployments []MachineDeploymentTopology `json:"machineDeployments,omitempty"`

	// machinePools ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2000
	// +listType=map
	// +listMapKey=name
	MachinePools []MachinePoolTopology `json:"machinePools,omitempty"`
}

// MachineDeploymentTopology ...
type MachineDeploymentTopology struct {
	// class ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Class string `json:"class,omitempty"`

	// deletion ...
	// +optional
	Deletion MachineDeploymentTopologyDeletion `json:"deletion,omitempty,omitzero"`

	// failureDomain ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// healthCheck ...
	// +optional
	HealthCheck MachineDeploymentTopologyHealthCheck `json:"healthCheck,omitempty,omitzero"`

	// metadata ...
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// minReadySeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`

	// readinessGates ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// rollout ...
	// +optional
	Rollout MachineDeploymentRollout `json:"rollout,omitempty,omitzero"`

	// taints ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`

	// variables ...
	// +optional
	Variables VariableOverrides `json:"variables,omitempty,omitzero"`
}

// MachineDeploymentTopologyDeletion ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentTopologyDeletion struct {
	// nodeDeletionTimeoutSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeDeletionTimeoutSeconds *int32 `json:"nodeDeletionTimeoutSeconds,omitempty"`

	// nodeDrainTimeoutSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeDrainTimeoutSeconds *int32 `json:"nodeDrainTimeoutSeconds,omitempty"`

	// nodeVolumeDetachTimeoutSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeVolumeDetachTimeoutSeconds *int32 `json:"nodeVolumeDetachTimeoutSeconds,omitempty"`

	// order ...
	// +optional
	// +kubebuilder:validation:Enum=Random;Newest;Oldest
	Order string `json:"order,omitempty"`
}

// MachineDeploymentTopologyHealthCheck ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentTopologyHealthCheck struct {
	// checks ...
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// enabled ...
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// remediation ...
	// +optional
	Remediation MachineDeploymentTopologyHealthCheckRemediation `json:"remediation,omitempty,omitzero"`
}

// MachineDeploymentTopologyHealthCheckRemediation ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentTopologyHealthCheckRemediation struct {
	// maxInFlight ...
	// +optional
	MaxInFlight *intstr.IntOrString `json:"maxInFlight,omitempty"`

	// templateRef ...
	// +optional
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`

	// triggerIf ...
	// +optional
	TriggerIf MachineHealthCheckRemediationTriggerIf `json:"triggerIf,omitempty,omitzero"`
}

// MachinePoolTopology ...
type MachinePoolTopology struct {
	// class ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Class string `json:"class,omitempty"`

	// deletion ...
	// +optional
	Deletion MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// failureDomains ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	FailureDomains []string `json:"failureDomains,omitempty"`

	// metadata ...
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// minReadySeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// taints ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`

	// variables ...
	// +optional
	Variables VariableOverrides `json:"variables,omitempty,omitzero"`
}

// ClusterStatus ...
// +kubebuilder:validation:MinProperties=1
type ClusterStatus struct {
	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// controlPlane ...
	// +optional
	ControlPlane *ClusterControlPlaneStatus `json:"controlPlane,omitempty"`

	// deprecated ...
	// +optional
	Deprecated MachineDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// failureDomains ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	FailureDomains []FailureDomain `json:"failureDomains,omitempty"`

	// initialization ...
	// +optional
	Initialization ClusterInitializationStatus `json:"initialization,omitempty,omitzero"`

	// observedGeneration ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase ...
	// +optional
	// +kubebuilder:validation:Enum=Pending;Provisioning;Provisioned;Deleting;Failed;Unknown
	Phase string `json:"phase,omitempty"`

	// workers ...
	// +optional
	Workers *WorkersStatus `json:"workers,omitempty"`
}

// ClusterControlPlaneStatus ...
type ClusterControlPlaneStatus struct {
	// availableReplicas ...
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// desiredReplicas ...
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// readyReplicas ...
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// upToDateReplicas ...
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// upgradePlan ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	UpgradePlan []UpgradeStep `json:"upgradePlan,omitempty"`

	// versions ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Versions []StatusVersion `json:"versions,omitempty"`
}

// UpgradeStep ...
type UpgradeStep struct {
	// version ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
}

// FailureDomain ...
type FailureDomain struct {
	// attributes ...
	// +optional
	Attributes map[string]string `json:"attributes,omitempty"`

	// controlPlane ...
	// +optional
	ControlPlane *bool `json:"controlPlane,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// ClusterInitializationStatus ...
// +kubebuilder:validation:MinProperties=1
type ClusterInitializationStatus struct {
	// controlPlaneInitialized ...
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`

	// infrastructureProvisioned ...
	// +optional
	InfrastructureProvisioned *bool `json:"infrastructureProvisioned,omitempty"`
}

// WorkersStatus ...
type WorkersStatus struct {
	// availableReplicas ...
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// desiredReplicas ...
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// readyReplicas ...
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas ...
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// upToDateReplicas ...
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// upgradePlan ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	UpgradePlan []UpgradeStep `json:"upgradePlan,omitempty"`

	// versions ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Versions []StatusVersion `json:"versions,omitempty"`
}
