package classtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// expected compares a part of an object with the objects that it can mean.
func expected(want map[string]any, objects []*unstructured.Unstructured) []Problem {
	w := &unstructured.Unstructured{Object: want}
	meant := named(objects, Object{Kind: w.GetKind(), Name: w.GetName()})
	if len(meant) == 0 {
		return []Problem{{What: fmt.Sprintf("no %s is made; there are %s", described(w), all(objects))}}
	}
	var problems []Problem
	for _, have := range meant {
		if text, same := compare(want, have.Object); !same {
			problems = append(problems, Problem{described(have) + " is not as expected", text})
		}
	}
	return problems
}

func unexpected(o Object, objects []*unstructured.Unstructured) []Problem {
	var problems []Problem
	for _, have := range named(objects, o) {
		problems = append(problems, Problem{What: described(have) + " is made, which must not be"})
	}
	return problems
}

func named(objects []*unstructured.Unstructured, o Object) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, have := range objects {
		if have.GetKind() == o.Kind && (o.Name == "" || have.GetName() == o.Name) {
			out = append(out, have)
		}
	}
	return out
}

func described(o *unstructured.Unstructured) string {
	return strings.TrimSpace(o.GetKind() + " " + o.GetName())
}

func all(objects []*unstructured.Unstructured) string {
	var names []string
	for _, o := range objects {
		names = append(names, described(o))
	}
	return strings.Join(names, ", ")
}

// compare shows where an object differs from the part that is expected of it.
func compare(want, have any) (text string, same bool) {
	w, h := asYAML(want), asYAML(part(want, have))
	if w == h {
		return "", true
	}
	return diff(w, h), false
}

// part is what an object has where something is expected. A field that is expected to be null must not be there. Lists must have the
// expected length; their elements may have more fields.
func part(want, have any) any {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return have
		}
		out := map[string]any{}
		for key, value := range w {
			if inner, there := h[key]; there {
				out[key] = part(value, inner)
			} else if value == nil {
				out[key] = nil
			}
		}
		return out
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return have
		}
		out := make([]any, len(w))
		for i := range w {
			out[i] = part(w[i], h[i])
		}
		return out
	}
	return have
}

func asYAML(value any) string {
	out, err := yaml.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// diff shows what differs, line by line.
func diff(want, made string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: slices.Collect(strings.Lines(want)), B: slices.Collect(strings.Lines(made)), FromFile: "expected", ToFile: "made", Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	return text
}
