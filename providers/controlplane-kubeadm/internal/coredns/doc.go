// Package coredns decides how the CoreDNS of a workload cluster gets to the wanted image and how its Corefile must
// change for that. It is pure; the steps are so ordered that DNS is served with a Corefile fit for the running version
// at every moment, also after a crash between two of them.
package coredns
