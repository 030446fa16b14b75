// Package kubeadmcontrolplane admits KubeadmControlPlanes: it fills in defaults and refuses what cannot work, with the
// field and what would be right.
package kubeadmcontrolplane
