// Package machinepool keeps one MachinePool: a group of equal machines that the infrastructure itself holds, such as an
// auto-scaling group. The infrastructure decides which members there are; this controller gives it the bootstrap data,
// follows its numbers, and looks after the Nodes.
//
// It owns the pool's status, provider IDs and finalizer, the owner references of its bootstrap config and infrastructure
// pool, and, where the infrastructure shows its members as objects, one Machine for each of them. What belongs to the Node
// of such a Machine is the work of the Machine's controller; without Machines it is done here. It watches MachinePools,
// Clusters, Machines of pools, the kinds that are referred to, the kind of the members, and the Nodes.
//
//	bootstrap data ──▶ infrastructure ──▶ members ──▶ Nodes found ──▶ Running
//	deletion: Machines and infrastructure ▶ bootstrap ▶ Nodes ▶ finalizer
package machinepool
