// Package ownership reads and sets owner references, and reads owners through a controller-runtime client. An owner is
// matched by group, kind and name, so that an upgrade or a move of the owner refreshes its entry instead of adding a second one.
package ownership

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Reference makes a plain owner reference to an object of the kind.
func Reference(obj metav1.Object, gvk schema.GroupVersionKind) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: obj.GetName(), UID: obj.GetUID()}
}

// ControllerReference makes the reference of the one owner that controls an object and waits for its deletion.
func ControllerReference(obj metav1.Object, gvk schema.GroupVersionKind) metav1.OwnerReference {
	ref := Reference(obj, gvk)
	yes := true
	ref.Controller, ref.BlockOwnerDeletion = &yes, &yes
	return ref
}

// Ensure puts a reference into the object's list; it says whether that changed anything. If the reference is a
// controller, another entry that was the controller stays as a plain owner.
func Ensure(obj metav1.Object, ref metav1.OwnerReference) bool {
	refs := obj.GetOwnerReferences()
	found, changed := false, false
	out := make([]metav1.OwnerReference, 0, len(refs)+1)
	for _, r := range refs {
		switch {
		case Same(r, ref):
			if found {
				changed = true
				continue
			}
			found = true
			if !equal(r, ref) {
				r, changed = ref, true
			}
		case isTrue(ref.Controller) && isTrue(r.Controller):
			r.Controller, changed = nil, true
		}
		out = append(out, r)
	}
	if !found {
		out, changed = append(out, ref), true
	}
	if changed {
		obj.SetOwnerReferences(out)
	}
	return changed
}

// Take makes a reference the object's controller in place of another one, which loses its entry; it says whether that
// changed anything.
func Take(obj metav1.Object, ref metav1.OwnerReference) bool {
	former := metav1.GetControllerOf(obj)
	replaced := former != nil && !Same(*former, ref) && Remove(obj, *former)
	return Ensure(obj, ref) || replaced
}

// Remove takes the references to an owner out of the list; it says whether there was one.
func Remove(obj metav1.Object, ref metav1.OwnerReference) bool {
	var out []metav1.OwnerReference
	for _, r := range obj.GetOwnerReferences() {
		if !Same(r, ref) {
			out = append(out, r)
		}
	}
	if len(out) == len(obj.GetOwnerReferences()) {
		return false
	}
	obj.SetOwnerReferences(out)
	return true
}

// Same says whether two references name the same owner: group, kind and name.
func Same(a, b metav1.OwnerReference) bool {
	return a.Kind == b.Kind && a.Name == b.Name && group(a) == group(b)
}

// Has says whether the owner is in the object's list.
func Has(obj metav1.Object, owner metav1.OwnerReference) bool {
	for _, r := range obj.GetOwnerReferences() {
		if Same(r, owner) {
			return true
		}
	}
	return false
}

// Of returns the first owner of a group and kind, or nil.
func Of(obj metav1.Object, gk schema.GroupKind) *metav1.OwnerReference {
	for _, r := range obj.GetOwnerReferences() {
		if r.Kind == gk.Kind && group(r) == gk.Group {
			return &r
		}
	}
	return nil
}

// IsControlledBy says whether the object's controller is the owner with this UID.
func IsControlledBy(obj metav1.Object, owner metav1.Object) bool {
	ref := metav1.GetControllerOf(obj)
	return ref != nil && ref.UID == owner.GetUID()
}

func group(r metav1.OwnerReference) string {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	if err != nil {
		return r.APIVersion
	}
	return gv.Group
}

func equal(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.UID == b.UID && isTrue(a.Controller) == isTrue(b.Controller) &&
		isTrue(a.BlockOwnerDeletion) == isTrue(b.BlockOwnerDeletion)
}

func isTrue(b *bool) bool { return b != nil && *b }
