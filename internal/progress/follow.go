package progress

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/internal/clustertree"
)

// contractLabel is on the CRD of every kind that belongs to a cluster, whoever wrote it; its value lists the versions to use.
const contractLabel = "cluster.x-k8s.io/v1beta2"

// coalesce is how long changes are gathered before the tree is built again.
const coalesce = 100 * time.Millisecond

// Follow watches everything in the namespace of a cluster and calls show with the tree, which is nil while there is no such
// Cluster, at the beginning, after changes, and each second. It returns when show returns false or an error, when the context ends, or
// when the management cluster has not answered for a while.
func Follow(ctx context.Context, client dynamic.Interface, cluster types.NamespacedName, show func(*clustertree.Node) (bool, error)) error {
	kinds, err := contractKinds(ctx, client)
	if err != nil {
		return err
	}
	watcher := &watcher{changed: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := watcher.start(ctx, client, cluster.Namespace, kinds); err != nil {
		return err
	}
	silent := make(chan error, 1)
	go func() { silent <- probe(ctx, asker(client, cluster, kinds), probeEvery, patience) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		more, err := show(clustertree.Build(watcher.objects(), cluster))
		if err != nil || !more {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-silent:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		case <-tick.C: // ages go on
		case <-watcher.changed:
			time.Sleep(coalesce)
		}
	}
}

// contractKinds finds the kinds that have the contract label, without templates.
func contractKinds(ctx context.Context, client dynamic.Interface) ([]schema.GroupVersionResource, error) {
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	list, err := client.Resource(crds).List(ctx, metav1.ListOptions{LabelSelector: contractLabel})
	if err != nil {
		return nil, fmt.Errorf("listing the kinds of the contract: %w", err)
	}
	var kinds []schema.GroupVersionResource
	for i := range list.Items {
		if kind, ok := resource(&list.Items[i]); ok {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("no kind carries the label %s: this is no management cluster", contractLabel)
	}
	return kinds, nil
}

func resource(crd *unstructured.Unstructured) (schema.GroupVersionResource, bool) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
	versions := strings.Split(crd.GetLabels()[contractLabel], "_")
	slices.Sort(versions)
	newest := versions[len(versions)-1]
	// Only these groups are parts of clusters; add-ons, address claims and extensions stand beside them.
	part := group == clusterv1.GroupVersion.Group || strings.HasPrefix(group, "infrastructure.") ||
		strings.HasPrefix(group, "controlplane.") || strings.HasPrefix(group, "bootstrap.")
	ok := part && scope == "Namespaced" && newest != "" && !strings.HasSuffix(kind, "Template") && kind != "ClusterClass"
	return schema.GroupVersionResource{Group: group, Version: newest, Resource: plural}, ok
}

// watcher keeps the objects of several kinds.
type watcher struct {
	informers []cache.SharedIndexInformer
	changed   chan struct{}

	mutex sync.Mutex
	err   error
}

func (w *watcher) start(ctx context.Context, client dynamic.Interface, namespace string, kinds []schema.GroupVersionResource) error {
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	var synced []cache.InformerSynced
	for _, kind := range kinds {
		informer := factory.ForResource(kind).Informer()
		if err := informer.SetWatchErrorHandler(w.failed); err != nil {
			return err
		}
		if err := informer.SetTransform(trim); err != nil {
			return err
		}
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { w.poke() },
			UpdateFunc: func(any, any) { w.poke() },
			DeleteFunc: func(any) { w.poke() },
		})
		if err != nil {
			return err
		}
		w.informers = append(w.informers, informer)
		synced = append(synced, registration.HasSynced)
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		return fmt.Errorf("reading the objects of the cluster: %w (%v)", ctx.Err(), w.err)
	}
	return nil
}

// failed keeps the last error for the case that no list ever succeeds; informers try again by themselves.
func (w *watcher) failed(_ *cache.Reflector, err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.err = err
}

func (w *watcher) poke() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *watcher) objects() []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, informer := range w.informers {
		for _, item := range informer.GetStore().List() {
			if o, ok := item.(*unstructured.Unstructured); ok {
				objects = append(objects, o)
			}
		}
	}
	return objects
}

// trim drops what is never shown.
func trim(item any) (any, error) {
	if accessor, err := meta.Accessor(item); err == nil {
		accessor.SetManagedFields(nil)
	}
	return item, nil
}
