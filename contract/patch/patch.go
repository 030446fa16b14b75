// Package patch writes what a reconcile changed on one object, and nothing when it changed nothing.
// It needs controller-runtime.
package patch

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/slipway-capi/slipway/contract/conditions"
)

// Helper remembers an object as it was read. Metadata and spec go out as one merge patch (with an optimistic lock only
// where lists are read, changed and written: finalizers and owner references), status as one server-side apply that
// holds only the conditions that this writer owns, so that several controllers can report on one object.
type Helper struct {
	client client.Client
	owner  string
	before client.Object
}

// Begin remembers the object before it is changed. The field owner is the name under which status is applied.
func Begin(c client.Client, fieldOwner string, obj client.Object) *Helper {
	return &Helper{client: c, owner: fieldOwner, before: obj.DeepCopyObject().(client.Object)}
}

// Option tells [Helper.Finish] more about the write.
type Option func(*settings)

type settings struct{ owned map[string]bool }

// Owned names the condition types that this writer sets. Without it all conditions are written.
func Owned(conditionTypes ...string) Option {
	return func(s *settings) {
		for _, t := range conditionTypes {
			s.owned[t] = true
		}
	}
}

// Finish writes the difference between the object now and when [Begin] saw it: at most one patch of metadata and spec
// and one apply of status. An object that has gone meanwhile is no error if it was being deleted.
func (h *Helper) Finish(ctx context.Context, obj client.Object, opts ...Option) error {
	s := settings{owned: map[string]bool{}}
	for _, o := range opts {
		o(&s)
	}
	if setter, ok := obj.(conditions.Setter); ok {
		conditions.Stamp(setter, time.Now())
	}
	before, err := toMap(h.before)
	if err != nil {
		return err
	}
	after, err := toMap(obj)
	if err != nil {
		return err
	}
	oldStatus, newStatus := ownStatus(before, s.owned), ownStatus(after, s.owned)
	delete(before, "status")
	delete(after, "status")
	if err := h.patchObject(ctx, obj, before, after); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(oldStatus, newStatus) {
		return nil
	}
	return h.applyStatus(ctx, obj, newStatus)
}

func toMap(obj client.Object) (map[string]any, error) {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("converting %s: %w", obj.GetName(), err)
	}
	return m, nil
}

// ownStatus is the status with only the owned conditions.
func ownStatus(obj map[string]any, owned map[string]bool) map[string]any {
	status, ok := obj["status"].(map[string]any)
	if !ok {
		return map[string]any{}
	}
	out := runtime.DeepCopyJSON(status)
	list, ok := out["conditions"].([]any)
	if !ok || len(owned) == 0 {
		return out
	}
	var mine []any
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && owned[fmt.Sprint(m["type"])] {
			mine = append(mine, c)
		}
	}
	out["conditions"] = mine
	if mine == nil {
		delete(out, "conditions")
	}
	return out
}

func (h *Helper) patchObject(ctx context.Context, obj client.Object, before, after map[string]any) error {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	oldJSON, err := json.Marshal(before)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", obj.GetName(), err)
	}
	newJSON, err := json.Marshal(after)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", obj.GetName(), err)
	}
	diff, err := jsonpatch.CreateMergePatch(oldJSON, newJSON)
	if err != nil {
		return fmt.Errorf("comparing %s: %w", obj.GetName(), err)
	}
	if string(diff) == "{}" {
		return nil
	}
	if h.listsChanged(obj) {
		if diff, err = jsonpatch.MergeMergePatches(diff, fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q}}`, h.before.GetResourceVersion())); err != nil {
			return fmt.Errorf("locking %s: %w", obj.GetName(), err)
		}
	}
	target := h.before.DeepCopyObject().(client.Object)
	err = h.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, diff), client.FieldOwner(h.owner))
	if apierrors.IsNotFound(err) && obj.GetDeletionTimestamp() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("patching %s: %w", obj.GetName(), err)
	}
	obj.SetResourceVersion(target.GetResourceVersion())
	obj.SetGeneration(target.GetGeneration())
	return nil
}

func (h *Helper) listsChanged(obj client.Object) bool {
	return !equality.Semantic.DeepEqual(h.before.GetFinalizers(), obj.GetFinalizers()) ||
		!equality.Semantic.DeepEqual(h.before.GetOwnerReferences(), obj.GetOwnerReferences())
}

func (h *Helper) applyStatus(ctx context.Context, obj client.Object, status map[string]any) error {
	if obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 {
		return nil // the object went with its last finalizer
	}
	gvk, err := apiutil.GVKForObject(obj, h.client.Scheme())
	if err != nil {
		return fmt.Errorf("finding the kind of %s: %w", obj.GetName(), err)
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind,
		"metadata": map[string]any{"name": obj.GetName(), "namespace": obj.GetNamespace(), "uid": string(obj.GetUID())},
		"status":   status,
	})
	if err != nil {
		return fmt.Errorf("encoding the status of %s: %w", obj.GetName(), err)
	}
	target := &metav1.PartialObjectMetadata{}
	target.SetGroupVersionKind(gvk)
	target.SetName(obj.GetName())
	target.SetNamespace(obj.GetNamespace())
	err = h.client.SubResource("status").Patch(ctx, target, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(h.owner), client.ForceOwnership)
	if apierrors.IsNotFound(err) && obj.GetDeletionTimestamp() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("applying the status of %s: %w", obj.GetName(), err)
	}
	obj.SetResourceVersion(target.GetResourceVersion())
	return nil
}
