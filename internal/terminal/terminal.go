// Package terminal tells whether somebody looks at the output, and colours it if so.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Is says whether a writer is a terminal that understands escape sequences.
func Is(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

// Size returns width and height in characters, or 0, 0 where there is no terminal.
func Size(w io.Writer) (width, height int) {
	file, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// Style is how a text looks.
type Style string

// The styles in use; each has a meaning.
const (
	Plain   Style = ""
	Good    Style = "32" // green
	Bad     Style = "31" // red
	Waiting Style = "33" // yellow
	Faint   Style = "2"
	Strong  Style = "1"
)

// Colours says whether to colour what is written to w; NO_COLOR switches it off.
func Colours(w io.Writer) bool { return Is(w) && os.Getenv("NO_COLOR") == "" }

// Paint puts a text into a style.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
