// Package kubeadmcontrolplane keeps the machines of a kubeadm control plane as its KubeadmControlPlane wants them.
//
// It owns the Machines of the control plane with their bootstrap configuration and infrastructure machine, the
// certificates of the cluster and its kubeconfig Secret. On Machines it also reports what the core cannot see: the
// health of static pods and etcd members.
//
// A reconcile reads all that matters into a World (observe.go), decides without any I/O (decide.go and its siblings)
// and carries the actions out one by one (act.go). Events come from the objects in the management cluster, from the
// connection to the workload cluster, and from its control plane Nodes and static pods. Only etcd must be polled.
package kubeadmcontrolplane
