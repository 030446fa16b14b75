package machine

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-machine"

// providerIDIndex finds Machines by their provider ID.
const providerIDIndex = "spec.providerID"

// Controller reconciles Machines.
type Controller struct {
	Client       client.Client
	Resolver     *contractversion.Resolver
	ClusterCache clustercache.Cache
	Recorder     events.EventRecorder
	// ConditionsGrace is how long conditions about a Node outlive the connection; see --remote-conditions-grace-period.
	ConditionsGrace time.Duration

	watcher *external.Watcher
	owned   handler.EventHandler
	self    controller.Controller
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines;machines/status,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines/finalizers,verbs=update
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io;infrastructure.cluster.x-k8s.io;controlplane.cluster.x-k8s.io,resources=*,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

// SetupWithManager registers the controller, its index and its watches.
func (c *Controller) SetupWithManager(ctx context.Context, mgr ctrl.Manager, concurrency int) error {
	err := mgr.GetFieldIndexer().IndexField(ctx, &clusterv1.Machine{}, providerIDIndex, func(o client.Object) []string {
		if id := o.(*clusterv1.Machine).Spec.ProviderID; id != "" {
			return []string{id}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing machines by provider ID: %w", err)
	}
	c.self, err = ctrl.NewControllerManagedBy(mgr).Named("machine").For(&clusterv1.Machine{}).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.ofCluster)).
		Watches(&clusterv1.MachineDeployment{}, handler.EnqueueRequestsFromMapFunc(c.ofDeployment)).
		WatchesRawSource(c.ClusterCache.Source("machine", handler.EnqueueRequestsFromMapFunc(c.ofCluster), clustercache.WithProbeFailure(c.ConditionsGrace))).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Build(c)
	if err != nil {
		return fmt.Errorf("building the machine controller: %w", err)
	}
	c.watcher = external.NewWatcher(c.self, mgr.GetCache())
	c.owned = handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &clusterv1.Machine{})
	return nil
}

// Reconcile brings one Machine a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	m := &clusterv1.Machine{}
	if err := c.Client.Get(ctx, req.NamespacedName, m); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	w, err := c.observe(ctx, m)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	return c.act(ctx, m, Decide(w))
}

func (c *Controller) ofCluster(ctx context.Context, cluster client.Object) []reconcile.Request {
	return c.list(ctx, client.InNamespace(cluster.GetNamespace()), client.MatchingLabels(labels.OfCluster(cluster.GetName())))
}

func (c *Controller) ofDeployment(ctx context.Context, md client.Object) []reconcile.Request {
	return c.list(ctx, client.InNamespace(md.GetNamespace()), client.MatchingLabels{clusterv1.MachineDeploymentNameLabel: md.GetName()})
}

func (c *Controller) list(ctx context.Context, opts ...client.ListOption) []reconcile.Request {
	list := &clusterv1.MachineList{}
	if err := c.Client.List(ctx, list, opts...); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// watchNodes makes Nodes of a workload cluster wake their Machines.
func (c *Controller) watchNodes(ctx context.Context, cluster client.ObjectKey) error {
	return c.ClusterCache.Watch(ctx, cluster, clustercache.WatchSpec{
		Name: "machine-nodes", Object: &corev1.Node{}, Watcher: c.self,
		Handler: handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return c.ofNode(ctx, cluster, o.(*corev1.Node))
		}),
	})
}

// ofNode finds the Machine of a Node: by the annotations that lead back, else by provider ID.
func (c *Controller) ofNode(ctx context.Context, cluster client.ObjectKey, n *corev1.Node) []reconcile.Request {
	a := n.Annotations
	if name := a[clusterv1.MachineAnnotation]; name != "" && a[clusterv1.ClusterNameAnnotation] == cluster.Name && a[clusterv1.ClusterNamespaceAnnotation] == cluster.Namespace {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: cluster.Namespace, Name: name}}}
	}
	if n.Spec.ProviderID == "" {
		return nil
	}
	return c.list(ctx, client.InNamespace(cluster.Namespace), client.MatchingLabels(labels.OfCluster(cluster.Name)), client.MatchingFields{providerIDIndex: n.Spec.ProviderID})
}
