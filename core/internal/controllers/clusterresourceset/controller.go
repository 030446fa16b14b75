package clusterresourceset

import (
	"context"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/paused"
	"github.com/slipway-capi/slipway/core/internal/freshness"
)

// FieldOwner is the name under which this controller writes, also into workload clusters.
const FieldOwner = "slipway-clusterresourceset"

// Controller delivers the resources of ClusterResourceSets.
type Controller struct {
	Client client.Client
	// Live reads without cache: payloads are read when they are needed.
	Live         client.Reader
	ClusterCache clustercache.Cache
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a set must have to be handled here.
	WatchFilter string
	// Namespace limits the controller to one namespace; empty means all.
	Namespace string

	// metadata holds names, versions and owners of all ConfigMaps and Secrets, and no content.
	metadata cache.Cache
	progress progress
	writes   freshness.Tracker
	reports  chan event.GenericEvent
}

// +kubebuilder:rbac:groups=addons.cluster.x-k8s.io,resources=clusterresourcesets;clusterresourcesets/status;clusterresourcesetbindings,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=addons.cluster.x-k8s.io,resources=clusterresourcesets/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets;configmaps,verbs=get;list;watch;patch;delete

// Deliveries that were refused are tried again at growing distances: soon at first, since an object may only wait for its
// CustomResourceDefinition to be served.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Minute
)

// reportsBuffer is how many changes may wait for the sets to be told.
const reportsBuffer = 1024

// SetupWithManager registers both reconcilers and their watches.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	scope := cache.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), DefaultTransform: trim}
	if c.Namespace != "" {
		scope.DefaultNamespaces = map[string]cache.Config{c.Namespace: {}}
	}
	var err error
	if c.metadata, err = cache.New(mgr.GetConfig(), scope); err != nil {
		return fmt.Errorf("making the cache of metadata: %w", err)
	}
	if err := mgr.Add(c.metadata); err != nil {
		return fmt.Errorf("adding the cache of metadata: %w", err)
	}
	c.reports = make(chan event.GenericEvent, reportsBuffer)
	options := controller.Options{MaxConcurrentReconciles: concurrency, RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)}
	delivery := ctrl.NewControllerManagedBy(mgr).Named("clusterresourceset-delivery").
		For(&clusterv1.Cluster{}, builder.WithPredicates(clusterMatters())).
		Watches(&addonsv1.ClusterResourceSet{}, handler.EnqueueRequestsFromMapFunc(c.clustersOfSet), builder.WithPredicates(setMatters())).
		Watches(&addonsv1.ClusterResourceSetBinding{}, &handler.EnqueueRequestForObject{}).
		WatchesRawSource(c.ClusterCache.Source("clusterresourceset", &handler.EnqueueRequestForObject{})).WithOptions(options)
	status := ctrl.NewControllerManagedBy(mgr).Named("clusterresourceset").
		For(&addonsv1.ClusterResourceSet{}).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.setsOfCluster), builder.WithPredicates(clusterMatters())).
		Watches(&addonsv1.ClusterResourceSetBinding{}, handler.EnqueueRequestsFromMapFunc(c.setsOfCluster)).
		WatchesRawSource(source.Channel(c.reports, &handler.EnqueueRequestForObject{})).WithOptions(options)
	for _, kind := range []string{addonsv1.ConfigMapClusterResourceSetResourceKind, addonsv1.SecretClusterResourceSetResourceKind} {
		delivery.WatchesRawSource(source.Kind(c.metadata, metadataOf(kind), handler.TypedEnqueueRequestsFromMapFunc(c.clustersOfResource(kind))))
		status.WatchesRawSource(source.Kind(c.metadata, metadataOf(kind), handler.TypedEnqueueRequestsFromMapFunc(c.setsOfResource(kind))))
	}
	if err := delivery.Complete(reconcile.Func(c.deliver)); err != nil {
		return fmt.Errorf("building the delivery of resources: %w", err)
	}
	if err := status.Complete(reconcile.Func(c.report)); err != nil {
		return fmt.Errorf("building the clusterresourceset controller: %w", err)
	}
	return nil
}

func metadataOf(kind string) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return o
}

// trim keeps what is needed of metadata. Annotations are not among it: that of kubectl holds the whole payload.
func trim(object any) (any, error) {
	o, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	o.ObjectMeta = metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, OwnerReferences: o.OwnerReferences}
	return o, nil
}

// wake lets sets be looked at.
func (c *Controller) wake(ctx context.Context, sets []*addonsv1.ClusterResourceSet) {
	for _, s := range sets {
		select {
		case c.reports <- event.GenericEvent{Object: s}:
		case <-ctx.Done():
			return
		}
	}
}

// clusterMatters lets only those changes of Clusters through that can bring or end deliveries.
func clusterMatters() predicate.Predicate {
	return differs(func(o client.Object) []any {
		cluster := o.(*clusterv1.Cluster)
		return []any{cluster.UID, cluster.Labels, paused.Is(cluster, cluster), cluster.DeletionTimestamp.IsZero()}
	})
}

// setMatters lets all changes of sets through but those of their status.
func setMatters() predicate.Predicate {
	return differs(func(o client.Object) []any {
		return []any{o.GetGeneration(), paused.HasAnnotation(o), o.GetLabels()[clusterv1.WatchLabel], o.GetDeletionTimestamp().IsZero()}
	})
}

// differs passes updates in which the part of an object that matters differs.
func differs(view func(client.Object) []any) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !reflect.DeepEqual(view(e.ObjectOld), view(e.ObjectNew))
	}}
}
