// Package v1beta2 holds the kinds of the API group addons.cluster.x-k8s.io, version v1beta2.
// +kubebuilder:object:generate=true
// +groupName=addons.cluster.x-k8s.io
package v1beta2
