// Package external reads, watches and resolves the provider objects that core objects refer to.
// It needs controller-runtime.
package external

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
)

// NewResolver finds contract versions through a client whose cache holds the metadata of CRDs.
func NewResolver(reader client.Reader) *contractversion.Resolver {
	return contractversion.NewResolver(contractversion.ReaderFunc(func(ctx context.Context, name string) (map[string]string, bool, error) {
		crd := &metav1.PartialObjectMetadata{}
		crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		err := reader.Get(ctx, client.ObjectKey{Name: name}, crd)
		if apierrors.IsNotFound(err) {
			return nil, false, nil
		}
		return crd.Labels, err == nil, err
	}))
}

// Object is a provider object as it was found.
type Object struct {
	*unstructured.Unstructured
	// Contract is the contract version that the object's API version implements.
	Contract string
}

// Get reads what a reference names. IsNotFound tells a missing object apart from all other errors, a missing CRD included.
func Get(ctx context.Context, reader client.Reader, resolver *contractversion.Resolver, ref clusterv1.ContractVersionedObjectReference, namespace string) (*Object, error) {
	gvk, contract, err := resolver.GVK(ctx, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, obj); err != nil {
		return nil, fmt.Errorf("reading %s %s/%s: %w", ref.Kind, namespace, ref.Name, err)
	}
	return &Object{Unstructured: obj, Contract: contract}, nil
}

// IsNotFound says whether an error of [Get] means that the object does not exist.
func IsNotFound(err error) bool {
	return apierrors.IsNotFound(err) && !errors.Is(err, contractversion.ErrNoCRD)
}

// Reference makes a contract reference to an object.
func Reference(obj *unstructured.Unstructured) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: obj.GroupVersionKind().Group, Kind: obj.GetKind(), Name: obj.GetName()}
}

// Watcher starts a watch on a kind once, however often it is asked.
type Watcher struct {
	controller controller.Controller
	cache      cache.Cache

	mu      sync.Mutex
	started map[schema.GroupKind]bool
}

// NewWatcher makes a Watcher that feeds a controller.
func NewWatcher(c controller.Controller, objects cache.Cache) *Watcher {
	return &Watcher{controller: c, cache: objects, started: map[schema.GroupKind]bool{}}
}

// Watch starts a watch on a kind, unless there is one.
func (w *Watcher) Watch(gvk schema.GroupVersionKind, h handler.EventHandler, predicates ...predicate.Predicate) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started[gvk.GroupKind()] {
		return nil
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	kind := source.Kind[client.Object](w.cache, obj, h, predicates...)
	if err := w.controller.Watch(kind); err != nil {
		return fmt.Errorf("watching %s: %w", gvk.GroupKind(), err)
	}
	w.started[gvk.GroupKind()] = true
	return nil
}
