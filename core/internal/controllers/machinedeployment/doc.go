// Package machinedeployment rolls the Machines of one template over to the next, through MachineSets.
//
// It owns the MachineDeployment's status and finalizer, creates one MachineSet for each template, decides how many
// replicas each of them has, brings fields that change in place to them, and removes empty old ones once a rollout is
// complete. A template is compared field by field, never by hash, so that an upgrade of this program rolls nothing.
package machinedeployment
