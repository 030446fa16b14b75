// Package bootstrapreport says why the first boot of a machine did not make a Node of it: which step failed, of what class
// the cause is, what to do next, and how the output ended, without secrets.
//
// It is for infrastructure providers, which alone can look into a machine, and for whoever shows what they found. A
// provider takes what its channel gives it (files read by exec, guest information, the console's output), hands it to
// [Diagnose], and puts the condition of the report on its InfraMachine; see [ConditionType]. The package does no I/O and
// starts no machine. docs/operating/bootstrap-failures.md is for users.
package bootstrapreport
