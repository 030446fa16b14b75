// Package machines says what the objects of a control plane machine look like: Machine, KubeadmConfig, their names,
// labels and annotations. It is pure; the controller creates and updates what is returned here.
package machines
