// Package machineset keeps the wanted number of Machines of one template.
//
// It owns the MachineSet's status and finalizer, creates Machines together with their bootstrap config and
// infrastructure machine (each complete, all of one name), brings fields that may change in place to them, and deletes
// the surplus, one ranking for all: already leaving, marked by a user, being updated, unhealthy, then the order of
// spec.deletion.order. Objects that were left without a Machine are removed. It watches MachineSets, their Machines,
// Clusters, templates and the versions of control planes.
//
// Nothing is created or deleted while the cache does not show the last writes of this controller, and a generation
// counts as observed only when everything that an earlier one brought about can be counted: MachineDeployments rely on it.
package machineset
