// Package devcluster provides the endpoint of a development cluster: a listener of the in-memory backend, or a load
// balancer container of the docker backend.
//
// It owns the DevCluster's status, endpoint and finalizer, and what the backend made. It watches DevClusters and Clusters.
// The docker half is in the files that end in _docker.go.
package devcluster
