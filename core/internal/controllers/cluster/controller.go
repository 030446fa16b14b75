package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/core/internal/freshness"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-cluster"

// ownConditions are the types that this controller writes; TopologyReconciled belongs to the topology controller.
var ownConditions = []string{
	clusterv1.AvailableCondition, clusterv1.ClusterRemoteConnectionProbeCondition, clusterv1.InfrastructureReadyCondition,
	clusterv1.ClusterControlPlaneInitializedCondition, clusterv1.ClusterControlPlaneAvailableCondition, clusterv1.ClusterWorkersAvailableCondition,
	clusterv1.ClusterControlPlaneMachinesReadyCondition, clusterv1.ClusterWorkerMachinesReadyCondition, clusterv1.ClusterControlPlaneMachinesUpToDateCondition,
	clusterv1.ClusterWorkerMachinesUpToDateCondition, clusterv1.RollingOutCondition, clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition,
	clusterv1.RemediatingCondition, clusterv1.DeletingCondition, clusterv1.PausedCondition,
}

// Controller reconciles Clusters.
type Controller struct {
	Client client.Client
	// Live reads without cache, for Secrets of users that carry no label and where being late would do harm.
	Live client.Reader
	// Secrets reads those that belong to clusters from memory.
	Secrets      client.Reader
	Resolver     *contractversion.Resolver
	ClusterCache clustercache.Cache
	Recorder     events.EventRecorder
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a Cluster must have to be handled here.
	WatchFilter string
	// ConnectionGrace is how long after the last answer a connection counts as up; see --remote-connection-grace-period.
	ConnectionGrace time.Duration
	// BeforeDeleteHook is set where both ClusterTopology and RuntimeSDK are on.
	BeforeDeleteHook bool

	writes   freshness.Tracker
	provider referred.Reader
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;clusters/status,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinesets;machinedeployments;machinepools,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusterclasses,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(ctx context.Context, mgr ctrl.Manager, concurrency int) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &clusterv1.Cluster{}, referenceIndex, byReference); err != nil {
		return fmt.Errorf("indexing clusters by %s: %w", referenceIndex, err)
	}
	member, telling := memberHandler(), builder.WithPredicates(predicate.Funcs{UpdateFunc: tells})
	self, err := ctrl.NewControllerManagedBy(mgr).Named("cluster").For(&clusterv1.Cluster{}).
		Watches(&clusterv1.Machine{}, member, telling).Watches(&clusterv1.MachineSet{}, member, telling).
		Watches(&clusterv1.MachineDeployment{}, member, telling).Watches(&clusterv1.MachinePool{}, member, telling).
		Watches(&clusterv1.ClusterClass{}, handler.EnqueueRequestsFromMapFunc(c.ofClass)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(c.ofSecret)).
		WatchesMetadata(&apiextensionsv1.CustomResourceDefinition{}, handler.EnqueueRequestsFromMapFunc(c.ofCRD)).
		WatchesRawSource(c.ClusterCache.Source("cluster", &handler.EnqueueRequestForObject{}, clustercache.WithProbeFailure(c.ConnectionGrace))).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Build(c)
	if err != nil {
		return fmt.Errorf("building the cluster controller: %w", err)
	}
	c.provider = referred.Reader{Client: c.Client, Resolver: c.Resolver, Watcher: external.NewWatcher(self, mgr.GetCache()), Handler: handler.EnqueueRequestsFromMapFunc(c.ofReferred)}
	return nil
}

// Reconcile brings one Cluster a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1.Cluster{}
	if err := c.Client.Get(ctx, req.NamespacedName, cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.WatchFilter != "" && cluster.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	if wait := c.writes.Stale(cluster, time.Now()); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return c.act(ctx, cluster, Decide(c.observe(ctx, cluster)))
}
