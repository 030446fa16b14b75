package intent

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Merged is an object as it would be after an apply of want by the owner: what others have added stays, what an earlier intent held and
// this one does not goes. Lists are taken as a whole, but for owners and finalizers, to which is added.
func Merged(have, want *unstructured.Unstructured, owner string) *unstructured.Unstructured {
	c := &comparison{}
	c.removed(have, want, owner, nil)
	out := have.DeepCopy()
	for _, fields := range c.dropped {
		unstructured.RemoveNestedField(out.Object, fields...)
	}
	merge("", out.Object, want.Object)
	return out
}

func merge(path string, into, from map[string]any) {
	for key, value := range from {
		at := join(path, key)
		if slices.Contains(server, at) {
			continue
		}
		inner, isMap := value.(map[string]any)
		have, hasMap := into[key].(map[string]any)
		list, isList := value.([]any)
		old, hasList := into[key].([]any)
		switch {
		case isMap && hasMap:
			merge(at, have, inner)
		case isList && hasList && (at == "metadata.ownerReferences" || at == "metadata.finalizers"):
			into[key] = union(old, list)
		default:
			into[key] = runtime.DeepCopyJSONValue(value)
		}
	}
}

func union(have, want []any) []any {
	out := slices.Clone(have)
	for _, w := range want {
		c := &comparison{}
		c.members("", have, []any{w})
		if len(c.found) > 0 {
			out = append(out, w)
		}
	}
	return out
}
