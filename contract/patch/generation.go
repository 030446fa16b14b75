package patch

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/conditions"
)

// onlyOwnChange says whether the generation has grown by this writer's own change of the spec and nothing else. The status was decided with that
// change in mind, so it may claim the new generation at once; otherwise the next reconcile would write it again for the number alone.
func (h *Helper) onlyOwnChange(obj client.Object) bool {
	return h.before.GetGeneration() > 0 && obj.GetGeneration() == h.before.GetGeneration()+1
}

// advance moves what was observed at one generation to the next, in the object, and returns the status to apply.
func advance(obj client.Object, from int64, s settings) (map[string]any, error) {
	if setter, ok := obj.(conditions.Setter); ok {
		list := slices.Clone(setter.GetConditions())
		for i := range list {
			if list[i].ObservedGeneration == from && (len(s.owned) == 0 || s.owned[list[i].Type]) {
				list[i].ObservedGeneration = from + 1
			}
		}
		setter.SetConditions(list)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if n, found, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration"); found && n == from {
			if err := unstructured.SetNestedField(u.Object, from+1, "status", "observedGeneration"); err != nil {
				return nil, err
			}
		}
	} else if n := observedGeneration(obj); n != nil && *n == from {
		*n = from + 1
	}
	now, err := toMap(obj)
	if err != nil {
		return nil, err
	}
	return ownStatus(now, s), nil
}

// observedGeneration finds status.observedGeneration of a typed object, or nil if its kind has none.
func observedGeneration(obj client.Object) *int64 {
	value := reflect.Indirect(reflect.ValueOf(obj))
	if value.Kind() != reflect.Struct {
		return nil
	}
	status := value.FieldByName("Status")
	if !status.IsValid() || status.Kind() != reflect.Struct {
		return nil
	}
	n := status.FieldByName("ObservedGeneration")
	if !n.IsValid() || n.Kind() != reflect.Int64 || !n.CanAddr() {
		return nil
	}
	return n.Addr().Interface().(*int64)
}
