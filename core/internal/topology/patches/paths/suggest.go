package paths

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// missing says that a field is not there, and what would be right: names like it, the same name at another place, or all names.
func missing(root, at *structuralschema.Structural, kind string, walked []string, name string) string {
	text := fmt.Sprintf("%s has no field %s", kind, strings.Join(append(slices.Clone(walked), name), "."))
	if len(near(at, name)) == 0 {
		if places := elsewhere(root, name); len(places) > 0 {
			return text + "; there is " + listed(places, 3, " and ")
		}
	}
	return text + "; " + right(at, name)
}

// right says which fields there are instead of one that is not there.
func right(at *structuralschema.Structural, name string) string {
	if names := near(at, name); len(names) > 0 {
		return "did you mean " + listed(names, 3, " or ") + "?"
	}
	if len(at.Properties) == 0 {
		return "there are no fields"
	}
	return "there is " + listed(slices.Sorted(maps.Keys(at.Properties)), 12, ", ")
}

// listed names the first few of many.
func listed(names []string, most int, between string) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, between)
}

// shortest is the length from which a name that is a part of another one is taken for an abbreviation.
const shortest = 4

// near are the fields whose names look like a name, or abbreviate it, the most alike first.
func near(at *structuralschema.Structural, name string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	small := strings.ToLower(name)
	for _, other := range slices.Sorted(maps.Keys(at.Properties)) {
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

// deepest is how many steps below what patches may change a field is still found.
const deepest = 4

// elsewhere are the paths of all fields of a name, the shortest first.
func elsewhere(root *structuralschema.Structural, name string) []string {
	at := root
	for _, token := range []string{"spec", "template", "spec"} {
		next, ok := at.Properties[token]
		if !ok {
			return nil
		}
		at = &next
	}
	type place struct {
		path   string
		schema *structuralschema.Structural
	}
	var found []string
	level := []place{{"spec.template.spec", at}}
	for range deepest {
		var next []place
		for _, p := range level {
			for _, key := range slices.Sorted(maps.Keys(p.schema.Properties)) {
				below := p.schema.Properties[key]
				path := p.path + "." + key
				if key == name {
					found = append(found, path)
				}
				next = append(next, place{path, &below})
			}
		}
		level = next
	}
	return found
}
