// Package e2e holds the end-to-end suites.
package e2e
