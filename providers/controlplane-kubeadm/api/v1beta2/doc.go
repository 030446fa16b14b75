// Package v1beta2 holds the kinds of the API group controlplane.cluster.x-k8s.io, version v1beta2.
// +kubebuilder:object:generate=true
// +groupName=controlplane.cluster.x-k8s.io
package v1beta2
