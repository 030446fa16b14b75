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

// Cluster is a Kubernetes cluster, declared: its network, its endpoint, and which objects make its infrastructure and
// its control plane.
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

// ClusterSpec is the cluster as it should be.
// +kubebuilder:validation:MinProperties=1
type ClusterSpec struct {
	// availabilityGates lists further conditions of the Cluster that must be good before it counts as Available, besides the
	// built-in ones. Unset takes those of the ClusterClass.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	AvailabilityGates []ClusterAvailabilityGate `json:"availabilityGates,omitempty"`

	// clusterNetwork is the address plan of the cluster. Providers read it when they create machines; changing it later
	// moves nothing.
	// +optional
	ClusterNetwork ClusterNetwork `json:"clusterNetwork,omitempty,omitzero"`

	// controlPlaneEndpoint is where the API server is reached. Unset lets the infrastructure or control plane provider fill
	// it in; once set it stays.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// controlPlaneRef names the object that runs the control plane, such as a KubeadmControlPlane. Without it control plane
	// Machines are managed one by one.
	// +optional
	ControlPlaneRef ContractVersionedObjectReference `json:"controlPlaneRef,omitempty,omitzero"`

	// infrastructureRef names the object that provides what all machines share: network, load balancer, failure domains.
	// +optional
	InfrastructureRef ContractVersionedObjectReference `json:"infrastructureRef,omitempty,omitzero"`

	// paused stops all controllers from acting on the Cluster and everything that belongs to it. Deletion waits too.
	// +optional
	Paused *bool `json:"paused,omitempty"`

	// topology describes the whole cluster by a ClusterClass and a few values; control plane and workers are then created
	// and kept from it.
	// +optional
	Topology Topology `json:"topology,omitempty,omitzero"`
}

