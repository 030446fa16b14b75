// Package topology makes the objects of Clusters that have a topology: it reads the ClusterClass with its templates and what
// exists, decides versions and objects by the packages below core/internal/topology, and applies what differs.
//
// It owns the infrastructure object, the control plane, the MachineDeployments and MachinePools with their templates and health
// checks, the Cluster's references to the first two and its condition TopologyReconciled. It watches Clusters, ClusterClasses,
// MachineDeployments, MachinePools, MachineHealthChecks and the control plane objects.
//
// Names of new objects are computed from the identity of the Cluster and their purpose: an interruption at any point leaves
// nothing that is not found again. A template whose content changes is replaced by one of another name, computed from the content;
// the old one goes when no MachineSet needs it any more.
package topology
