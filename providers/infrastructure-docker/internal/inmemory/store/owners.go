package store

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

var namespaces = schema.GroupResource{Resource: "namespaces"}

// index keeps track of who names which owner.
func (s *Store) index(k Key, o, old *unstructured.Unstructured) {
	if old != nil {
		for _, r := range old.GetOwnerReferences() {
			delete(s.owned[r.UID], k)
			if len(s.owned[r.UID]) == 0 {
				delete(s.owned, r.UID)
			}
		}
	}
	if o == nil {
		return
	}
	for _, r := range o.GetOwnerReferences() {
		if s.owned[r.UID] == nil {
			s.owned[r.UID] = map[Key]struct{}{}
		}
		s.owned[r.UID][k] = struct{}{}
	}
}

// collect does after the end of an object what garbage collection does in a real cluster: those that it alone owned go too,
// unless they are to be orphaned, and with a namespace goes all that is in it.
func (s *Store) collect(k Key, gone *unstructured.Unstructured, orphan bool) {
	for _, d := range sorted(s.owned[gone.GetUID()]) {
		s.release(d, gone.GetUID(), orphan)
	}
	if k.Resource != namespaces {
		return
	}
	content := map[Key]struct{}{}
	for resource, objects := range s.objects {
		for name := range objects {
			if name.Namespace == k.Name {
				content[Key{Resource: resource, Namespace: name.Namespace, Name: name.Name}] = struct{}{}
			}
		}
	}
	for _, d := range sorted(content) {
		if s.objects[d.Resource][types.NamespacedName{Namespace: d.Namespace, Name: d.Name}] != nil { // not gone with another
			_, _ = s.delete(d, metav1.DeleteOptions{})
		}
	}
}

// release takes an owner that is gone out of an object. Without any other owner the object goes, too.
func (s *Store) release(k Key, owner types.UID, orphan bool) {
	old := s.objects[k.Resource][types.NamespacedName{Namespace: k.Namespace, Name: k.Name}]
	if old == nil {
		return
	}
	left := slices.DeleteFunc(old.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner })
	if len(left) == 0 && !orphan {
		_, _ = s.delete(k, metav1.DeleteOptions{})
		return
	}
	o := old.DeepCopy()
	o.SetOwnerReferences(left)
	s.put(k, o, old, watch.Modified)
}

// sorted gives keys an order, so that the same history always makes the same events.
func sorted(keys map[Key]struct{}) []Key {
	out := make([]Key, 0, len(keys))
	for k := range keys {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b Key) int {
		return cmp.Or(strings.Compare(a.Resource.String(), b.Resource.String()), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}
