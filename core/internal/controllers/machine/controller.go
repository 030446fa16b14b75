package machine

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
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/core/internal/freshness"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-machine"

const (
	// providerIDIndex finds Machines by their provider ID.
	providerIDIndex = "spec.providerID"
	// referenceIndex finds Machines by the provider objects that they refer to.
	referenceIndex = "spec.references"
)

// Controller reconciles Machines.
type Controller struct {
	Client       client.Client
	Resolver     *contractversion.Resolver
	ClusterCache clustercache.Cache
	Recorder     events.EventRecorder
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a Machine must have to be handled here.
	WatchFilter string
	// ConditionsGrace is how long conditions about a Node outlive the connection; see --remote-conditions-grace-period.
	ConditionsGrace time.Duration
	// Node says what goes from Machines to Nodes.
	Node NodeSync
	// ConsiderVolumeAttachments lets a deletion wait for VolumeAttachments, too; see the feature gate
	// MachineWaitForVolumeDetachConsiderVolumeAttachments.
	ConsiderVolumeAttachments bool

	// Hooks calls the extensions that update Machines in place; nil without the feature gate InPlaceUpdates.
	Hooks *hookcall.Client

	attempts attempts
	writes   freshness.Tracker
	watcher  *external.Watcher
	referred handler.EventHandler
	self     controller.Controller
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines;machines/status,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinedrainrules,verbs=get;list;watch
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io;infrastructure.cluster.x-k8s.io;controlplane.cluster.x-k8s.io,resources=*,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

// SetupWithManager registers the controller, its index and its watches.
func (c *Controller) SetupWithManager(ctx context.Context, mgr ctrl.Manager, concurrency int) error {
	for field, keys := range map[string]client.IndexerFunc{providerIDIndex: byProviderID, referenceIndex: byReference} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &clusterv1.Machine{}, field, keys); err != nil {
			return fmt.Errorf("indexing machines by %s: %w", field, err)
		}
	}
	var err error
	c.self, err = ctrl.NewControllerManagedBy(mgr).Named("machine").For(&clusterv1.Machine{}).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.ofCluster), builder.WithPredicates(clusterMatters())).
		Watches(&clusterv1.MachineDeployment{}, handler.EnqueueRequestsFromMapFunc(c.ofDeployment), builder.WithPredicates(revisionMatters())).
		Watches(&clusterv1.MachineSet{}, handler.EnqueueRequestsFromMapFunc(c.ofSet), builder.WithPredicates(revisionMatters())).
		WatchesMetadata(&apiextensionsv1.CustomResourceDefinition{}, handler.EnqueueRequestsFromMapFunc(c.ofCRD)).
		WatchesRawSource(c.ClusterCache.Source("machine", handler.EnqueueRequestsFromMapFunc(c.ofCluster), clustercache.WithProbeFailure(c.ConditionsGrace))).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Build(c)
	if err != nil {
		return fmt.Errorf("building the machine controller: %w", err)
	}
	c.watcher = external.NewWatcher(c.self, mgr.GetCache())
	c.referred = handler.EnqueueRequestsFromMapFunc(c.ofReferred)
	return nil
}

// Reconcile brings one Machine a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	m := &clusterv1.Machine{}
	if err := c.Client.Get(ctx, req.NamespacedName, m); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.WatchFilter != "" && m.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	if wait := c.writes.Stale(m, time.Now()); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	w, err := c.observe(ctx, m)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	return c.act(ctx, m, Decide(w))
}
