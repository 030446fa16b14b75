// Package plane runs a management cluster on one machine: etcd, an API server, the few controllers of Kubernetes that Cluster
// API needs, and the managers, each a child process of one supervisor. docs/decisions/0001-management-plane.md says why.
//
// Everything that a plane is lies in its state folder. Up starts a supervisor that outlives the command, Down ends it,
// Read tells about it. Whoever holds the lock file in the folder is the supervisor; what it writes to status.json is for
// others to read, never to decide who runs.
package plane
