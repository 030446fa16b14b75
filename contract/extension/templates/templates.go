package templates

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// Template is one template of a request.
type Template struct {
	// Object is the template. It can be changed in place, in spec.template.spec.
	Object *unstructured.Unstructured
	// Holder says who refers to the template, and in which field.
	Holder hooks.HolderReference

	common, own []hooks.Variable
}

// Change lets a function change the templates of a request, in their order, and fills the response in with the difference. A
// template that stays as it is gets no entry. An error ends it, with the template's kind and holder in front.
func Change(request *hooks.GeneratePatchesRequest, response *hooks.GeneratePatchesResponse, change func(t *Template) error) error {
	for _, item := range request.Items {
		object, err := decode(item.Object)
		if err != nil {
			return err
		}
		t := &Template{Object: object.DeepCopy(), Holder: item.HolderReference, common: request.Variables, own: item.Variables}
		if err := change(t); err != nil {
			return fmt.Errorf("%s: %w", t.describe(), err)
		}
		patch, changed, err := difference(object.Object, t.Object.Object)
		if err != nil {
			return fmt.Errorf("%s: %w", t.describe(), err)
		}
		if changed {
			response.Items = append(response.Items, hooks.GeneratePatchesResponseItem{UID: item.UID, PatchType: hooks.JSONMergePatchType, Patch: patch})
		}
	}
	return nil
}

// Check lets a function judge the templates of a request, in their order, and returns everything it finds, joined.
func Check(request *hooks.ValidateTopologyRequest, check func(t Template) error) error {
	var errs []error
	for _, item := range request.Items {
		object, err := decode(item.Object)
		if err != nil {
			return err
		}
		t := Template{Object: object, Holder: item.HolderReference, common: request.Variables, own: item.Variables}
		if err := check(t); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.describe(), err))
		}
	}
	return errors.Join(errs...)
}

// decode reads a template as a tree, whichever form the request holds it in.
func decode(raw runtime.RawExtension) (*unstructured.Unstructured, error) {
	content, err := raw.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding a template: %w", err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(content); err != nil {
		return nil, fmt.Errorf("reading a template: %w", err)
	}
	return o, nil
}

func (t *Template) describe() string {
	return fmt.Sprintf("%s of %s %s", t.Object.GetKind(), t.Holder.Kind, t.Holder.Name)
}

// Variable reads the value of a variable as this template has it: overrides of its worker group win. It says whether there is one.
func (t *Template) Variable(name string, into any) (bool, error) {
	for _, list := range [][]hooks.Variable{t.own, t.common} {
		for _, v := range list {
			if v.Name != name {
				continue
			}
			if err := json.Unmarshal(v.Value.Raw, into); err != nil {
				return false, fmt.Errorf("reading variable %s: %w", name, err)
			}
			return true, nil
		}
	}
	return false, nil
}

// Builtins is what every cluster tells about itself, and about the part that the template belongs to.
func (t *Template) Builtins() (hooks.Builtins, error) {
	var out hooks.Builtins
	for _, list := range [][]hooks.Variable{t.common, t.own} {
		for _, v := range list {
			if v.Name != hooks.BuiltinsName {
				continue
			}
			if err := json.Unmarshal(v.Value.Raw, &out); err != nil {
				return out, fmt.Errorf("reading variable %s: %w", hooks.BuiltinsName, err)
			}
		}
	}
	return out, nil
}
