// Package devmachine makes the machine of a DevMachine: a simulated one of the in-memory backend, or a container of the
// docker backend.
//
// It owns the DevMachine's status, provider ID and finalizer, and what the backend made. It watches DevMachines, Machines,
// DevClusters and Clusters. The docker half is in the files that end in _docker.go.
package devmachine
