package machinehealthcheck

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/core/internal/coalesce"
	"github.com/slipway-capi/slipway/core/internal/freshness"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-machinehealthcheck"

// Controller reconciles MachineHealthChecks.
type Controller struct {
	Client       client.Client
	ClusterCache clustercache.Cache
	Recorder     events.EventRecorder
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a MachineHealthCheck must have to be handled here.
	WatchFilter string

	writes                freshness.Tracker
	self                  controller.Controller
	watcher               *external.Watcher
	ofTemplate, ofRequest handler.EventHandler
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinehealthchecks;machinehealthchecks/status,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines;machines/status,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(ctx context.Context, mgr ctrl.Manager, concurrency int) error {
	if err := c.index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	ofCluster := handler.EnqueueRequestsFromMapFunc(c.ofCluster)
	self, err := ctrl.NewControllerManagedBy(mgr).Named("machinehealthcheck").For(&clusterv1.MachineHealthCheck{}).
		Watches(&clusterv1.MachineHealthCheck{}, handler.EnqueueRequestsFromMapFunc(c.ofOther), builder.WithPredicates(specMatters())).
		Watches(&clusterv1.Machine{}, coalesce.Handler(c.ofMachine), builder.WithPredicates(healthMatters())).
		Watches(&clusterv1.Cluster{}, ofCluster, builder.WithPredicates(clusterMatters())).
		WatchesRawSource(c.ClusterCache.Source("machinehealthcheck", ofCluster)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Build(c)
	if err != nil {
		return fmt.Errorf("building the machinehealthcheck controller: %w", err)
	}
	c.self, c.watcher = self, external.NewWatcher(self, mgr.GetCache())
	c.ofTemplate = handler.EnqueueRequestsFromMapFunc(c.usersOfTemplate)
	c.ofRequest = coalesce.Handler(c.ofRemediation)
	return nil
}

// Reconcile judges the Machines of one MachineHealthCheck.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	check := &clusterv1.MachineHealthCheck{}
	if err := c.Client.Get(ctx, req.NamespacedName, check); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.WatchFilter != "" && check.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	if wait := c.writes.Stale(check, time.Now()); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	w, err := c.observe(ctx, check)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	return c.act(ctx, check, Decide(w))
}
