package apply

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Contains says whether an object already has every field of an intent, whatever else it has. Lists count as wholes,
// except for owner references and finalizers, to which others add; status does not count.
func Contains(have, want client.Object) (bool, error) {
	a, err := fields(have)
	if err != nil {
		return false, err
	}
	b, err := fields(want)
	if err != nil {
		return false, err
	}
	return holds(a, b), nil
}

func fields(obj client.Object) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("converting %s: %w", obj.GetName(), err)
	}
	delete(content, "status")
	delete(content, "kind") // objects that were read through a typed client have none
	delete(content, "apiVersion")
	return content, nil
}

func holds(have, want map[string]any) bool {
	for key, wanted := range want {
		value, found := have[key]
		inner, isObject := wanted.(map[string]any)
		list, isList := wanted.([]any)
		switch {
		case !found:
			return false
		case isObject:
			if sub, ok := value.(map[string]any); !ok || !holds(sub, inner) {
				return false
			}
		case isList && (key == "ownerReferences" || key == "finalizers"):
			if !includes(value, list) {
				return false
			}
		case !reflect.DeepEqual(value, wanted):
			return false
		}
	}
	return true
}

func includes(have any, want []any) bool {
	list, _ := have.([]any)
	for _, wanted := range want {
		found := false
		for _, value := range list {
			found = found || reflect.DeepEqual(value, wanted)
		}
		if !found {
			return false
		}
	}
	return true
}
