// Package clusterresourceset delivers the objects in ConfigMaps and Secrets to workload clusters.
//
// One reconciler works per Cluster: it is the only writer of the Cluster's binding, so several sets on one Cluster lose nothing to
// each other, and a Cluster that does not answer delays no other. Another one works per ClusterResourceSet: it tells in its
// condition how far the delivery is, and lets the set go when no binding names it any more. Payloads are read when they are
// delivered and never kept; what is watched of ConfigMaps and Secrets is their metadata.
package clusterresourceset
