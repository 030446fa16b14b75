//go:build binaries

// Package coredns pins CoreDNS, which node images carry, to the version that kubeadm names; it is never compiled itself.
package coredns

import _ "github.com/coredns/coredns"
