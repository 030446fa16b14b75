// Package v1alpha1 holds the requests and responses of runtime hooks: what the managers send to extensions over HTTPS, and what
// extensions answer. The names and fields are the wire format that extensions already speak.
//
// +kubebuilder:object:generate=true
// +groupName=hooks.runtime.cluster.x-k8s.io
package v1alpha1
