package devmachinepool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/contract/unseen"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-devmachinepool"

// unseenWait is when to look again if the cache still does not show a write; its event comes first.
const unseenWait = time.Second

// Controller reconciles DevMachinePools.
type Controller struct {
	Client   client.Client
	Recorder events.EventRecorder

	writes unseen.Writes
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devmachinepools;devmachinepools/status,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devmachinepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devmachines,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machinepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	err := ctrl.NewControllerManagedBy(mgr).Named("devmachinepool").For(&infrav1.DevMachinePool{}).
		Watches(&infrav1.DevMachine{}, handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &infrav1.DevMachinePool{})).
		Watches(&clusterv1.MachinePool{}, handler.EnqueueRequestsFromMapFunc(ofPool)).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(c.ofMachine)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.ofCluster)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Complete(c)
	if err != nil {
		return fmt.Errorf("building the devmachinepool controller: %w", err)
	}
	return nil
}

func ofPool(_ context.Context, o client.Object) []reconcile.Request {
	ref := o.(*clusterv1.MachinePool).Spec.Template.Spec.InfrastructureRef
	if ref.Kind != poolKind || ref.APIGroup != infrav1.GroupVersion.Group {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: ref.Name}}}
}

// ofMachine wakes the pool of a member's Machine: its readiness and marks decide which member leaves.
func (c *Controller) ofMachine(ctx context.Context, o client.Object) []reconcile.Request {
	owner := ownership.Of(o, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: "MachinePool"})
	if owner == nil {
		return nil
	}
	p := &clusterv1.MachinePool{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: owner.Name}, p); err != nil {
		return nil
	}
	return ofPool(ctx, p)
}

func (c *Controller) ofCluster(ctx context.Context, o client.Object) []reconcile.Request {
	list := &infrav1.DevMachinePoolList{}
	if err := c.Client.List(ctx, list, client.InNamespace(o.GetNamespace()), client.MatchingLabels(labels.OfCluster(o.GetName()))); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// Reconcile brings one DevMachinePool a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	pool := &infrav1.DevMachinePool{}
	if err := c.Client.Get(ctx, req.NamespacedName, pool); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	w, err := c.observe(ctx, pool)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	d := Decide(w)
	var errs []error
	for _, a := range d.Actions {
		errs = append(errs, c.carryOut(ctx, pool, a))
	}
	errs = append(errs, patch.Begin(c.Client, FieldOwner, pool).Finish(ctx, d.Pool, patch.Owned(ownConditions...)))
	result := reconcile.Result{}
	if w.Unseen {
		result.RequeueAfter = unseenWait
	}
	return result, errors.Join(errs...)
}

// observe reads all that matters for one DevMachinePool. It writes nothing.
func (c *Controller) observe(ctx context.Context, pool *infrav1.DevMachinePool) (World, error) {
	w := World{Now: time.Now(), Pool: pool}
	if ref := ownership.Of(pool, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: "MachinePool"}); ref != nil {
		owner, cluster := &clusterv1.MachinePool{}, &clusterv1.Cluster{}
		found, err := c.get(ctx, client.ObjectKey{Namespace: pool.Namespace, Name: ref.Name}, owner)
		if err != nil {
			return w, err
		}
		if found {
			w.Owner = owner
			if found, err = c.get(ctx, client.ObjectKey{Namespace: pool.Namespace, Name: owner.Spec.ClusterName}, cluster); err != nil {
				return w, err
			}
		}
		if found {
			w.Cluster = cluster
		}
	}
	if err := c.members(ctx, &w); err != nil {
		return w, err
	}
	if w.Owner != nil {
		for range max(0, w.wanted()-len(w.alive())) + 1 {
			w.Names = append(w.Names, "worker-"+rand.String(6))
		}
	}
	return w, nil
}

func (c *Controller) get(ctx context.Context, key client.ObjectKey, o client.Object) (bool, error) {
	err := c.Client.Get(ctx, key, o)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("reading %s: %w", key, err)
	}
	return err == nil, nil
}

func (c *Controller) members(ctx context.Context, w *World) error {
	list := &infrav1.DevMachineList{}
	if err := c.Client.List(ctx, list, client.InNamespace(w.Pool.Namespace), client.MatchingLabels{infrav1.DevMachinePoolNameLabel: labels.Value(w.Pool.Name)}); err != nil {
		return fmt.Errorf("listing DevMachines: %w", err)
	}
	seen := map[string]bool{}
	for i := range list.Items {
		m := Member{Dev: &list.Items[i]}
		machine := &clusterv1.Machine{}
		found, err := c.get(ctx, client.ObjectKeyFromObject(m.Dev), machine)
		if err != nil {
			return err
		}
		if ref := machine.Spec.InfrastructureRef; found && ref.Kind == "DevMachine" && ref.Name == m.Dev.Name {
			m.Machine = machine
		}
		w.Members = append(w.Members, m)
		seen[m.Dev.Name] = !m.leaving()
	}
	slices.SortFunc(w.Members, func(a, b Member) int { return strings.Compare(a.Dev.Name, b.Dev.Name) })
	w.Unseen = len(c.writes.Left(client.ObjectKeyFromObject(w.Pool), seen, w.Now)) > 0
	return nil
}

func (c *Controller) carryOut(ctx context.Context, pool *infrav1.DevMachinePool, action Action) error {
	key := client.ObjectKeyFromObject(pool)
	switch a := action.(type) {
	case Create:
		if err := c.Client.Create(ctx, a.Dev, client.FieldOwner(FieldOwner)); err != nil {
			return fmt.Errorf("creating DevMachine %s: %w", a.Dev.Name, err)
		}
		c.writes.Created(key, a.Dev.Name, time.Now())
		c.tell(pool, "Created DevMachine "+a.Dev.Name, a.Why)
		return nil
	case Own:
		return patch.Begin(c.Client, FieldOwner, a.Before).Finish(ctx, a.After)
	case Remove:
		var target client.Object = a.Member.Dev
		if a.Member.Machine != nil {
			target = a.Member.Machine
		}
		uid := target.GetUID()
		if err := c.Client.Delete(ctx, target, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting member %s: %w", target.GetName(), err)
		}
		c.writes.Deleted(key, a.Member.Dev.Name, time.Now())
		c.tell(pool, "Deleted member "+target.GetName(), a.Why)
		return nil
	}
	return fmt.Errorf("unknown action %T", action)
}

func (c *Controller) tell(pool *infrav1.DevMachinePool, what string, why decision.Why) {
	c.Recorder.Eventf(pool, nil, corev1.EventTypeNormal, why.Reason, "Reconcile", "%s: %s", what, why.Because)
}
