package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Overlay reads objects as they would be: some are put over what is stored, some are taken away. It selects by namespace and
// labels; other selectors see only what is stored.
type Overlay struct {
	client.Reader
	scheme *runtime.Scheme
	over   map[overlayKey]*unstructured.Unstructured
}

type overlayKey struct {
	schema.GroupKind
	client.ObjectKey
}

// NewOverlay puts nothing over a reader yet. The scheme knows the kinds of typed objects.
func NewOverlay(reader client.Reader, scheme *runtime.Scheme) *Overlay {
	return &Overlay{Reader: reader, scheme: scheme, over: map[overlayKey]*unstructured.Unstructured{}}
}

// With is the overlay with one more object as it would be.
func (o *Overlay) With(obj client.Object) (*Overlay, error) {
	gvk, err := apiutil.GVKForObject(obj, o.scheme)
	if err != nil {
		return nil, fmt.Errorf("finding the kind of %s: %w", obj.GetName(), err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj.DeepCopyObject())
	if err != nil {
		return nil, fmt.Errorf("converting %s: %w", obj.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	return o.put(overlayKey{gvk.GroupKind(), client.ObjectKeyFromObject(obj)}, u), nil
}

// Without is the overlay without an object.
func (o *Overlay) Without(kind schema.GroupKind, key client.ObjectKey) *Overlay {
	return o.put(overlayKey{kind, key}, nil)
}

func (o *Overlay) put(key overlayKey, u *unstructured.Unstructured) *Overlay {
	out := &Overlay{Reader: o.Reader, scheme: o.scheme, over: maps.Clone(o.over)}
	out.over[key] = u
	return out
}

// Get implements [client.Reader].
func (o *Overlay) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(into, o.scheme)
	if err != nil {
		return fmt.Errorf("finding the kind of %s: %w", key, err)
	}
	u, ok := o.over[overlayKey{gvk.GroupKind(), key}]
	switch {
	case !ok:
		return o.Reader.Get(ctx, key, into, opts...)
	case u == nil:
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	return fill(u, into)
}

func fill(u *unstructured.Unstructured, into runtime.Object) error {
	if to, ok := into.(*unstructured.Unstructured); ok {
		to.Object = u.DeepCopy().Object
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(u.DeepCopy().Object, into)
}

// List implements [client.Reader].
func (o *Overlay) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := o.Reader.List(ctx, list, opts...); err != nil {
		return err
	}
	gvk, err := apiutil.GVKForObject(list, o.scheme)
	if err != nil {
		return fmt.Errorf("finding the kind of a list: %w", err)
	}
	kind := schema.GroupKind{Group: gvk.Group, Kind: gvk.Kind[:max(0, len(gvk.Kind)-len("List"))]}
	items, err := meta.ExtractList(list)
	if err != nil {
		return fmt.Errorf("reading a list of %s: %w", kind, err)
	}
	items = slices.DeleteFunc(items, func(item runtime.Object) bool {
		stored, err := meta.Accessor(item)
		if err != nil {
			return false
		}
		_, covered := o.over[overlayKey{kind, client.ObjectKey{Namespace: stored.GetNamespace(), Name: stored.GetName()}}]
		return covered
	})
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	for key, u := range o.over {
		if u == nil || key.GroupKind != kind || options.Namespace != "" && options.Namespace != key.Namespace || !selects(options, u) {
			continue
		}
		item, err := o.item(list, u)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	return meta.SetList(list, items)
}

func selects(options client.ListOptions, u *unstructured.Unstructured) bool {
	return (options.FieldSelector == nil || options.FieldSelector.Empty()) && (options.LabelSelector == nil || options.LabelSelector.Matches(labels.Set(u.GetLabels())))
}

// item is an object as a list holds it.
func (o *Overlay) item(list client.ObjectList, u *unstructured.Unstructured) (runtime.Object, error) {
	if _, ok := list.(*unstructured.UnstructuredList); ok {
		return u.DeepCopy(), nil
	}
	item, err := o.scheme.New(u.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	return item, fill(u, item)
}
