// Package docker runs machines and load balancers of development clusters as containers.
//
// Engine is the thin seam to a container engine; Host builds clusters on it: one load balancer container per cluster,
// one container per machine, each found again by its labels. What takes long (starting a machine, loading images,
// bootstrapping it) is a background task whose Progress can be read at any time; everything is idempotent and survives a
// restart of the manager. The package knows nothing of the API objects: the controllers translate.
package docker