// ClusterAvailabilityGate names a condition that must be good.
type ClusterAvailabilityGate struct {
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

// ClusterNetwork is the address plan of a cluster.
// +kubebuilder:validation:MinProperties=1
type ClusterNetwork struct {
	// apiServerPort is the port on which API servers listen on their machines. Default 6443.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	APIServerPort int32 `json:"apiServerPort,omitempty"`

	// pods holds the ranges from which pods get addresses.
	// +optional
	Pods NetworkRanges `json:"pods,omitempty,omitzero"`

	// serviceDomain is the DNS domain of Services. Default cluster.local.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServiceDomain string `json:"serviceDomain,omitempty"`

	// services holds the ranges from which Services get addresses.
	// +optional
	Services NetworkRanges `json:"services,omitempty,omitzero"`
}

// NetworkRanges is a list of address ranges.
type NetworkRanges struct {
	// cidrBlocks lists ranges in CIDR notation; one IPv4 and one IPv6 range make the cluster dual-stack.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=43
	CIDRBlocks []string `json:"cidrBlocks,omitempty"`
}

// APIEndpoint is where an API server is reached.
// +kubebuilder:validation:MinProperties=1
type APIEndpoint struct {
	// host is a DNS name or an IP address.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Host string `json:"host,omitempty"`

	// port is a TCP port.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// Topology is a whole cluster in terms of a ClusterClass.
type Topology struct {
	// classRef names the ClusterClass. Changing it rebases the cluster on another class, if the two are compatible.
	// +required
	ClassRef ClusterClassRef `json:"classRef,omitempty,omitzero"`

	// controlPlane is what this cluster wants of the control plane of its class.
	// +optional
	ControlPlane ControlPlaneTopology `json:"controlPlane,omitempty,omitzero"`

	// variables gives values to the variables that the class and its extensions define.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=map
	// +listMapKey=name
	Variables []ClusterVariable `json:"variables,omitempty"`

	// version is the Kubernetes version of the whole cluster. Raising it upgrades the control plane first, then the workers.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// workers lists the groups of worker machines.
	// +optional
	Workers WorkersTopology `json:"workers,omitempty,omitzero"`
}

// ClusterClassRef names a ClusterClass.
type ClusterClassRef struct {
	// name is the name of the ClusterClass.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`

	// namespace is the namespace of the ClusterClass. Default is that of the Cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`
}

// ControlPlaneTopology is what a cluster wants of the control plane of its class.
// +kubebuilder:validation:MinProperties=1
type ControlPlaneTopology struct {
	// deletion says how Machines are deleted: for how long their nodes are drained and volumes detached. Unset takes the
	// values of the class.
	// +optional
	Deletion MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// healthCheck sets the health check of control plane Machines, in place of that of the class.
	// +optional
	HealthCheck ControlPlaneTopologyHealthCheck `json:"healthCheck,omitempty,omitzero"`

	// metadata holds labels and annotations for the objects made from this. They win over those of the class, and change in
	// place.
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// readinessGates lists further conditions that a Machine must have to be Ready. They are updated in place.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// replicas is the number of control plane Machines. Unset leaves the number to the control plane itself.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// rollout asks for a rollout of the control plane without any other change.
	// +optional
	Rollout ControlPlaneTopologyRollout `json:"rollout,omitempty,omitzero"`

	// taints lists taints for the Nodes, brought in place to Nodes that exist. It needs the feature MachineTaintPropagation.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`

	// variables overrides values of variables for this group of machines only.
	// +optional
	Variables VariableOverrides `json:"variables,omitempty,omitzero"`
}

// ControlPlaneTopologyHealthCheck is the health check of control plane Machines in one cluster.
// +kubebuilder:validation:MinProperties=1
type ControlPlaneTopologyHealthCheck struct {
	// checks says by which signs a Machine is unhealthy.
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// enabled switches the health check on or off, whatever the class says. On needs checks, here or in the class.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// remediation says when, and how, unhealthy Machines are replaced.
	// +optional
	Remediation MachineHealthCheckRemediation `json:"remediation,omitempty,omitzero"`
}

// ControlPlaneTopologyRollout asks for a rollout.
// +kubebuilder:validation:MinProperties=1
type ControlPlaneTopologyRollout struct {
	// after is a time: Machines created before it are replaced once it has come.
	// +optional
	After metav1.Time `json:"after,omitempty,omitzero"`
}

// VariableOverrides gives a group of machines values of its own.
// +kubebuilder:validation:MinProperties=1
type VariableOverrides struct {
	// overrides lists the variables that have another value here than in the cluster.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=map
	// +listMapKey=name
	Overrides []VariableOverridesOverride `json:"overrides,omitempty"`
}

// VariableOverridesOverride is the value of one variable.
type VariableOverridesOverride struct {
	// name is the name of a variable that the cluster has too.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// value is any JSON value that fits the schema of the variable.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Value JSON `json:"value,omitempty,omitzero"`
}

// ClusterVariable is the value of one variable.
type ClusterVariable struct {
	// name is the name of a variable that the class or one of its extensions defines.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// value is any JSON value that fits the schema of the variable.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Value JSON `json:"value,omitempty,omitzero"`
}

// WorkersTopology lists the groups of worker machines of a cluster.
// +kubebuilder:validation:MinProperties=1
type WorkersTopology struct {
	// machineDeployments lists the MachineDeployments to have.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2000
	// +listType=map
	// +listMapKey=name
	MachineDeployments []MachineDeploymentTopology `json:"machineDeployments,omitempty"`

	// machinePools lists the MachinePools to have.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2000
	// +listType=map
	// +listMapKey=name
	MachinePools []MachinePoolTopology `json:"machinePools,omitempty"`
}

// MachineDeploymentTopology is one MachineDeployment in terms of the class.
type MachineDeploymentTopology struct {
	// class is the name of a worker class of the ClusterClass, by which each of its machines is made.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Class string `json:"class,omitempty"`

	// deletion says how Machines are deleted: for how long their nodes are drained and volumes detached. Unset takes the
	// values of the class.
	// +optional
	Deletion MachineDeploymentTopologyDeletion `json:"deletion,omitempty,omitzero"`

	// failureDomain is where the Machines run. Unset takes that of the class. A change replaces them.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// healthCheck sets the health check of these Machines, in place of that of the class.
	// +optional
	HealthCheck MachineDeploymentTopologyHealthCheck `json:"healthCheck,omitempty,omitzero"`

	// metadata holds labels and annotations for the objects made from this. They win over those of the class, and change in
	// place.
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// minReadySeconds is for how long a Machine must be Ready before it counts as available. Default 0. It changes in place.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// name identifies the group within the cluster. Renaming it makes a new group and deletes the old one.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`

	// readinessGates lists further conditions that a Machine must have to be Ready. They are updated in place.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// replicas is the number of Machines. Unset leaves the number to someone else, such as an autoscaler.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// rollout says when, and by which strategy, Machines are replaced.
	// +optional
	Rollout MachineDeploymentRollout `json:"rollout,omitempty,omitzero"`

	// taints lists taints for the Nodes, brought in place to Nodes that exist. It needs the feature MachineTaintPropagation.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`

	// variables overrides values of variables for this group of machines only.
	// +optional
	Variables VariableOverrides `json:"variables,omitempty,omitzero"`
}

// MachineDeploymentTopologyDeletion says how Machines of a group are deleted and which of them go first.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentTopologyDeletion struct {
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

	// order says which Machine goes first when fewer are wanted, after marked and unhealthy ones: Random, Newest or Oldest.
	// Default Random.
	// +optional
	// +kubebuilder:validation:Enum=Random;Newest;Oldest
	Order string `json:"order,omitempty"`
}

// MachineDeploymentTopologyHealthCheck is the health check of one group of worker Machines.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentTopologyHealthCheck struct {
	// checks says by which signs a Machine is unhealthy.
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// enabled switches the health check on or off, whatever the class says. On needs checks, here or in the class.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// remediation says when, and how, unhealthy Machines are replaced.
	// +optional
	Remediation MachineDeploymentTopologyHealthCheckRemediation `json:"remediation,omitempty,omitzero"`
}

