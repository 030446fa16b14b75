// Package kubeadmconfig turns one KubeadmConfig into the Secret with a machine's first-boot document.
//
// It owns the KubeadmConfig's status, what is filled into its joinConfiguration, the data Secret, the init lock and the
// bootstrap tokens of the workload cluster. It watches KubeadmConfigs, Machines, MachinePools, Clusters and connections.
//
//	infrastructure provisioned ─▶ control plane initialized? ─no─▶ control plane machine: lock, kubeadm init
//	                                                          yes▶ token, kubeadm join ─▶ token kept alive until joined
package kubeadmconfig
