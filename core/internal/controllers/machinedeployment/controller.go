package machinedeployment

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/apply"
)

const (
	// FieldOwner is the name under which this controller writes MachineDeployments.
	FieldOwner = "slipway-machinedeployment"
	// FieldOwnerOfSets is the name under which it writes MachineSets.
	FieldOwnerOfSets = "capi-machinedeployment"
)

// Controller reconciles MachineDeployments.
type Controller struct {
	Client   client.Client
	Resolver *contractversion.Resolver
	Recorder events.EventRecorder
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a MachineDeployment must have to be handled here.
	WatchFilter string
	// Hooks calls extensions that update Machines in place; nil without the feature gate InPlaceUpdates.
	Hooks *hookcall.Client

	writes     writes
	applied    apply.Memory
	watcher    *external.Watcher
	ofTemplate handler.EventHandler
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinedeployments;machinedeployments/status,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinedeployments/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinesets,verbs=get;list;watch;create;update;patch;delete

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	wired := ctrl.NewControllerManagedBy(mgr).Named("machinedeployment").For(&clusterv1.MachineDeployment{}).Owns(&clusterv1.MachineSet{}).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.ofCluster), builder.WithPredicates(pauseMatters())).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(ofMachine)).
		Watches(&clusterv1.MachineSet{}, handler.EnqueueRequestsFromMapFunc(c.ofOrphan)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency})
	if c.Hooks != nil {
		wired.Watches(&runtimev1.ExtensionConfig{}, handler.EnqueueRequestsFromMapFunc(c.ofExtension), builder.WithPredicates(hookcall.Noticeable()))
	}
	self, err := wired.Build(c)
	if err != nil {
		return fmt.Errorf("building the machinedeployment controller: %w", err)
	}
	c.watcher = external.NewWatcher(self, mgr.GetCache())
	c.ofTemplate = handler.EnqueueRequestsFromMapFunc(c.usersOfTemplate)
	return nil
}

// Reconcile brings one MachineDeployment a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	md := &clusterv1.MachineDeployment{}
	if err := c.Client.Get(ctx, req.NamespacedName, md); err != nil {
		c.applied.Keep(req.NamespacedName, nil)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.WatchFilter != "" && md.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	w, err := c.observe(ctx, md)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	return c.act(ctx, w, Decide(w))
}

// pauseMatters passes changes of whether a Cluster is paused; the rest of it does not matter here.
func pauseMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return isTrue(e.ObjectOld.(*clusterv1.Cluster).Spec.Paused) != isTrue(e.ObjectNew.(*clusterv1.Cluster).Spec.Paused)
	}}
}

func (c *Controller) ofCluster(ctx context.Context, o client.Object) []reconcile.Request {
	return c.pick(ctx, o.GetNamespace(), func(md *clusterv1.MachineDeployment) bool { return md.Spec.ClusterName == o.GetName() })
}

func ofMachine(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetLabels()[clusterv1.MachineDeploymentNameLabel]
	if name == "" || name != labels.Value(name) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}

// ofOrphan wakes the deployments of a cluster when a MachineSet without controller shows up, which one of them may adopt.
func (c *Controller) ofOrphan(ctx context.Context, o client.Object) []reconcile.Request {
	if metav1.GetControllerOf(o) != nil {
		return nil
	}
	cluster := labels.ClusterName(o)
	return c.pick(ctx, o.GetNamespace(), func(md *clusterv1.MachineDeployment) bool { return md.Spec.ClusterName == cluster })
}

// usersOfTemplate wakes the deployments that refer to a template, which may just have come into being.
func (c *Controller) usersOfTemplate(ctx context.Context, o client.Object) []reconcile.Request {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	return c.pick(ctx, o.GetNamespace(), func(md *clusterv1.MachineDeployment) bool {
		spec := md.Spec.Template.Spec
		for _, r := range []clusterv1.ContractVersionedObjectReference{spec.Bootstrap.ConfigRef, spec.InfrastructureRef} {
			if r.Kind == kind && r.Name == o.GetName() {
				return true
			}
		}
		return false
	})
}

func (c *Controller) pick(ctx context.Context, namespace string, match func(*clusterv1.MachineDeployment) bool) []reconcile.Request {
	list := &clusterv1.MachineDeploymentList{}
	if err := c.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if match(&list.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

func groupKind(ref clusterv1.ContractVersionedObjectReference) schema.GroupKind {
	return schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}
}
