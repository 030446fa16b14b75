// Package clustercache holds one shared connection to every workload cluster (it needs controller-runtime).
//
// Controllers ask it for clients, cached readers and watches of a Cluster's API server instead of building their own:
// a connection is made as soon as the Cluster's infrastructure is provisioned, its kubeconfig Secret exists and the
// endpoint answers; it is probed while it lives and dropped when the probes keep failing. Connections are made and
// probed by a bounded number of workers with a deadline on every request, so a dead cluster delays nobody else.
//
// Watches belong to a connection: they vanish with it. A controller therefore asks for its watches on every reconcile
// (asking again costs a map look-up) and subscribes to Source, which wakes it when a connection comes or goes.
//
// The package holds no policy: what a lost connection means for a Machine or a Cluster is for the controllers to say.
package clustercache
