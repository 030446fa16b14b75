// Package drain decides how the pods of a Node are treated before its machine goes, asks for their eviction, and reports
// which pod is held by which rule or budget.
//
// It serves the controller of Machines. [Observe] reads, [Decide] is pure, [Evictor] acts, and [Plan.Report] tells people.
// When a Node is to be drained at all, and for how long, is not decided here.
package drain
