// Package kubeadmconfig keeps the ConfigMap kubeadm-config of a workload cluster as the control plane wants it: what
// kubeadm reads there decides how the next machine joins. It is pure, and keeps what it does not know.
package kubeadmconfig
