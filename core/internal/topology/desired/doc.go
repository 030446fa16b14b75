// Package desired computes the objects of a managed topology: from the class, with its patches carried out, the Cluster and the
// versions decided, the infrastructure cluster, the control plane, and of each worker group the MachineDeployment or MachinePool
// with its templates and health check. It is pure but for the extensions behind external patches.
package desired
