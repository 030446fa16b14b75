//go:build tools

// Package etcd pins the etcd server that the management plane and the tests build from its Go module.
package etcd

import _ "go.etcd.io/etcd/server/v3"
