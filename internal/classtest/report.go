package classtest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-capi/slipway/internal/terminal"
)

// summary is a report for programs.
type summary struct {
	Passed int       `json:"passed"`
	Failed int       `json:"failed"`
	Cases  []Outcome `json:"cases"`
}

func summarise(outcomes []Outcome) summary {
	s := summary{Cases: outcomes}
	for _, o := range outcomes {
		if o.Passed {
			s.Passed++
		} else {
			s.Failed++
		}
	}
	return s
}

// Failed is how many cases are not as expected.
func Failed(outcomes []Outcome) int { return summarise(outcomes).Failed }

// PrintJSON writes a report for programs.
func PrintJSON(w io.Writer, outcomes []Outcome) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(summarise(outcomes))
}

// Print writes a report for people: a line per case, and what differs. How many cases failed is for the caller to tell.
func Print(w io.Writer, outcomes []Outcome) error {
	paint := func(s terminal.Style, text string) string {
		if !terminal.Colours(w) {
			return text
		}
		return s.Paint(text)
	}
	var out strings.Builder
	for _, o := range outcomes {
		verdict := paint(terminal.Good, "PASS")
		if !o.Passed {
			verdict = paint(terminal.Bad, "FAIL")
		}
		fmt.Fprintf(&out, "%s  %s  %s\n", verdict, o.File, strings.TrimPrefix(o.Test+": "+o.Case, ": "))
		if o.Updated != "" {
			fmt.Fprintf(&out, "      %s is written\n", o.Updated)
		}
		for _, warning := range o.Warnings {
			fmt.Fprintf(&out, "      %s\n", paint(terminal.Waiting, "warning: "+warning))
		}
		for _, p := range o.Problems {
			fmt.Fprintf(&out, "      %s\n", strings.ReplaceAll(p.What, "\n", "\n      "))
			for line := range strings.Lines(p.Diff) {
				fmt.Fprintf(&out, "        %s\n", paint(style(line), strings.TrimSuffix(line, "\n")))
			}
		}
	}
	if s := summarise(outcomes); s.Failed == 0 {
		fmt.Fprintf(&out, "All cases passed: %d\n", s.Passed)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func style(line string) terminal.Style {
	switch {
	case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		return terminal.Strong
	case strings.HasPrefix(line, "-"):
		return terminal.Bad
	case strings.HasPrefix(line, "+"):
		return terminal.Good
	case strings.HasPrefix(line, "@@"):
		return terminal.Faint
	}
	return terminal.Plain
}
