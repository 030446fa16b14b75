// Package etcd talks to the etcd members of a workload cluster: who is a member, who leads, what is wrong, and the two
// changes a control plane makes, moving leadership and removing a member. Whether a change is safe is decided
// elsewhere (package quorum).
package etcd
