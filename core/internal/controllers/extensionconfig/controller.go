package extensionconfig

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/extension/registration"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/extension/wire"
	"github.com/slipway-capi/slipway/contract/patch"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-extensionconfig"

// Controller reconciles ExtensionConfigs.
type Controller struct {
	Client client.Client
	// Live reads without cache: the Secrets with authorities belong to no cluster.
	Live     client.Reader
	Registry *registry.Registry
	Pool     *wire.Pool
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of an ExtensionConfig must have to be handled here.
	WatchFilter string
	// Namespace limits the manager to one namespace, also for Secrets; empty means all.
	Namespace string
}

// +kubebuilder:rbac:groups=runtime.cluster.x-k8s.io,resources=extensionconfigs;extensionconfigs/status,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

// An extension that cannot be asked is asked again at growing distances, one that can from time to time: a new program behind the
// same address may serve more.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 2 * time.Minute
	again      = 10 * time.Minute
)

// SetupWithManager registers the controller, its watches and the registration of extensions.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	secrets, err := c.secrets(mgr)
	if err != nil {
		return err
	}
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	own := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{})
	err = ctrl.NewControllerManagedBy(mgr).Named("extensionconfig").For(&runtimev1.ExtensionConfig{}, builder.WithPredicates(own)).
		WatchesRawSource(source.Kind(secrets, secret, handler.TypedEnqueueRequestsFromMapFunc(c.ofSecret))).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		}).Complete(c)
	if err != nil {
		return fmt.Errorf("building the extensionconfig controller: %w", err)
	}
	if err := mgr.Add(&registration.Runnable{Cache: mgr.GetCache(), Registry: c.Registry, Pool: c.Pool}); err != nil {
		return fmt.Errorf("adding the registration of extensions: %w", err)
	}
	return nil
}

// secrets is a cache of names and versions of all Secrets: the manager's own one holds only those of clusters.
func (c *Controller) secrets(mgr ctrl.Manager) (cache.Cache, error) {
	scope := cache.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), DefaultTransform: trim}
	if c.Namespace != "" {
		scope.DefaultNamespaces = map[string]cache.Config{c.Namespace: {}}
	}
	secrets, err := cache.New(mgr.GetConfig(), scope)
	if err != nil {
		return nil, fmt.Errorf("making the cache of metadata: %w", err)
	}
	if err := mgr.Add(secrets); err != nil {
		return nil, fmt.Errorf("adding the cache of metadata: %w", err)
	}
	return secrets, nil
}

// trim keeps what tells versions of a Secret apart.
func trim(object any) (any, error) {
	if o, ok := object.(*metav1.PartialObjectMetadata); ok {
		o.ObjectMeta = metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion}
	}
	return object, nil
}

// ofSecret finds the ExtensionConfigs that get their authorities from a Secret.
func (c *Controller) ofSecret(ctx context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
	list := &runtimev1.ExtensionConfigList{}
	if err := c.Client.List(ctx, list); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if key, ok := SecretOf(&list.Items[i]); ok && key == client.ObjectKeyFromObject(secret) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

// Reconcile asks one extension what it serves.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	config := &runtimev1.ExtensionConfig{}
	if err := c.Client.Get(ctx, req.NamespacedName, config); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !config.DeletionTimestamp.IsZero() || c.WatchFilter != "" && config.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	d := Decide(c.observe(ctx, config))
	if ctx.Err() != nil {
		return reconcile.Result{}, ctx.Err() // the manager stops, which says nothing about the extension
	}
	if err := errors.Join(d.Err, c.act(ctx, config, d)); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: again + rand.N(again/10)}, nil
}

// act writes what was decided.
func (c *Controller) act(ctx context.Context, before *runtimev1.ExtensionConfig, d Decision) error {
	owned := patch.Owned(runtimev1.ExtensionConfigDiscoveredCondition, clusterv1.PausedCondition)
	return patch.Begin(c.Client, FieldOwner, before).Finish(ctx, d.Config, owned)
}
