// Package patches carries out the patches of a ClusterClass: it takes the templates of a cluster and the values of its variables
// and returns the templates as this cluster wants them. It is pure but for the extensions behind external patches, which the
// caller provides. Patches change nothing but spec.template.spec.
package patches
