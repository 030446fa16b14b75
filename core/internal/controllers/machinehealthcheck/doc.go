// Package machinehealthcheck finds Machines that are ill and asks their owners, or an external controller, to remediate them.
//
// It owns the MachineHealthCheck's status and, on Machines, the condition HealthCheckSucceeded; the conditions
// OwnerRemediated and ExternallyRemediated it only starts, their further course is for those who remediate. With a remediation
// template it creates one object of it per ill Machine and deletes it when the Machine is well again. It watches
// MachineHealthChecks, Machines, Clusters, remediation objects, and the Nodes and connections of workload clusters.
//
// Time makes Machines ill as well as events do: a check is looked at again exactly when its next timeout is due, never in a
// fixed rhythm. Without a connection to an initialized workload cluster nothing can be known of its Nodes, so nothing but a
// user's annotation makes a Machine ill then. Where several checks pick one Machine, it is well when all of them say so.
package machinehealthcheck
