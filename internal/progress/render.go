package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/internal/clustertree"
	"github.com/slipway-capi/slipway/internal/terminal"
)

// Look says how a tree is written.
type Look struct {
	// Colours adds escape sequences.
	Colours bool
	// Width cuts lines; 0 leaves them whole.
	Width int
	// Now is what ages are reckoned from.
	Now time.Time
}

// row is one line of a tree before the columns are aligned.
type row struct {
	branch, name, state, since, text string
	style                            terminal.Style
}

// Tree writes a tree, one line per object: how it is, since when, and why.
func Tree(root *clustertree.Node, look Look) []string {
	if root == nil {
		return nil
	}
	var rows []row
	collect(root, "", "", look.Now, &rows)
	nameWidth, stateWidth, sinceWidth := 0, 0, 0
	for _, r := range rows {
		nameWidth = max(nameWidth, utf8.RuneCountInString(r.branch+r.name))
		stateWidth = max(stateWidth, len(r.state))
		sinceWidth = max(sinceWidth, len(r.since))
	}
	lines := make([]string, 0, len(rows))
	for _, r := range rows {
		pad := strings.Repeat(" ", nameWidth-utf8.RuneCountInString(r.branch+r.name))
		left := r.branch + r.name + pad + "  "
		state := fmt.Sprintf("%-*s", stateWidth, r.state)
		right := fmt.Sprintf("  %*s  %s", sinceWidth, r.since, r.text)
		lines = append(lines, look.line(left, state, right, r.style))
	}
	return lines
}

// line joins the columns, cut to the width before they are coloured, so that no escape sequence is cut.
func (l Look) line(left, state, right string, style terminal.Style) string {
	if l.Width > 0 {
		right = cut(right, max(0, l.Width-utf8.RuneCountInString(left+state)))
	}
	if !l.Colours {
		return strings.TrimRight(left+state+right, " ")
	}
	return left + style.Paint(state) + terminal.Faint.Paint(strings.TrimRight(right, " "))
}

func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	if width < 1 {
		return ""
	}
	return string([]rune(text)[:width-1]) + "…"
}

func collect(n *clustertree.Node, branch, below string, now time.Time, rows *[]row) {
	r := row{branch: branch, name: n.Name()}
	r.state, r.since, r.text, r.style = describe(n, now)
	*rows = append(*rows, r)
	for i, child := range n.Children {
		if i == len(n.Children)-1 {
			collect(child, below+"└─ ", below+"   ", now, rows)
		} else {
			collect(child, below+"├─ ", below+"│  ", now, rows)
		}
	}
}

func describe(n *clustertree.Node, now time.Time) (state, since, text string, style terminal.Style) {
	if deleted := n.Object.GetDeletionTimestamp(); deleted != nil {
		return "Deleting", age(now, deleted.Time), "", terminal.Waiting
	}
	c := n.Headline()
	if c == nil {
		return "", age(now, n.Object.GetCreationTimestamp().Time), "", terminal.Plain
	}
	state, since = c.Type, age(now, c.LastTransitionTime.Time)
	switch c.Status {
	case metav1.ConditionTrue:
		return state, since, "", terminal.Good
	case metav1.ConditionUnknown:
		style = terminal.Waiting
	default:
		style = terminal.Bad
	}
	text = c.Reason
	if c.Message != "" {
		text = strings.TrimPrefix(oneLine(c.Message), "* ")
	}
	if failed := n.Condition(bootstrapreport.ConditionType); failed != nil {
		text, style = bootstrapreport.HeadlineOf(failed.Message), terminal.Bad
	}
	return "Not" + state, since, text, style
}

func age(now, then time.Time) string {
	if then.IsZero() || now.Before(then) {
		return "0s"
	}
	switch d := now.Sub(then); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// Line writes one change.
func Line(c Change, colours bool) string {
	at := fmt.Sprintf("%6.1fs", c.Elapsed.Seconds())
	if c.Gone {
		return fmt.Sprintf("%s  %s/%s is gone", at, c.Kind, c.Name)
	}
	status := string(c.Status)
	if colours {
		status = style(c).Paint(status)
	}
	line := fmt.Sprintf("%s  %s/%s  %s=%s", at, c.Kind, c.Name, c.Condition, status)
	switch {
	case c.Condition == bootstrapreport.ConditionType:
		line += "  " + c.Reason + ": " + report(c)
	case c.Status != metav1.ConditionTrue && c.Reason != "":
		line += "  " + c.Reason
		if c.Message != "" {
			line += ": " + strings.TrimPrefix(oneLine(c.Message), "* ")
		}
	}
	return line
}

// report is why a machine does not come up. The Machine tells all of it; its infrastructure, which said it first, in a line.
func report(c Change) string {
	if c.Kind != "Machine" {
		return bootstrapreport.HeadlineOf(c.Message)
	}
	return indented(c.Message)
}

func style(c Change) terminal.Style {
	switch {
	case c.Condition == bootstrapreport.ConditionType:
		return terminal.Bad
	case c.Status == metav1.ConditionTrue:
		return terminal.Good
	case c.Status == metav1.ConditionUnknown:
		return terminal.Waiting
	default:
		return terminal.Plain // False is bad for some conditions and good for others, as for Paused
	}
}
