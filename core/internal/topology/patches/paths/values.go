package paths

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// judge says where a value is of another type than its schema, has fields that are not there, or is none of those that are allowed.
// Bounds and required fields are left to the API server: a later patch may still complete the object.
func judge(s *structuralschema.Structural, value any, path *field.Path) field.ErrorList {
	if s == nil || value == nil {
		return nil // the API server drops null
	}
	if want := expected(s, value); want != "" {
		return field.ErrorList{field.TypeInvalid(path, shown(value), "must be "+want)}
	}
	switch v := value.(type) {
	case map[string]any:
		return object(s, v, path)
	case []any:
		var problems field.ErrorList
		for i, item := range v {
			problems = append(problems, judge(s.Items, item, path.Index(i))...)
		}
		return problems
	}
	return allowed(s, value, path)
}

func object(s *structuralschema.Structural, value map[string]any, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(value)) {
		next, problem := step(s, key)
		if problem != "" {
			problems = append(problems, field.Invalid(path.Child(key), shown(value[key]), "there is no such field; "+right(s, key)))
			continue
		}
		problems = append(problems, judge(next, value[key], path.Child(key))...)
	}
	return problems
}

// expected names the type that a value should have; empty if it has it.
func expected(s *structuralschema.Structural, value any) string {
	have := typeOf(value)
	switch {
	case s.XIntOrString:
		if have != "integer" && have != "string" {
			return "a whole number or a string"
		}
		return ""
	case s.Type == "", s.Type == have, s.Type == "number" && have == "integer":
		return ""
	}
	return article(s.Type)
}

func typeOf(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	}
	return "integer"
}

func article(kind string) string {
	switch kind {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "integer":
		return "a whole number"
	case "boolean":
		return "true or false"
	}
	return "a " + kind
}

func allowed(s *structuralschema.Structural, value any, path *field.Path) field.ErrorList {
	if s.ValueValidation == nil || len(s.ValueValidation.Enum) == 0 {
		return nil
	}
	var names []string
	for _, e := range s.ValueValidation.Enum {
		if reflect.DeepEqual(e.Object, value) {
			return nil
		}
		names = append(names, shown(e.Object))
	}
	return field.ErrorList{field.NotSupported(path, shown(value), names)}
}

// shown is a value as users write it.
func shown(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}
