package topology

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/paused"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
)

// FieldOwner is the name under which the objects of topologies are applied.
const FieldOwner = "capi-topology"

// Controller reconciles the topologies of Clusters.
type Controller struct {
	Client   client.Client
	Resolver *contractversion.Resolver
	Recorder events.EventRecorder
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a Cluster must have to be handled here.
	WatchFilter string
	// ConsentBeforeDelete is set where RuntimeSDK is on: the cluster controller then waits for a consent.
	ConsentBeforeDelete bool
	// Hooks calls extensions; nil where RuntimeSDK is off.
	Hooks *hookcall.Client

	catalogs variables.Catalogs
	watcher  *external.Watcher
	owned    handler.EventHandler
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;clusters/status,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusterclasses,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinedeployments;machinepools;machinehealthchecks,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinesets,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io;bootstrap.cluster.x-k8s.io;controlplane.cluster.x-k8s.io,resources=*,verbs=get;list;watch;create;patch;delete

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(ctx context.Context, mgr ctrl.Manager, concurrency int) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &clusterv1.Cluster{}, classIndex, byClass); err != nil {
		return fmt.Errorf("indexing clusters by their class: %w", err)
	}
	member := handler.EnqueueRequestsFromMapFunc(ofMember)
	wired := ctrl.NewControllerManagedBy(mgr).Named("topology").For(&clusterv1.Cluster{}).
		Watches(&clusterv1.ClusterClass{}, handler.EnqueueRequestsFromMapFunc(c.ofClass)).
		Watches(&clusterv1.MachineDeployment{}, member).Watches(&clusterv1.MachinePool{}, member).
		Watches(&clusterv1.MachineSet{}, member).Watches(&clusterv1.MachineHealthCheck{}, member).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency})
	if c.Hooks != nil {
		wired.Watches(&runtimev1.ExtensionConfig{}, handler.EnqueueRequestsFromMapFunc(c.ofExtension), builder.WithPredicates(hookcall.Noticeable()))
	}
	self, err := wired.Build(c)
	if err != nil {
		return fmt.Errorf("building the topology controller: %w", err)
	}
	c.watcher = external.NewWatcher(self, mgr.GetCache())
	c.owned = member
	return nil
}

// Reconcile brings the topology of one Cluster a step nearer to what it should be.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1.Cluster{}
	if err := c.Client.Get(ctx, req.NamespacedName, cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if cluster.Spec.Topology.ClassRef.Name == "" || c.WatchFilter != "" && cluster.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	if paused.Is(cluster, cluster) {
		return reconcile.Result{}, nil
	}
	d := Decide(c.observe(ctx, cluster))
	if ctx.Err() != nil {
		return reconcile.Result{}, ctx.Err() // what was not finished says nothing about the Cluster
	}
	return c.act(ctx, cluster, d)
}
