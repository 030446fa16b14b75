// Package machine brings one Machine from its references to a running Node, and takes it down again in order.
//
// It owns the Machine's status, its provider ID, its finalizer, the owner references of its bootstrap config and
// infrastructure machine, and the labels, annotations and taints that come from it on the Node. It watches Machines,
// Clusters, every kind of bootstrap config and infrastructure machine that is referred to, the connections of the
// cluster cache and the Nodes behind them.
//
//	bootstrap data ──▶ infrastructure ──▶ Node found ──▶ Running
//	deletion: pre-drain hooks ▶ pre-terminate hooks ▶ infrastructure ▶ bootstrap ▶ Node ▶ finalizer
package machine