// MachineDeploymentTopologyHealthCheckRemediation says when, and how, unhealthy worker Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentTopologyHealthCheckRemediation struct {
	// maxInFlight is how many Machines may be under remediation at once, a number or a percentage of the replicas, rounded
	// up. Unset sets no limit.
	// +optional
	MaxInFlight *intstr.IntOrString `json:"maxInFlight,omitempty"`

	// templateRef names a template of objects by which an external controller remediates, instead of the deletion of the
	// Machine.
	// +optional
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`

	// triggerIf limits remediation to times when not too many Machines are unhealthy at once. Unset remediates always.
	// +optional
	TriggerIf MachineHealthCheckRemediationTriggerIf `json:"triggerIf,omitempty,omitzero"`
}

// MachinePoolTopology is one MachinePool in terms of the class.
type MachinePoolTopology struct {
	// class is the name of a worker class of the ClusterClass, by which each of its machines is made.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Class string `json:"class,omitempty"`

	// deletion says how Machines are deleted: for how long their nodes are drained and volumes detached. Unset takes the
	// values of the class.
	// +optional
	Deletion MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// failureDomains lists where the machines may run. Unset takes those of the class.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	FailureDomains []string `json:"failureDomains,omitempty"`

	// metadata holds labels and annotations for the objects made from this. They win over those of the class, and change in
	// place.
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// minReadySeconds is for how long a Machine must be Ready before it counts as available. Default 0. It changes in place.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// name identifies the pool within the cluster. Renaming it makes a new pool and deletes the old one.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`

	// replicas is the number of machines. Unset leaves the number to someone else, such as an autoscaler.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// taints lists taints for the Nodes, brought in place to Nodes that exist. It needs the feature MachineTaintPropagation.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`

	// variables overrides values of variables for this group of machines only.
	// +optional
	Variables VariableOverrides `json:"variables,omitempty,omitzero"`
}

// ClusterStatus is the cluster as it was observed.
// +kubebuilder:validation:MinProperties=1
type ClusterStatus struct {
	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// controlPlane counts the machines of the control plane.
	// +optional
	ControlPlane *ClusterControlPlaneStatus `json:"controlPlane,omitempty"`

	// deprecated holds what earlier API versions reported. Nothing acts on it.
	// +optional
	Deprecated MachineDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// failureDomains lists where machines can run, as the infrastructure provider reports it.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	FailureDomains []FailureDomain `json:"failureDomains,omitempty"`

	// initialization records steps that happen once and are never taken back. It serves the order of creation, not the
	// watching of health.
	// +optional
	Initialization ClusterInitializationStatus `json:"initialization,omitempty,omitzero"`

	// observedGeneration is the generation of the spec that this status belongs to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase sums the state up in one word for people. Nothing decides by it.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Provisioning;Provisioned;Deleting;Failed;Unknown
	Phase string `json:"phase,omitempty"`

	// workers counts the worker machines of all groups.
	// +optional
	Workers *WorkersStatus `json:"workers,omitempty"`
}

// ClusterControlPlaneStatus counts the machines of a control plane.
type ClusterControlPlaneStatus struct {
	// availableReplicas counts machines that are Available.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// desiredReplicas is how many machines are wanted.
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// readyReplicas counts machines that are Ready.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas counts the machines that exist, those in deletion too.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// upToDateReplicas counts machines that already are as the spec wants them.
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// upgradePlan lists the versions that are still to be gone through, in order, on the way to the wanted one.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	UpgradePlan []UpgradeStep `json:"upgradePlan,omitempty"`

	// versions counts machines by Kubernetes version, the lowest version first.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Versions []StatusVersion `json:"versions,omitempty"`
}

// UpgradeStep is one version on the way.
type UpgradeStep struct {
	// version is the Kubernetes version to reach in this step.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
}

// FailureDomain is a place, such as a zone, that can fail without the others.
type FailureDomain struct {
	// attributes holds what the infrastructure provider has to say about it.
	// +optional
	Attributes map[string]string `json:"attributes,omitempty"`

	// controlPlane says that control plane machines may run there.
	// +optional
	ControlPlane *bool `json:"controlPlane,omitempty"`

	// name is the name by which Machines refer to it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// ClusterInitializationStatus records the first steps of a cluster.
// +kubebuilder:validation:MinProperties=1
type ClusterInitializationStatus struct {
	// controlPlaneInitialized turns true when the API server answers for the first time.
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`

	// infrastructureProvisioned turns true when what all machines share is there. No machine is created before.
	// +optional
	InfrastructureProvisioned *bool `json:"infrastructureProvisioned,omitempty"`
}

// WorkersStatus counts the worker machines of a cluster.
type WorkersStatus struct {
	// availableReplicas counts machines that are Available.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// desiredReplicas is how many machines are wanted.
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// readyReplicas counts machines that are Ready.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// replicas counts the machines that exist, those in deletion too.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// upToDateReplicas counts machines that already are as the spec wants them.
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// upgradePlan lists the versions that are still to be gone through, in order, on the way to the wanted one.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	UpgradePlan []UpgradeStep `json:"upgradePlan,omitempty"`

	// versions counts machines by Kubernetes version, the lowest version first.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Versions []StatusVersion `json:"versions,omitempty"`
}
