// Package e2e holds the end-to-end suites, one folder each.
package e2e
