// Package names writes lists of names for people.
package names

import (
	"fmt"
	"slices"
	"strings"
)

// most is how many names are told before they are only counted.
const most = 3

// Of names objects of a kind, sorted and each once, the first three at most: "Pods a, b, c and 4 more".
func Of(kind string, all []string) string {
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	if len(all) != 1 {
		kind += "s"
	}
	if len(all) <= most {
		return kind + " " + strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s %s and %d more", kind, strings.Join(all[:most], ", "), len(all)-most)
}
