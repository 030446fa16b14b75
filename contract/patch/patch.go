// Package patch writes what a reconcile changed on one object, and nothing when it changed nothing; it needs controller-runtime.
package patch

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

type settings struct {
	owned map[string]bool
	// only says that the rest of the status is another controller's.
	only bool
	// with are fields of status that a writer of conditions writes as well, without those that another writer writes.
	with, without [][]string
}

// Owned names the condition types that this writer sets. One of them that is missing now disappears from the object;
// all others are left to their writers. Without this option all conditions are written.
func Owned(conditionTypes ...string) Option {
	return func(s *settings) {
		for _, t := range conditionTypes {
			s.owned[t] = true
		}
	}
}

// OwnedOnly is like [Owned] for a writer that reports on an object of another controller: nothing else of its status is
// written, or claimed.
func OwnedOnly(conditionTypes ...string) Option {
	return func(s *settings) {
		Owned(conditionTypes...)(s)
		s.only = true
	}
}

// With names a field of status, by its path, that a writer with [OwnedOnly] writes besides its conditions.
func With(path ...string) Option { return func(s *settings) { s.with = append(s.with, path) } }

// Without names a field of status, by its path, that is another controller's.
func Without(path ...string) Option {
	return func(s *settings) { s.without = append(s.without, path) }
}

// Finish writes the difference between the object now and when [Begin] saw it: at most one patch of metadata and spec
// and one apply of status. An object that has gone meanwhile is no error if it was being deleted. Afterwards the object
// carries its new resource version and generation, and the helper remembers it as it is, so that Finish can be called again.
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
	oldStatus, newStatus := ownStatus(before, s), ownStatus(after, s)
	gone, err := h.patchObject(ctx, obj, before, after)
	if err != nil || gone {
		return err
	}
	if h.onlyOwnChange(obj) {
		if newStatus, err = advance(obj, h.before.GetGeneration(), s); err != nil {
			return err
		}
	}
	if !equality.Semantic.DeepEqual(oldStatus, newStatus) {
		if err := h.applyStatus(ctx, obj, oldStatus, newStatus, s); err != nil {
			return err
		}
	}
	h.before = obj.DeepCopyObject().(client.Object)
	return nil
}

func toMap(obj client.Object) (map[string]any, error) {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("converting %s: %w", obj.GetName(), err)
	}
	return m, nil
}

// ownStatus is the status with only the owned conditions.
func ownStatus(obj map[string]any, s settings) map[string]any {
	status, ok := obj["status"].(map[string]any)
	if !ok {
		return map[string]any{}
	}
	out := make(map[string]any, len(status))
	for k, v := range status {
		if !s.only || k == "conditions" {
			out[k] = v
		}
	}
	for _, path := range s.with {
		if value, found, err := unstructured.NestedFieldCopy(status, path...); found && err == nil {
			place(out, value, path)
		}
	}
	for _, path := range s.without {
		out = drop(out, path)
	}
	list, ok := out["conditions"].([]any)
	if !ok {
		return out
	}
	var mine []any
	for _, c := range list {
		if len(s.owned) == 0 || s.owned[typeOf(c)] {
			mine = append(mine, c)
		}
	}
	// Where several writers share the list its order is nobody's: a difference in order alone is none.
	slices.SortStableFunc(mine, func(a, b any) int {
		return conditions.Compare(metav1.Condition{Type: typeOf(a)}, metav1.Condition{Type: typeOf(b)})
	})
	out["conditions"] = mine
	if mine == nil {
		delete(out, "conditions")
	}
	return out
}

// place puts a value at a path, with all that is above it.
func place(status map[string]any, value any, path []string) {
	for _, name := range path[:len(path)-1] {
		inner, ok := status[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			status[name] = inner
		}
		status = inner
	}
	status[path[len(path)-1]] = value
}

// drop is a status without a field, and without what only held that.
func drop(status map[string]any, path []string) map[string]any {
	value, there := status[path[0]]
	if !there {
		return status
	}
	out := maps.Clone(status)
	inner, ok := value.(map[string]any)
	if len(path) > 1 && !ok {
		return status
	}
	if len(path) > 1 {
		if inner = drop(inner, path[1:]); len(inner) > 0 {
			out[path[0]] = inner
			return out
		}
	}
	delete(out, path[0])
	return out
}

func typeOf(condition any) string {
	fields, _ := condition.(map[string]any)
	name, _ := fields["type"].(string)
	return name
}

// patchObject sends what differs outside status. It reports that the object is gone, which is what its deletion aims at.
func (h *Helper) patchObject(ctx context.Context, obj client.Object, before, after map[string]any) (gone bool, err error) {
	diff, err := difference(before, after)
	if err != nil {
		return false, fmt.Errorf("comparing %s: %w", obj.GetName(), err)
	}
	if string(diff) == "{}" {
		return false, nil
	}
	if h.listsChanged(obj) {
		lock := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q}}`, h.before.GetResourceVersion())
		if diff, err = jsonpatch.MergeMergePatches(diff, lock); err != nil {
			return false, fmt.Errorf("locking %s: %w", obj.GetName(), err)
		}
	}
	target := h.before.DeepCopyObject().(client.Object)
	err = h.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, diff), client.FieldOwner(h.owner))
	if apierrors.IsNotFound(err) && obj.GetDeletionTimestamp() != nil {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("patching %s: %w", obj.GetName(), err)
	}
	obj.SetResourceVersion(target.GetResourceVersion())
	obj.SetGeneration(target.GetGeneration())
	// An object goes with its last finalizer, and its status with it.
	return obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0, nil
}

// difference is the merge patch of everything but status.
func difference(before, after map[string]any) ([]byte, error) {
	old, err := json.Marshal(withoutStatus(before))
	if err != nil {
		return nil, err
	}
	changed, err := json.Marshal(withoutStatus(after))
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(old, changed)
}

func withoutStatus(obj map[string]any) map[string]any {
	out := make(map[string]any, len(obj))
	for k, v := range obj {
		if k != "status" {
			out[k] = v
		}
	}
	return out
}

func (h *Helper) listsChanged(obj client.Object) bool {
	return !equality.Semantic.DeepEqual(h.before.GetFinalizers(), obj.GetFinalizers()) ||
		!equality.Semantic.DeepEqual(h.before.GetOwnerReferences(), obj.GetOwnerReferences())
}
