package v1alpha1

import "k8s.io/apimachinery/pkg/types"

// BuiltinsName is the name of the variable that every cluster has without defining it.
const BuiltinsName = "builtin"

// Builtins is the value of that variable. Cluster is there for all templates, of the others only what the template belongs to;
// controlPlane is also there for those of the control plane's machines.
type Builtins struct {
	Cluster           *ClusterBuiltins           `json:"cluster,omitempty"`
	ControlPlane      *ControlPlaneBuiltins      `json:"controlPlane,omitempty"`
	MachineDeployment *MachineDeploymentBuiltins `json:"machineDeployment,omitempty"`
	MachinePool       *MachinePoolBuiltins       `json:"machinePool,omitempty"`
}

// ObjectMeta is what patches may know of an object's metadata.
type ObjectMeta struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ClusterBuiltins tells about the Cluster.
type ClusterBuiltins struct {
	Name      string                   `json:"name,omitempty"`
	Namespace string                   `json:"namespace,omitempty"`
	UID       types.UID                `json:"uid,omitempty"`
	Metadata  *ObjectMeta              `json:"metadata,omitempty"`
	Topology  *ClusterTopologyBuiltins `json:"topology,omitempty"`
	Network   *ClusterNetworkBuiltins  `json:"network,omitempty"`
}

// ClusterTopologyBuiltins tells about the topology of the Cluster.
type ClusterTopologyBuiltins struct {
	// Version is the version that is wanted, which the parts of the cluster may not have yet.
	Version  string                                 `json:"version,omitempty"`
	ClassRef ClusterTopologyClusterClassRefBuiltins `json:"classRef"`
	// Class and ClassNamespace are the older names of the fields of ClassRef.
	Class          string `json:"class,omitempty"`
	ClassNamespace string `json:"classNamespace,omitempty"`
}

// ClusterTopologyClusterClassRefBuiltins names the class.
type ClusterTopologyClusterClassRefBuiltins struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// ClusterNetworkBuiltins tells about the network of the cluster.
type ClusterNetworkBuiltins struct {
	ServiceDomain *string  `json:"serviceDomain,omitempty"`
	Services      []string `json:"services,omitempty"`
	Pods          []string `json:"pods,omitempty"`
}

// ControlPlaneBuiltins tells about the control plane as it will be.
type ControlPlaneBuiltins struct {
	// Version is the one it gets now, which differs from that of the topology on the way to it.
	Version         string                               `json:"version,omitempty"`
	Metadata        *ObjectMeta                          `json:"metadata,omitempty"`
	Name            string                               `json:"name,omitempty"`
	Replicas        *int32                               `json:"replicas,omitempty"`
	MachineTemplate *ControlPlaneMachineTemplateBuiltins `json:"machineTemplate,omitempty"`
}

// ControlPlaneMachineTemplateBuiltins tells about the machines of the control plane.
type ControlPlaneMachineTemplateBuiltins struct {
	InfrastructureRef ControlPlaneMachineTemplateInfrastructureRefBuiltins `json:"infrastructureRef,omitempty,omitzero"`
}

// ControlPlaneMachineTemplateInfrastructureRefBuiltins names the template of the machines.
type ControlPlaneMachineTemplateInfrastructureRefBuiltins struct {
	Name string `json:"name,omitempty"`
}

// MachineDeploymentBuiltins tells about the MachineDeployment that a template belongs to.
type MachineDeploymentBuiltins struct {
	Version           string                            `json:"version,omitempty"`
	Metadata          *ObjectMeta                       `json:"metadata,omitempty"`
	Class             string                            `json:"class,omitempty"`
	Name              string                            `json:"name,omitempty"`
	TopologyName      string                            `json:"topologyName,omitempty"`
	Replicas          *int64                            `json:"replicas,omitempty"`
	Bootstrap         *MachineBootstrapBuiltins         `json:"bootstrap,omitempty"`
	InfrastructureRef *MachineInfrastructureRefBuiltins `json:"infrastructureRef,omitempty"`
}

// MachinePoolBuiltins tells about the MachinePool that a template belongs to.
type MachinePoolBuiltins struct {
	Version           string                            `json:"version,omitempty"`
	Metadata          *ObjectMeta                       `json:"metadata,omitempty"`
	Class             string                            `json:"class,omitempty"`
	Name              string                            `json:"name,omitempty"`
	TopologyName      string                            `json:"topologyName,omitempty"`
	Replicas          *int64                            `json:"replicas,omitempty"`
	Bootstrap         *MachineBootstrapBuiltins         `json:"bootstrap,omitempty"`
	InfrastructureRef *MachineInfrastructureRefBuiltins `json:"infrastructureRef,omitempty"`
}

// MachineBootstrapBuiltins tells about the bootstrap template of a worker group.
type MachineBootstrapBuiltins struct {
	ConfigRef *MachineBootstrapConfigRefBuiltins `json:"configRef,omitempty"`
}

// MachineBootstrapConfigRefBuiltins names the bootstrap template.
type MachineBootstrapConfigRefBuiltins struct {
	Name string `json:"name,omitempty"`
}

// MachineInfrastructureRefBuiltins names the infrastructure template.
type MachineInfrastructureRefBuiltins struct {
	Name string `json:"name,omitempty"`
}
