package templates

import (
	"encoding/json"
	"fmt"
	"reflect"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// Edit lets a function change a template through a Go type. Fields that the type does not know stay as they are, also those inside
// lists. Fields that the function leaves alone stay as they are even where the type would write them differently.
func Edit[T any](t *Template, edit func(typed *T) error) error {
	raw, err := t.Object.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encoding the template: %w", err)
	}
	typed := new(T)
	if err := json.Unmarshal(raw, typed); err != nil {
		return fmt.Errorf("reading the template as %T: %w", *typed, err)
	}
	before, err := tree(typed)
	if err != nil {
		return err
	}
	if err := edit(typed); err != nil {
		return err
	}
	after, err := tree(typed)
	if err != nil {
		return err
	}
	t.Object.Object, _ = carry(t.Object.Object, before, after).(map[string]any)
	return nil
}

func tree(typed any) (map[string]any, error) {
	raw, err := json.Marshal(typed)
	if err != nil {
		return nil, fmt.Errorf("encoding the template: %w", err)
	}
	var out map[string]any
	if err := kjson.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("the type of the template is no object: %w", err)
	}
	return out, nil
}

// carry makes the change from before to after in raw, which before is a part of. It keeps what only raw has.
func carry(raw, before, after any) any {
	if reflect.DeepEqual(before, after) {
		return raw
	}
	switch a := after.(type) {
	case map[string]any:
		b, okBefore := before.(map[string]any)
		r, okRaw := raw.(map[string]any)
		if okBefore && okRaw {
			return carryMap(r, b, a)
		}
	case []any:
		b, okBefore := before.([]any)
		r, okRaw := raw.([]any)
		if okBefore && okRaw && len(b) == len(r) {
			return carryList(r, b, a)
		}
	}
	return after
}

func carryMap(raw, before, after map[string]any) map[string]any {
	out := make(map[string]any, len(raw))
	for key, value := range raw {
		_, had := before[key]
		if _, has := after[key]; !had || has {
			out[key] = value
		}
	}
	for key, value := range after {
		old, had := before[key]
		if !had || !reflect.DeepEqual(old, value) {
			out[key] = carry(raw[key], old, value)
		}
	}
	return out
}

// carryList matches elements: equal ones at the beginning and at the end are the same; those in between are the same one by one
// if neither their number nor their names differ.
func carryList(raw, before, after []any) []any {
	out := make([]any, 0, len(after))
	start := 0
	for start < len(before) && start < len(after) && reflect.DeepEqual(before[start], after[start]) {
		out = append(out, raw[start])
		start++
	}
	end := 0
	for end < len(before)-start && end < len(after)-start && reflect.DeepEqual(before[len(before)-1-end], after[len(after)-1-end]) {
		end++
	}
	middle := after[start : len(after)-end]
	paired := len(middle) == len(before)-start-end
	for i, value := range middle {
		at := start + i
		if !paired || !sameName(before[at], value) {
			at = find(before, value)
		}
		if at < 0 {
			out = append(out, value)
			continue
		}
		out = append(out, carry(raw[at], before[at], value))
	}
	return append(out, raw[len(raw)-end:]...)
}

// names are the fields that tell elements of lists apart.
var names = []string{"name", "key", "path"}

// find looks for the element that a value was before, among those that have names.
func find(before []any, value any) int {
	for i, b := range before {
		if reflect.DeepEqual(b, value) || nameOf(b) != "" && nameOf(b) == nameOf(value) {
			return i
		}
	}
	return -1
}

func sameName(a, b any) bool { return nameOf(a) == nameOf(b) }

func nameOf(element any) string {
	fields, _ := element.(map[string]any)
	for _, key := range names {
		if name, ok := fields[key].(string); ok {
			return key + "=" + name
		}
	}
	return ""
}
