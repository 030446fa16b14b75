// Package v1beta2 holds the kinds of the API group runtime.cluster.x-k8s.io, version v1beta2.
// +kubebuilder:object:generate=true
// +groupName=runtime.cluster.x-k8s.io
package v1beta2
