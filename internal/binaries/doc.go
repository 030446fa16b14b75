// Package binaries builds the programs that the management plane, the tests and the node image run (Kubernetes and etcd)
// from their Go modules into a cache, and finds them there.
//
// Each set of programs is a folder under hack/ with a go.mod of its own: hack/kubernetes/<minor> and hack/etcd. The version
// that the go.mod requires is the version that is built, so another minor is another folder and no code.
// A program is built once: the cache is keyed by set and version, writers lock it and rename finished files into place.
package binaries
