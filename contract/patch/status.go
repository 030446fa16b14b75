package patch

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// applyStatus applies the status and makes sure that what was there before and is not wanted any more is gone.
func (h *Helper) applyStatus(ctx context.Context, obj client.Object, before, wanted map[string]any, s settings) error {
	gvk, err := apiutil.GVKForObject(obj, h.client.Scheme())
	if err != nil {
		return fmt.Errorf("finding the kind of %s: %w", obj.GetName(), err)
	}
	metadata := map[string]any{"name": obj.GetName()}
	if obj.GetNamespace() != "" {
		metadata["namespace"] = obj.GetNamespace()
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind, "metadata": metadata, "status": wanted,
	})
	if err != nil {
		return fmt.Errorf("encoding the status of %s: %w", obj.GetName(), err)
	}
	target := &unstructured.Unstructured{}
	target.SetGroupVersionKind(gvk)
	target.SetName(obj.GetName())
	target.SetNamespace(obj.GetNamespace())
	apply := func() error {
		return h.client.Status().Patch(ctx, target, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(h.owner), client.ForceOwnership)
	}
	if err = apply(); apierrors.IsInvalid(err) {
		if err = h.endShared(ctx, target, before, wanted, obj.GetResourceVersion(), err); err == nil {
			err = apply()
		}
	}
	if err == nil {
		err = h.removeRest(ctx, target, before, wanted, s)
	}
	switch {
	case apierrors.IsNotFound(err) && obj.GetDeletionTimestamp() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("applying the status of %s: %w", obj.GetName(), err)
	}
	obj.SetResourceVersion(target.GetResourceVersion())
	return nil
}

// endShared takes away conditions that are dropped and whose fields are partly another writer's: an apply would leave those parts behind, which are
// no valid condition. It returns the error of that apply if it was about something else.
func (h *Helper) endShared(ctx context.Context, target *unstructured.Unstructured, before, wanted map[string]any, version string, cause error) error {
	whole, err := toMap(h.before)
	if err != nil {
		return err
	}
	status, _ := whole["status"].(map[string]any)
	list, changed := withoutDropped(status, before, wanted)
	if !changed {
		return cause
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": version}, "status": map[string]any{"conditions": list},
	})
	if err != nil {
		return err
	}
	return h.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(h.owner))
}

// removeRest takes away what an apply could not: fields that were in the object before, are not wanted any more, and yet stay because another
// writer, or this one under an older way of writing, is recorded as an owner too. It is rare, and the only case of a third request.
func (h *Helper) removeRest(ctx context.Context, target *unstructured.Unstructured, before, wanted map[string]any, s settings) error {
	stored, _ := target.Object["status"].(map[string]any)
	unwanted := map[string]any{}
	for key := range before {
		if _, keep := wanted[key]; keep || key == "conditions" {
			continue
		}
		if _, there := stored[key]; there {
			unwanted[key] = nil
		}
	}
	nested(before, wanted, stored, unwanted)
	for _, path := range s.with {
		onlyField(path, before, wanted, stored, unwanted)
	}
	for _, path := range s.without {
		keepField(path, before, stored, unwanted)
	}
	change := map[string]any{"status": unwanted}
	if list, changed := withoutDropped(stored, before, wanted); changed {
		unwanted["conditions"] = list
		// The list is written as a whole, so nobody else may have changed it meanwhile.
		change["metadata"] = map[string]any{"resourceVersion": target.GetResourceVersion()}
	}
	if len(unwanted) == 0 {
		return nil
	}
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return h.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(h.owner))
}

// onlyField lets a writer of a single field take away that field, but not what other writers have beside it.
func onlyField(path []string, before, wanted, stored, unwanted map[string]any) {
	if _, keep := wanted[path[0]]; keep || len(path) == 1 {
		return
	}
	delete(unwanted, path[0])
	_, had, _ := unstructured.NestedFieldNoCopy(before, path...)
	_, there, _ := unstructured.NestedFieldNoCopy(stored, path...)
	if had && there {
		place(unwanted, nil, path)
	}
}

// keepField lets a writer take away all that it had in an object of the status, but not the field of another writer in there.
func keepField(path []string, before, stored, unwanted map[string]any) {
	value, all := unwanted[path[0]]
	if _, there, _ := unstructured.NestedFieldNoCopy(stored, path...); !there || !all || value != nil {
		return
	}
	delete(unwanted, path[0])
	old, _ := before[path[0]].(map[string]any)
	now, _ := stored[path[0]].(map[string]any)
	for name := range old {
		if _, there := now[name]; there {
			place(unwanted, nil, []string{path[0], name})
		}
	}
}

// nested finds unwanted fields inside objects that stay.
func nested(before, wanted, stored, unwanted map[string]any) {
	for key, value := range wanted {
		inner, ok1 := value.(map[string]any)
		old, ok2 := before[key].(map[string]any)
		now, ok3 := stored[key].(map[string]any)
		if !ok1 || !ok2 || !ok3 {
			continue
		}
		below := map[string]any{}
		for k := range old {
			_, keep := inner[k]
			if _, there := now[k]; there && !keep {
				below[k] = nil
			}
		}
		nested(old, inner, now, below)
		if len(below) > 0 {
			unwanted[key] = below
		}
	}
}

// withoutDropped is the stored list of conditions without those that this writer had and does not want any more.
func withoutDropped(stored, before, wanted map[string]any) (list []any, changed bool) {
	dropped := typesOf(before)
	for t := range typesOf(wanted) {
		delete(dropped, t)
	}
	list = []any{}
	current, _ := stored["conditions"].([]any)
	for _, c := range current {
		if dropped[typeOf(c)] {
			changed = true
			continue
		}
		list = append(list, c)
	}
	return list, changed && !reflect.DeepEqual(list, current)
}

func typesOf(status map[string]any) map[string]bool {
	list, _ := status["conditions"].([]any)
	found := make(map[string]bool, len(list))
	for _, c := range list {
		found[typeOf(c)] = true
	}
	return found
}
