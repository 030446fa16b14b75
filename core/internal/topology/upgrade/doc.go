// Package upgrade decides which Kubernetes version each part of a managed topology gets now: the control plane goes first, one
// minor version at a time; workers follow in the order of the topology, as many at once as the user allows. It is pure.
package upgrade
