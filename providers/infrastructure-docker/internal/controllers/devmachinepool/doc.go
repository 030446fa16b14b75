// Package devmachinepool keeps the DevMachines of a DevMachinePool, in both backends.
//
// It owns the pool's status, provider IDs and finalizer, and decides which DevMachines there are; each of them lives like any
// other: the core gives it a Machine, and its own controller the container or the simulation. A member leaves by its Machine,
// so that its Node is drained first. Members of an older version or image are replaced one after the other.
//
//	bootstrap data ──▶ DevMachines ──▶ Machines (by the core) ──▶ provider IDs ──▶ ready
package devmachinepool
