// Package conditions reads, writes and combines the metav1 conditions of any object: the Go types of the contract, and provider objects known
// only by their fields. Its results are stable: the same input gives the same conditions in the same order with the same bytes.
// It decides nothing about what a condition means for an object; that is the business of the controller that owns it.
package conditions
