package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/slipway-capi/slipway/internal/binaries"
	"github.com/slipway-capi/slipway/internal/terminal"
)

// buildReporter shows builds: a line that is rewritten each second on a terminal, and else a line each 15 seconds.
type buildReporter struct {
	out      io.Writer
	terminal bool
	announce bool
}

func newBuildReporter(out io.Writer) *buildReporter {
	return &buildReporter{out: out, terminal: terminal.Is(out), announce: true}
}

func (r *buildReporter) every() time.Duration {
	if r.terminal {
		return time.Second
	}
	return 15 * time.Second
}

func (r *buildReporter) report(p binaries.Progress) {
	if p.Waiting {
		fmt.Fprintf(r.out, "Waiting for another process that builds %s %s\n", p.Set.Name, p.Set.Version)
		return
	}
	if r.announce {
		fmt.Fprintf(r.out, "Building %s %s from its Go module; this happens once\n", p.Set.Name, p.Set.Version)
		r.announce = false
	}
	start, end := "", "\n"
	if r.terminal {
		start = "\r\x1b[K"
		if !p.Done {
			end = ""
		}
	}
	fmt.Fprint(r.out, start, describeBuild(p), end)
}

// describeBuild is the line that tells about one program. It is pure.
func describeBuild(p binaries.Progress) string {
	elapsed := p.Elapsed.Round(time.Second)
	line := fmt.Sprintf("  [%d/%d] %s", p.Index, p.Count, p.Program.Name)
	switch {
	case p.Done:
		return fmt.Sprintf("%s built in %s", line, elapsed)
	case elapsed == 0:
		return fmt.Sprintf("%s (up to about %s)", line, p.Program.Cold)
	default:
		return fmt.Sprintf("%s %s of up to about %s", line, elapsed, p.Program.Cold)
	}
}
