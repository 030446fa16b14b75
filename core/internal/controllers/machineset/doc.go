// Package machineset keeps the wanted number of Machines of one template.
//
// It owns the MachineSet's status and finalizer, creates Machines together with their bootstrap config and
// infrastructure machine, brings fields that may change in place to them, and deletes the surplus, one ranking for all:
// already leaving, marked by a user, unhealthy, then the order of spec.deletion.order. It watches MachineSets, their
// Machines, Clusters and control planes.
package machineset
