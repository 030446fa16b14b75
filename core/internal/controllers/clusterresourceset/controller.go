package clusterresourceset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

	// metadata holds the metadata of all ConfigMaps and Secrets, no content.
	metadata cache.Cache
	progress progress
	reports  chan event.GenericEvent
}

// +kubebuilder:rbac:groups=addons.cluster.x-k8s.io,resources=clusterresourcesets;clusterresourcesets/status;clusterresourcesetbindings,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=addons.cluster.x-k8s.io,resources=clusterresourcesets/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets;configmaps,verbs=get;list;watch;patch

// reportsBuffer is how many changes may wait for the sets to be told.
const reportsBuffer = 1024

// SetupWithManager registers both reconcilers and their watches.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	scope := cache.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), DefaultTransform: cache.TransformStripManagedFields()}
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
	options := controller.Options{MaxConcurrentReconciles: concurrency}
	delivery := ctrl.NewControllerManagedBy(mgr).Named("clusterresourceset-delivery").
		For(&clusterv1.Cluster{}, builder.WithPredicates(clusterMatters())).
		Watches(&addonsv1.ClusterResourceSet{}, handler.EnqueueRequestsFromMapFunc(c.clustersOfSet), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, deletionChanged()))).
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

// wake lets sets be looked at; a full buffer means that they will be anyway.
func (c *Controller) wake(sets []*addonsv1.ClusterResourceSet) {
	for _, s := range sets {
		select {
		case c.reports <- event.GenericEvent{Object: s}:
		default:
		}
	}
}

// clusterMatters lets only those changes of Clusters through that can bring or end deliveries.
func clusterMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*clusterv1.Cluster), e.ObjectNew.(*clusterv1.Cluster)
		return !labelSet(before.Labels).AsSelectorPreValidated().Matches(labelSet(after.Labels)) || len(before.Labels) != len(after.Labels) ||
			paused.Is(before, before) != paused.Is(after, after) || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
	}}
}

func deletionChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
	}}
}
