package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/slipway-capi/slipway/internal/clustertree"
	"github.com/slipway-capi/slipway/internal/terminal"
)

// Format is how progress is shown.
type Format string

// The formats.
const (
	// Text is a tree that is painted again and again on a terminal, and a line per step elsewhere.
	Text Format = "text"
	// Verbose is Text with a line per changed condition in place of steps.
	Verbose Format = "verbose"
	// JSON is a document per changed condition.
	JSON Format = "json"
)

// Display shows one tree after the other.
type Display struct {
	out    io.Writer
	format Format
	start  time.Time
	now    func() time.Time

	repaint, colours bool
	previous         *clustertree.Node
	painted          int
	// said is when the last line was written.
	said time.Time
}

// heartbeat is how long nothing is said at most while something is waited for, where no tree is painted.
const heartbeat = 15 * time.Second

// NewDisplay begins to show progress.
func NewDisplay(out io.Writer, format Format) *Display {
	return &Display{
		out: out, format: format, start: time.Now(), said: time.Now(), now: time.Now,
		repaint: format == Text && terminal.Is(out), colours: format != JSON && terminal.Colours(out),
	}
}

// Show shows what is new in a tree.
func (d *Display) Show(root *clustertree.Node) error {
	defer func() { d.previous = root }()
	switch {
	case d.repaint && root == nil:
		return nil // the last tree stays
	case d.repaint:
		return d.paint(root)
	case d.format == Text:
		for _, step := range Steps(d.previous, root) {
			if err := d.say(step); err != nil {
				return err
			}
		}
		return d.beat(root)
	}
	for _, change := range Changes(d.previous, root) {
		change.Time, change.Elapsed = d.now(), d.now().Sub(d.start)
		if err := d.print(change); err != nil {
			return err
		}
	}
	if d.format == JSON {
		return nil
	}
	return d.beat(root)
}

// say writes a line with the time.
func (d *Display) say(text string) error {
	d.said = d.now()
	_, err := fmt.Fprintf(d.out, "%6.1fs  %s\n", d.Elapsed().Seconds(), text)
	return err
}

// beat says what is waited for if nothing has been said for a while.
func (d *Display) beat(root *clustertree.Node) error {
	waiting := Of(root).Waiting
	if root == nil || len(waiting) == 0 || d.now().Sub(d.said) < heartbeat {
		return nil
	}
	return d.say(cut("waiting: "+strings.Join(waiting, "; "), 200))
}

func (d *Display) print(change Change) error {
	if d.format == JSON {
		return json.NewEncoder(d.out).Encode(change)
	}
	d.said = d.now()
	_, err := fmt.Fprintln(d.out, Line(change, d.colours))
	return err
}

// Elapsed is how long the display has been running.
func (d *Display) Elapsed() time.Duration { return d.now().Sub(d.start) }

// Finish writes the whole tree where only changes were written before.
func (d *Display) Finish(root *clustertree.Node) error {
	if d.format == JSON || d.repaint {
		return nil
	}
	_, err := fmt.Fprintf(d.out, "\n%s\n", strings.Join(Tree(root, Look{Colours: d.colours, Now: d.now()}), "\n"))
	return err
}

// paint replaces the tree that was painted last. What does not fit the screen is cut, as lines that have scrolled away
// cannot be painted over.
func (d *Display) paint(root *clustertree.Node) error {
	width, height := terminal.Size(d.out)
	lines := Tree(root, Look{Colours: d.colours, Width: width, Now: d.now()})
	if len(lines) > height-2 && height > 3 {
		hidden := len(lines) - (height - 3)
		lines = append(lines[:height-3], fmt.Sprintf("… and %d more", hidden))
	}
	header := fmt.Sprintf("%s after %s", Of(root).summary(), age(d.now(), d.start))
	var b strings.Builder
	if d.painted > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", d.painted)
	}
	for _, line := range append([]string{header}, lines...) {
		b.WriteString("\r\x1b[K" + line + "\n")
	}
	b.WriteString("\x1b[J")
	d.painted = len(lines) + 1
	_, err := io.WriteString(d.out, b.String())
	return err
}

func (r Rollout) summary() string {
	if r.Done() {
		return fmt.Sprintf("All %d Nodes are ready", r.Nodes)
	}
	return fmt.Sprintf("%d of %d Nodes are ready", r.Nodes, r.Machines)
}
