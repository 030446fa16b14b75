package templates

import (
	"encoding/json"
	"errors"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// difference is the JSON merge patch (RFC 7386) that makes a changed template of one before. It refuses what managers would
// drop without a word: changes outside spec.template.spec.
func difference(before, after map[string]any) (patch []byte, changed bool, err error) {
	if !reflect.DeepEqual(outside(before), outside(after)) {
		return nil, false, errors.New("only spec.template.spec of a template can be changed")
	}
	tree := mergePatch(before, after)
	if len(tree) == 0 {
		return nil, false, nil
	}
	patch, err = json.Marshal(tree)
	return patch, true, err
}

// outside is a template without what can be changed.
func outside(object map[string]any) map[string]any {
	out := (&unstructured.Unstructured{Object: object}).DeepCopy().Object
	unstructured.RemoveNestedField(out, "spec", "template", "spec")
	return out
}

// mergePatch lists what differs; a field that has gone is null.
func mergePatch(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range before {
		if _, there := after[key]; !there {
			patch[key] = nil
		}
	}
	for key, value := range after {
		old, there := before[key]
		if there && reflect.DeepEqual(old, value) {
			continue
		}
		oldMap, oldOK := old.(map[string]any)
		newMap, newOK := value.(map[string]any)
		if oldOK && newOK {
			if inner := mergePatch(oldMap, newMap); len(inner) > 0 {
				patch[key] = inner
			}
			continue
		}
		patch[key] = value
	}
	return patch
}
