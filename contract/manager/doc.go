// Package manager is the frame that every manager of the system shares, built on controller-runtime: flags, logs, feature gates, secure
// diagnostics, probes, webhook server, leader election and caches. A manager's main.go says what is special about it in a Program and runs it.
package manager
