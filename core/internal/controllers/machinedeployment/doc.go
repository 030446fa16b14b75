// Package machinedeployment rolls the Machines of one template over to the next, through MachineSets.
//
// It owns the MachineDeployment's status and finalizer, creates one MachineSet for each template, decides how many
// replicas each of them has, brings fields that change in place to them, and removes empty old ones once a rollout is
// complete, but for the last one with another template: it is the way back. A template is compared field by field, never by hash, so that an upgrade of this program rolls nothing.
//
// Two limits hold at each moment: no more Machines than replicas and surge, no deletion of an available Machine that is
// still needed. Counters come from the Machines, which are never older than the status of their set, and no set grows
// before all others have acknowledged their last number, since until then they may still create Machines for an earlier one.
package machinedeployment
