// Package supervise runs child processes and keeps them running.
//
// A dead child is started again after a back-off that doubles from a fraction of a second to half a minute and begins anew
// once the child has lived for a minute. Children are stopped in the reverse of the order in which they were started, each
// with a signal first and by force when it does not heed it. Children end with the supervisor, even when that is killed.
package supervise
