package quickstart

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Kept is a field that differs from the manifests because somebody else has set it.
type Kept struct {
	// Object and Field say what it is, By who has set it.
	Object, Field, By string
	// Is and Wanted are the values, unless they are secret or whole structures.
	Is, Wanted string
}

// String is a sentence without its end.
func (k Kept) String() string {
	out := k.Object + " " + k.Field
	if k.Is != "" && k.Wanted != "" {
		out += " is " + k.Is + ", not " + k.Wanted
	}
	if k.By != "" {
		out += " (set by " + k.By + ")"
	}
	return out
}

// keep takes the field of a conflict out of an object that is to be applied. It is not ok if the field cannot be found.
func keep(live, wanted *unstructured.Unstructured, conflict metav1.StatusCause) (Kept, bool) {
	k := Kept{Object: name(wanted), Field: strings.TrimPrefix(conflict.Field, "."), By: managerOf(conflict.Message)}
	parent, key, ok := find(wanted.Object, conflict.Field)
	if !ok {
		return k, false
	}
	if wanted.GetKind() != "Secret" {
		k.Wanted = scalar(parent[key])
		if there, key, ok := find(live.Object, conflict.Field); ok {
			k.Is = scalar(there[key])
		}
	}
	delete(parent, key)
	return k, true
}

// managerOf is the name in `conflict with "kubectl" using apps/v1`.
func managerOf(message string) string {
	_, after, _ := strings.Cut(message, `"`)
	manager, _, _ := strings.Cut(after, `"`)
	return manager
}

// scalar writes a value that is short.
func scalar(value any) string {
	switch value := value.(type) {
	case map[string]any, []any, nil:
		return ""
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// find goes a path as API servers write it in conflicts, such as .spec.list[name="a"].replicas, and returns the map that
// holds its last field. Keys may contain dots, so those that are there decide where a key ends.
func find(value any, path string) (parent map[string]any, key string, ok bool) {
	switch value := value.(type) {
	case map[string]any:
		rest, isField := strings.CutPrefix(path, ".")
		if !isField {
			return nil, "", false
		}
		for key, below := range value {
			after, begins := strings.CutPrefix(rest, key)
			if begins && after == "" {
				return value, key, true
			}
			if begins {
				if parent, last, ok := find(below, after); ok {
					return parent, last, true
				}
			}
		}
	case []any:
		keys, rest, ok := itemKeys(path)
		i := slices.IndexFunc(value, func(item any) bool { return ok && has(item, keys) })
		if i >= 0 {
			return find(value[i], rest)
		}
	}
	return nil, "", false
}

// itemKeys reads [name="a",port=1] at the beginning of a path: the fields that tell an item of a list from the others.
func itemKeys(path string) (keys map[string]any, rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, "[")
	keys = map[string]any{}
	for ok {
		key, value, found := strings.Cut(rest, "=")
		decoder := json.NewDecoder(strings.NewReader(value))
		var decoded any
		if !found || key == "" || decoder.Decode(&decoded) != nil {
			return nil, "", false
		}
		keys[key], rest = decoded, value[decoder.InputOffset():]
		if after, ends := strings.CutPrefix(rest, "]"); ends {
			return keys, after, true
		}
		rest, ok = strings.CutPrefix(rest, ",")
	}
	return nil, "", false
}

func has(item any, keys map[string]any) bool {
	fields, _ := item.(map[string]any)
	for key, want := range keys {
		if fmt.Sprint(fields[key]) != fmt.Sprint(want) {
			return false
		}
	}
	return true
}
