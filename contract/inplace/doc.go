// Package inplace holds what the controllers that update Machines in place have in common: the policy of the user, the marks
// by which one controller hands a Machine to the next, and the arithmetic of the patches with which extensions say what they
// can change. It is pure.
//
// A Machine goes from its old MachineSet to the new one without being made anew:
//
//	MachineDeployment  asks whether an extension can, and tells the old set to hand Machines over and the new one to take them
//	old MachineSet     hands a Machine over, marked as being updated and as arriving
//	MachineDeployment  counts it to the new set and says so
//	new MachineSet     changes bootstrap config, infrastructure machine and Machine, and leaves the hook UpdateMachine pending
//	Machine            calls the extension until it is done, and takes the marks away
//
// A Machine of a control plane stays with its owner, which asks and does alone what the sets do above: it marks the Machine as
// being updated, changes the objects, and leaves the hook pending.
package inplace
