// Package lifecycle tests the life of a cluster from the outside, as its user sees it: the slipway command starts a
// management plane, the quick-start manifests become a cluster, it is scaled and deleted, and nothing may be left behind.
//
// The in-memory backend is part of `make test`; Docker containers need an engine and a node image and are part of `make e2e`.
// Both need what `make build binaries` makes.
package lifecycle
