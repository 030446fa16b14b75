// Package alike finds the names that somebody may have meant who wrote another one. It is pure.
package alike

import (
	"cmp"
	"slices"
	"strings"
)

// shortest is the length from which a name that is a part of another one is taken for an abbreviation.
const shortest = 4

// To are those of the names that look like a name, or abbreviate it, the most alike first.
func To(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	small := strings.ToLower(name)
	for _, other := range names {
		big := strings.ToLower(other)
		d := distance(small, big)
		part := len(name) >= shortest && len(other) >= shortest && (strings.Contains(small, big) || strings.Contains(big, small))
		if part || d <= max(1, (len(name)+2)/3) {
			found = append(found, candidate{other, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, c := range found {
		out = append(out, c.name)
	}
	return out
}

// distance is how many characters must be put in, taken out or replaced to make one name of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			step := diagonal
			if a[i] != b[j] {
				step = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], step
		}
	}
	return row[len(b)]
}
