package plane

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/slipway-capi/slipway/internal/supervise"
)

// settleAfter is how long after its start a plane is taken to have done what is done only once.
const settleAfter = 10 * time.Second

// settle hands memory back that only the start needed: the supervisor's own heap, and the pages of the children's program
// files, of which most belong to code that has run for the last time. What is needed again is read again. That is worth
// some 200 MiB on an idle plane; where the kernel does not allow it, nothing happens.
func settle(ctx context.Context, s *supervise.Supervisor) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(settleAfter):
	}
	debug.FreeOSMemory()
	releaseProgram(os.Getpid())
	for _, child := range s.States() {
		if child.PID != 0 {
			releaseProgram(child.PID)
		}
	}
}
