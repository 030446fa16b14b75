package clustercache

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// NodeProviderIDIndex is the field by which cached Nodes can be listed (client.MatchingFields).
const NodeProviderIDIndex = "spec.providerID"

const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// Watcher is the part of a controller that a watch needs.
type Watcher interface {
	Watch(src source.Source) error
}

// WatchSpec is a watch in a workload cluster on behalf of a controller.
type WatchSpec struct {
	// Name tells watches of one connection apart; asking twice for one name starts one watch.
	Name string
	// Object is an empty object of the kind to watch.
	Object client.Object
	// Watcher is the controller to wake.
	Watcher Watcher
	// Handler maps the remote object to reconcile requests.
	Handler handler.EventHandler
	// Predicates drop events before they reach the handler.
	Predicates []predicate.Predicate
}

// watch starts a watch once. It returns at once; the first list is delivered as create events.
func (c *connection) watch(spec WatchSpec) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, running := c.watches[spec.Name]; running {
		return nil
	}
	if err := c.ensureCacheLocked(); err != nil {
		return err
	}
	kind := source.Kind(c.cache, spec.Object, spec.Handler, spec.Predicates...)
	if err := spec.Watcher.Watch(boundSource{Source: kind, connection: c.ctx}); err != nil {
		return fmt.Errorf("starting watch %s in cluster %s: %w", spec.Name, c.name, err)
	}
	c.watches[spec.Name] = struct{}{}
	return nil
}

func (c *connection) cachedClient() (client.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ensureCacheLocked(); err != nil {
		return nil, err
	}
	return c.cached, nil
}

// ensureCacheLocked makes and starts the cache without waiting for it; reads wait, each with its own deadline.
func (c *connection) ensureCacheLocked() error {
	if c.cache != nil {
		return nil
	}
	made, err := cache.New(c.config.Load(), cache.Options{
		HTTPClient: c.http, Scheme: c.options.Scheme, Mapper: c.direct.RESTMapper(),
		DefaultTransform: trim, ByObject: c.options.ByObject,
	})
	if err != nil {
		return fmt.Errorf("making the cache of cluster %s: %w", c.name, err)
	}
	if err := made.IndexField(c.ctx, &corev1.Node{}, NodeProviderIDIndex, nodeProviderID); err != nil {
		return fmt.Errorf("indexing Nodes of cluster %s: %w", c.name, err)
	}
	cached, err := client.New(c.config.Load(), client.Options{
		HTTPClient: c.http, Scheme: c.options.Scheme, Mapper: c.direct.RESTMapper(),
		Cache: &client.CacheOptions{
			Reader:     boundedReader{Reader: made, timeout: requestTimeout},
			DisableFor: c.options.neverCached(),
		},
	})
	if err != nil {
		return fmt.Errorf("making the cached client of cluster %s: %w", c.name, err)
	}
	go func() { _ = made.Start(c.ctx) }()
	c.cache, c.cached = made, cached
	return nil
}

// boundSource ends a watch together with its connection, also while it still waits for the first list.
type boundSource struct {
	source.Source
	connection context.Context
}

// Start implements source.Source.
func (s boundSource) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(s.connection, cancel)
	return s.Source.Start(ctx, queue)
}

// String names the source in logs.
func (s boundSource) String() string { return fmt.Sprintf("workload cluster %v", s.Source) }

func nodeProviderID(object client.Object) []string {
	if node, ok := object.(*corev1.Node); ok && node.Spec.ProviderID != "" {
		return []string{node.Spec.ProviderID}
	}
	return nil
}

// trim removes what no controller reads. Managed fields and the image list make up most of a Node.
func trim(object any) (any, error) {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	accessor, ok := object.(client.Object)
	if !ok {
		return nil, errors.New("not an API object")
	}
	accessor.SetManagedFields(nil)
	if annotations := accessor.GetAnnotations(); annotations[lastAppliedAnnotation] != "" {
		delete(annotations, lastAppliedAnnotation)
		accessor.SetAnnotations(annotations)
	}
	if node, ok := object.(*corev1.Node); ok {
		node.Status.Images = nil
		node.Status.Config = nil
		node.Status.RuntimeHandlers = nil
	}
	return object, nil
}
