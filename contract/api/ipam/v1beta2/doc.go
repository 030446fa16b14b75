// Package v1beta2 holds the kinds of the API group ipam.cluster.x-k8s.io, version v1beta2.
// +kubebuilder:object:generate=true
// +groupName=ipam.cluster.x-k8s.io
package v1beta2
