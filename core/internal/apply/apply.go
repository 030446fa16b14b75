// Package apply creates and updates the children of a controller by server-side apply, and sends nothing that would
// change nothing. It is for controllers whose children others write to as well: what an earlier intent held and the
// present one does not hold goes away, what others added stays.
package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Send applies an intent and reads the result into it. An intent that carries a UID never creates: if the object has
// gone meanwhile the answer is a conflict, not an object raised from the dead.
func Send(ctx context.Context, c client.Client, fieldOwner string, want client.Object) error {
	body, err := encode(want)
	if err != nil {
		return err
	}
	return send(ctx, c, fieldOwner, want, body)
}

func send(ctx context.Context, c client.Client, fieldOwner string, want client.Object, body []byte) error {
	if err := c.Patch(ctx, want, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(fieldOwner), client.ForceOwnership); err != nil {
		return err
	}
	return own(ctx, c, want)
}

// beforeFirstApply is whom the API server names as the owner of all that an object held when its records of owners were empty.
const beforeFirstApply = "before-first-apply"

// own ends the consequences of a lost record of owners: as long as beforeFirstApply shares in a field, taking it out of the intent does not take
// it out of the object. A race is no error, since the next apply finds the same.
func own(ctx context.Context, c client.Client, obj client.Object) error {
	at := slices.IndexFunc(obj.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == beforeFirstApply })
	if at < 0 || len(obj.GetManagedFields()) < 2 {
		return nil
	}
	body := fmt.Appendf(nil, `[{"op":"test","path":"/metadata/resourceVersion","value":%q},{"op":"remove","path":"/metadata/managedFields/%d"}]`, obj.GetResourceVersion(), at)
	err := c.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, body))
	if apierrors.IsInvalid(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func encode(want client.Object) ([]byte, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return nil, fmt.Errorf("converting %s: %w", want.GetName(), err)
	}
	delete(content, "status")
	body, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", want.GetName(), err)
	}
	return body, nil
}

// Memory remembers what was last applied to each child that holds more than is wanted. Such a surplus is either
// somebody else's or left over from an earlier intent; only an apply can tell, and one apply is enough to know.
type Memory struct {
	mu   sync.Mutex
	sent map[types.NamespacedName]map[types.UID]record
}

type record struct {
	intent  uint64
	version string
}

// Update is one child as it is and as it is wanted.
type Update struct {
	// Parent is whose child it is.
	Parent types.NamespacedName
	// Have is the child as it was read; Want is the complete intent of the field owner.
	Have, Want client.Object
	// Covered says that Have already holds all of Want.
	Covered bool
	// Surplus says that Have holds something beyond Want that an earlier intent may have brought.
	Surplus bool
}

// Apply sends the intent unless that would change nothing; it says whether it did. Afterwards Want is the object as stored.
func (m *Memory) Apply(ctx context.Context, c client.Client, fieldOwner string, u Update) (bool, error) {
	if u.Covered && !u.Surplus {
		return false, nil
	}
	u.Want.SetUID(u.Have.GetUID())
	body, err := encode(u.Want)
	if err != nil {
		return false, err
	}
	h := fnv.New64a()
	_, _ = h.Write(body)
	last := m.last(u)
	if last.intent == h.Sum64() && (u.Covered || last.version == u.Have.GetResourceVersion()) {
		return false, nil
	}
	if err := send(ctx, c, fieldOwner, u.Want, body); err != nil {
		return false, err
	}
	m.note(u, record{intent: h.Sum64(), version: u.Want.GetResourceVersion()})
	return true, nil
}

func (m *Memory) last(u Update) record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sent[u.Parent][u.Have.GetUID()]
}

func (m *Memory) note(u Update, r record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sent == nil {
		m.sent = map[types.NamespacedName]map[types.UID]record{}
	}
	if m.sent[u.Parent] == nil {
		m.sent[u.Parent] = map[types.UID]record{}
	}
	m.sent[u.Parent][u.Have.GetUID()] = r
}

// Keep forgets the children of a parent that no longer exist; without children it forgets the parent.
func (m *Memory) Keep(parent types.NamespacedName, children map[types.UID]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid := range m.sent[parent] {
		if !children[uid] {
			delete(m.sent[parent], uid)
		}
	}
	if len(m.sent[parent]) == 0 {
		delete(m.sent, parent)
	}
}

// Covers says whether one set of labels or annotations holds all of another.
func Covers(have, want map[string]string) bool {
	for k, v := range want {
		if x, ok := have[k]; !ok || x != v {
			return false
		}
	}
	return true
}

// Owned says whether an object has every wanted owner reference exactly as wanted.
func Owned(have metav1.Object, want []metav1.OwnerReference) bool {
	for _, w := range want {
		found := false
		for _, h := range have.GetOwnerReferences() {
			found = found || (h.UID == w.UID && h.APIVersion == w.APIVersion && isTrue(h.Controller) == isTrue(w.Controller))
		}
		if !found {
			return false
		}
	}
	return true
}

func isTrue(b *bool) bool { return b != nil && *b }
