package inplace

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/cloning"
	"github.com/slipway-capi/slipway/contract/labels"
)

// ToTemplate is an object as another template wants it, with what others have added to it. Origin is the template that it was made
// from; nil if that is gone. It fails if one of the templates has no spec that things could be made from.
func ToTemplate(object, origin, template *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	clone, err := cloning.FromTemplate(cloning.Request{Template: template, Name: object.GetName()})
	if err != nil {
		return nil, err
	}
	var earlier map[string]any
	if origin != nil {
		earlier, _, err = unstructured.NestedMap(origin.Object, "spec", "template", "spec")
		if err != nil {
			return nil, fmt.Errorf("%s: spec.template.spec is no object", accessors.Describe(origin))
		}
	}
	have, _ := object.Object["spec"].(map[string]any)
	wanted, _ := clone.Object["spec"].(map[string]any)
	out := object.DeepCopy()
	out.Object["spec"] = Rebase(have, earlier, wanted)
	from := map[string]string{}
	for _, key := range []string{clusterv1.TemplateClonedFromNameAnnotation, clusterv1.TemplateClonedFromGroupKindAnnotation} {
		from[key] = clone.GetAnnotations()[key]
	}
	out.SetAnnotations(labels.Merge(object.GetAnnotations(), from))
	return out, nil
}

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
