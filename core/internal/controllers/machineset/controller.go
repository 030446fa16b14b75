package machineset

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
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/apply"
)

const (
	// FieldOwner is the name under which this controller writes MachineSets.
	FieldOwner = "slipway-machineset"
	// FieldOwnerOfMachines is the name under which it writes Machines and their objects.
	FieldOwnerOfMachines = "capi-machineset"
	// FieldOwnerOfMetadata is the name under which it changes labels and annotations of their objects later.
	FieldOwnerOfMetadata = "capi-machineset-metadata"
)

// Controller reconciles MachineSets.
type Controller struct {
	Client   client.Client
	Resolver *contractversion.Resolver
	Recorder events.EventRecorder
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a MachineSet must have to be handled here.
	WatchFilter string
	// PreflightChecks lists the checks to make before Machines are created; see --machineset-preflight-checks.
	PreflightChecks []string

	writes         writes
	applied        apply.Memory
	watcher        *external.Watcher
	ofControlPlane handler.EventHandler
	ofTemplate     handler.EventHandler
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinesets;machinesets/status,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinesets/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;create;update;patch;delete

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	self, err := ctrl.NewControllerManagedBy(mgr).Named("machineset").For(&clusterv1.MachineSet{}).Owns(&clusterv1.Machine{}).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.ofCluster), builder.WithPredicates(clusterMatters())).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(c.ofOrphan)).
		Watches(&clusterv1.MachineDeployment{}, handler.EnqueueRequestsFromMapFunc(c.ofDeployment), builder.WithPredicates(remediationMatters())).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Build(c)
	if err != nil {
		return fmt.Errorf("building the machineset controller: %w", err)
	}
	c.watcher = external.NewWatcher(self, mgr.GetCache())
	c.ofControlPlane = handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		return c.list(ctx, o.GetNamespace(), labels.ClusterName(o))
	})
	c.ofTemplate = handler.EnqueueRequestsFromMapFunc(c.usersOfTemplate)
	return nil
}

// Reconcile brings one MachineSet a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	s := &clusterv1.MachineSet{}
	if err := c.Client.Get(ctx, req.NamespacedName, s); err != nil {
		c.applied.Keep(req.NamespacedName, nil)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.WatchFilter != "" && s.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	w, err := c.observe(ctx, s)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	return c.act(ctx, w, Decide(w))
}
