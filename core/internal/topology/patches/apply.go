package patches

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// Extensions are those behind external patches.
type Extensions interface {
	// GeneratePatches asks the extension of a patch for its changes.
	GeneratePatches(ctx context.Context, extension string, request *hooks.GeneratePatchesRequest) (*hooks.GeneratePatchesResponse, error)
	// ValidateTopology asks the extension of a patch whether the templates are good; an error says why not.
	ValidateTopology(ctx context.Context, extension string, request *hooks.ValidateTopologyRequest) error
}

// Apply carries the patches of a class out, one after the other, on all templates, and returns the templates as they then are.
// Errors name the patch and the template; the same input always gives the same error.
func Apply(ctx context.Context, patches []clusterv1.ClusterClassPatch, values Values, templates []Template, extensions Extensions) ([]Template, error) {
	out := slices.Clone(templates)
	for i := range out {
		out[i].Object = out[i].Object.DeepCopy()
	}
	for _, patch := range patches {
		if err := applyOne(ctx, patch, values, out, extensions); err != nil {
			return nil, fmt.Errorf("patch %s: %w", patch.Name, err)
		}
	}
	for _, patch := range patches {
		if patch.External == nil || patch.External.ValidateTopologyExtension == "" {
			continue
		}
		if extensions == nil {
			return nil, fmt.Errorf("patch %s: %w", patch.Name, errNoExtensions)
		}
		request := validation(patch.External.Settings, values, out)
		if err := extensions.ValidateTopology(ctx, patch.External.ValidateTopologyExtension, request); err != nil {
			return nil, fmt.Errorf("patch %s: %w", patch.Name, err)
		}
	}
	return out, nil
}

var errNoExtensions = errors.New("it is external, and extensions are not enabled (feature gate RuntimeSDK)")

func applyOne(ctx context.Context, patch clusterv1.ClusterClassPatch, values Values, templates []Template, extensions Extensions) error {
	if patch.External != nil {
		if patch.External.GeneratePatchesExtension == "" {
			return nil
		}
		if extensions == nil {
			return errNoExtensions
		}
		return external(ctx, patch.External, values, templates, extensions)
	}
	for i := range templates {
		t := &templates[i]
		decoded, err := decode(merged(values, t.Values))
		if err != nil {
			return err
		}
		if err := inline(patch, t, decoded); err != nil {
			return fmt.Errorf("%s: %w", t.describe(), err)
		}
	}
	return nil
}

// describe names a template as its class and its cluster know it.
func (t Template) describe() string {
	if t.Class == "" {
		return fmt.Sprintf("%s %s", t.Role, t.Object.GetKind())
	}
	return fmt.Sprintf("%s %s of %s", t.Role, t.Object.GetKind(), t.Holder.Name)
}

func external(ctx context.Context, patch *clusterv1.ClusterClassPatchExternal, values Values, templates []Template, extensions Extensions) error {
	request := &hooks.GeneratePatchesRequest{CommonRequest: hooks.CommonRequest{Settings: patch.Settings}, Variables: listed(values)}
	for _, t := range templates {
		request.Items = append(request.Items, hooks.GeneratePatchesRequestItem{
			UID: t.UID, HolderReference: t.Holder, Object: runtime.RawExtension{Object: t.Object}, Variables: listed(t.Values),
		})
	}
	response, err := extensions.GeneratePatches(ctx, patch.GeneratePatchesExtension, request)
	if err != nil {
		return err
	}
	for _, item := range response.Items {
		i := slices.IndexFunc(templates, func(t Template) bool { return t.UID == item.UID })
		if i < 0 {
			return fmt.Errorf("extension %s answers about a template that it was not asked about", patch.GeneratePatchesExtension)
		}
		apply := applyJSONPatch
		switch item.PatchType {
		case hooks.JSONPatchType:
		case hooks.JSONMergePatchType:
			apply = applyMergePatch
		default:
			return fmt.Errorf("extension %s answers with the unknown type of patches %q", patch.GeneratePatchesExtension, item.PatchType)
		}
		if err := apply(&templates[i], item.Patch); err != nil {
			return fmt.Errorf("the answer of extension %s for %s: %w", patch.GeneratePatchesExtension, templates[i].describe(), err)
		}
	}
	return nil
}

func validation(settings map[string]string, values Values, templates []Template) *hooks.ValidateTopologyRequest {
	request := &hooks.ValidateTopologyRequest{CommonRequest: hooks.CommonRequest{Settings: settings}, Variables: listed(values)}
	for _, t := range templates {
		request.Items = append(request.Items, &hooks.ValidateTopologyRequestItem{
			HolderReference: t.Holder, Object: runtime.RawExtension{Object: t.Object}, Variables: listed(t.Values),
		})
	}
	return request
}

func listed(values Values) []hooks.Variable {
	var out []hooks.Variable
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, hooks.Variable{Name: name, Value: values[name]})
	}
	return out
}

// change replaces spec.template.spec by what a function makes of the template; whatever else the function changed is dropped.
func (t *Template) change(function func(before []byte) ([]byte, error)) error {
	before, err := t.Object.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encoding the template: %w", err)
	}
	after, err := function(before)
	if err != nil {
		return err
	}
	var changed unstructured.Unstructured
	if err := changed.UnmarshalJSON(after); err != nil {
		return fmt.Errorf("the result is no object: %w", err)
	}
	spec, found, err := unstructured.NestedMap(changed.Object, "spec", "template", "spec")
	if err != nil {
		return fmt.Errorf("the result is no template: %w", err)
	}
	if !found {
		unstructured.RemoveNestedField(t.Object.Object, "spec", "template", "spec")
		return nil
	}
	return unstructured.SetNestedMap(t.Object.Object, spec, "spec", "template", "spec")
}

// merged are the values as one template has them: its own win, and of builtin both parts count.
func merged(values, own Values) Values {
	out := maps.Clone(values)
	if out == nil {
		out = Values{}
	}
	for name, value := range own {
		if both, ok := out[name]; ok && name == hooks.BuiltinsName {
			value = mergedBuiltins(both, value)
		}
		out[name] = value
	}
	return out
}

func mergedBuiltins(all, own clusterv1.JSON) clusterv1.JSON {
	parts := map[string]json.RawMessage{}
	if json.Unmarshal(all.Raw, &parts) != nil || json.Unmarshal(own.Raw, &parts) != nil {
		return own
	}
	raw, err := json.Marshal(parts)
	if err != nil {
		return own
	}
	return clusterv1.JSON{Raw: raw}
}
