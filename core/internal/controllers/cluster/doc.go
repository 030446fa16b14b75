// Package cluster ties a Cluster to its infrastructure and control plane, reports on everything in it, and deletes it in order.
//
// It owns the Cluster's status, endpoint and finalizer, and the owner reference and label of the two objects that the
// Cluster refers to. It watches Clusters, those two kinds, Machines, MachineSets, MachineDeployments, MachinePools and
// the connections of the cluster cache.
//
//	infrastructure provisioned ──▶ endpoint ──▶ control plane initialized ──▶ Available
//	deletion: workers ▶ control plane ▶ infrastructure ▶ finalizer
package cluster
