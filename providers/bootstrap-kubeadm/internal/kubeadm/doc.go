// Package kubeadm writes the configuration documents that kubeadm reads, in the API version that a Kubernetes version
// understands: v1beta3 before 1.31, v1beta4 from 1.31 on. It is pure.
package kubeadm
