// Package pending reads and writes lists of names in annotations, such as that of the hooks that must still be told.
package pending

import (
	"slices"
	"strings"
)

// List reads the names of an annotation, each once and in order.
func List(annotation string) []string {
	var out []string
	for name := range strings.SplitSeq(annotation, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Join writes names as an annotation.
func Join(names []string) string { return strings.Join(names, ",") }
