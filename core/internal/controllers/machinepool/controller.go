package machinepool

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/unseen"
	"github.com/slipway-capi/slipway/core/internal/apply"
	"github.com/slipway-capi/slipway/core/internal/freshness"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

const (
	// FieldOwner is the name under which this controller writes.
	FieldOwner = "slipway-machinepool"
	// FieldOwnerOfMachines is the name under which it writes the Machines of pools.
	FieldOwnerOfMachines = "capi-machinepool"
)

// Controller reconciles MachinePools.
type Controller struct {
	Client       client.Client
	Resolver     *contractversion.Resolver
	ClusterCache clustercache.Cache
	Recorder     events.EventRecorder
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a MachinePool must have to be handled here.
	WatchFilter string
	// ConditionsGrace is how long conditions about Nodes outlive the connection; see --remote-conditions-grace-period.
	ConditionsGrace time.Duration

	writes  freshness.Tracker
	created unseen.Writes
	applied apply.Memory
	self    controller.Controller
	// provider reads the bootstrap config and the infrastructure pool, member the infrastructure machines.
	provider, member referred.Reader
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools;machinepools/status,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines;machines/status,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io;infrastructure.cluster.x-k8s.io,resources=*,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller, its indexes and its watches.
func (c *Controller) SetupWithManager(ctx context.Context, mgr ctrl.Manager, concurrency int) error {
	for field, keys := range map[string]client.IndexerFunc{referenceIndex: byReference, providerIDIndex: byProviderID} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &clusterv1.MachinePool{}, field, keys); err != nil {
			return fmt.Errorf("indexing machine pools by %s: %w", field, err)
		}
	}
	var err error
	c.self, err = ctrl.NewControllerManagedBy(mgr).Named("machinepool").For(&clusterv1.MachinePool{}).Owns(&clusterv1.Machine{}).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.ofCluster), builder.WithPredicates(clusterMatters())).
		WatchesMetadata(&apiextensionsv1.CustomResourceDefinition{}, handler.EnqueueRequestsFromMapFunc(c.ofCRD)).
		WatchesRawSource(c.ClusterCache.Source("machinepool", handler.EnqueueRequestsFromMapFunc(c.ofCluster), clustercache.WithProbeFailure(c.ConditionsGrace))).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Build(c)
	if err != nil {
		return fmt.Errorf("building the machinepool controller: %w", err)
	}
	c.provider = c.reader(mgr, c.ofReferred)
	c.member = c.reader(mgr, c.ofMember)
	return nil
}

func (c *Controller) reader(mgr ctrl.Manager, of handler.MapFunc) referred.Reader {
	return referred.Reader{Client: c.Client, Resolver: c.Resolver, Watcher: external.NewWatcher(c.self, mgr.GetCache()), Handler: handler.EnqueueRequestsFromMapFunc(of)}
}

// Reconcile brings one MachinePool a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	p := &clusterv1.MachinePool{}
	if err := c.Client.Get(ctx, req.NamespacedName, p); err != nil {
		if client.IgnoreNotFound(err) == nil {
			c.applied.Keep(req.NamespacedName, nil)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.WatchFilter != "" && p.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	if wait := c.writes.Stale(p, time.Now()); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	w, err := c.observe(ctx, p)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	return c.act(ctx, w, Decide(w))
}
