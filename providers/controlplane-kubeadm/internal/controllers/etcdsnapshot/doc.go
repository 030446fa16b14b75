// Package etcdsnapshot takes the snapshot that an EtcdSnapshot asks for, reads it back, and deletes it when it is told to.
//
// It writes the status and the finalizer of EtcdSnapshots, and what is stored. It reads Clusters, KubeadmControlPlanes and
// Machines to find the members of etcd, and the Secrets that the snapshot names. Nothing else about clusters is changed.
//
// A snapshot goes through taking and verifying, each in a reconcile of its own. Whoever is killed between begins the step again: what is stored
// is there as a whole or not at all, and its name is the same in every attempt.
package etcdsnapshot
