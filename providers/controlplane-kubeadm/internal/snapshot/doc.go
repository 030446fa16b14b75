// Package snapshot moves snapshots of etcd: from a member, checked and encrypted, into a store, and from there back again to
// see whether they are good. It holds no snapshot in memory, and no part of one is on a disk under a name.
package snapshot
