package paths

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/slipway-capi/slipway/core/internal/topology/patches/alike"
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

// near are the fields whose names look like a name, the most alike first.
func near(at *structuralschema.Structural, name string) []string {
	return alike.To(name, slices.Sorted(maps.Keys(at.Properties)))
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
