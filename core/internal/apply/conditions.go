package apply

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Conditions applies conditions to an object whose status belongs to another controller. Those given are all that the
// field owner wants there: one that it applied before and that is missing now goes away. The object is not changed.
func Conditions(ctx context.Context, c client.Client, fieldOwner string, obj client.Object, list ...metav1.Condition) error {
	gvk, err := apiutil.GVKForObject(obj, c.Scheme())
	if err != nil {
		return fmt.Errorf("finding the kind of %s: %w", obj.GetName(), err)
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind,
		"metadata": map[string]any{"name": obj.GetName(), "namespace": obj.GetNamespace(), "uid": obj.GetUID()},
		"status":   map[string]any{"conditions": list},
	})
	if err != nil {
		return fmt.Errorf("encoding conditions of %s: %w", obj.GetName(), err)
	}
	target := &unstructured.Unstructured{}
	target.SetGroupVersionKind(gvk)
	target.SetNamespace(obj.GetNamespace())
	target.SetName(obj.GetName())
	err = c.Status().Patch(ctx, target, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(fieldOwner), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("applying conditions of %s %s: %w", gvk.Kind, obj.GetName(), err)
	}
	return nil
}
