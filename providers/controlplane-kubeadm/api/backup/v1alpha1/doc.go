// Package v1alpha1 holds the kinds of the API group backup.slipway.dev, version v1alpha1: backups of the etcd of
// workload clusters.
// +kubebuilder:object:generate=true
// +groupName=backup.slipway.dev
package v1alpha1
