package inplace

import "k8s.io/apimachinery/pkg/runtime"

// Rebase brings what was made from one template to another one. Fields in which the templates are equal stay as they are, and
// so do those that neither has, which a provider has added.
func Rebase(have, from, to map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(have)
	if out == nil {
		out = map[string]any{}
	}
	for key := range from {
		if _, wanted := to[key]; !wanted {
			delete(out, key)
		}
	}
	for key, value := range to {
		before, had := from[key]
		if had && same(before, value) {
			continue
		}
		inner, isMap := value.(map[string]any)
		present, wasMap := out[key].(map[string]any)
		if isMap && wasMap {
			old, _ := before.(map[string]any)
			out[key] = Rebase(present, old, inner)
			continue
		}
		out[key] = runtime.DeepCopyJSONValue(value)
	}
	return out
}
