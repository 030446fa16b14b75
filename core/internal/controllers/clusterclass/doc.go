// Package clusterclass keeps the status of ClusterClasses: the variables that clusters can set, also those of extensions, whether the class refers to
// templates in the newest version that implements the contract, and the class as an owner of its templates, so that both move
// and go together. It watches ClusterClasses; all it writes besides is the list of owners of templates.
package clusterclass
