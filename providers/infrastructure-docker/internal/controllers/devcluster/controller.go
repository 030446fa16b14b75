package devcluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-devcluster"

// Backend provides endpoints. Its methods are idempotent.
type Backend interface {
	// Find says what exists for a cluster: a zero endpoint if there is nothing or it is not ready.
	Find(ctx context.Context, c *infrav1.DevCluster, cluster string) (endpoint clusterv1.APIEndpoint, gone bool, err error)
	// Provide makes the endpoint and returns it.
	Provide(ctx context.Context, c *infrav1.DevCluster, cluster string) (clusterv1.APIEndpoint, error)
	// Remove takes everything away that was made for the cluster.
	Remove(ctx context.Context, c *infrav1.DevCluster, cluster string) error
}

// Controller reconciles DevClusters.
type Controller struct {
	Client client.Client
	// InMemory is the backend of simulated clusters.
	InMemory InMemory
	// Docker is the backend of clusters in containers; nil where there is no container engine.
	Docker *Docker
}

// errNoEngine tells what a user who asked for containers must do.
var errNoEngine = errors.New("no container engine is configured: start the manager with access to a Docker socket, or use backend.inMemory")

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devclusters;devclusters/status,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machines;machinepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	err := ctrl.NewControllerManagedBy(mgr).Named("devcluster").For(&infrav1.DevCluster{}).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster)).
		Watches(&infrav1.DevMachine{}, handler.EnqueueRequestsFromMapFunc(c.ofControlPlane)).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(c.ofControlPlane)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Complete(c)
	if err != nil {
		return fmt.Errorf("building the devcluster controller: %w", err)
	}
	return nil
}

func ofCluster(_ context.Context, o client.Object) []reconcile.Request {
	ref := o.(*clusterv1.Cluster).Spec.InfrastructureRef
	if ref.Kind != "DevCluster" || ref.APIGroup != infrav1.GroupVersion.Group {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: ref.Name}}}
}

// Reconcile brings one DevCluster a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	dev := &infrav1.DevCluster{}
	if err := c.Client.Get(ctx, req.NamespacedName, dev); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	w, err := c.observe(ctx, dev)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	d := Decide(w)
	if len(d.Actions) > 0 {
		if again, err := c.carryOut(ctx, &w, d.Actions); err != nil {
			w.BackendErr = err
			d = Decide(w)
		} else if again {
			d = Decide(w)
		}
	}
	err = patch.Begin(c.Client, FieldOwner, dev).Finish(ctx, d.DevCluster, patch.Owned(ownConditions...))
	return reconcile.Result{RequeueAfter: d.After}, errors.Join(d.Err, err)
}

// observe reads all that matters for one DevCluster. It writes nothing.
func (c *Controller) observe(ctx context.Context, dev *infrav1.DevCluster) (World, error) {
	w := World{Now: time.Now(), DevCluster: dev}
	ref := ownership.Of(dev, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: clusterv1.ClusterKind})
	if ref == nil {
		return w, nil
	}
	cluster := &clusterv1.Cluster{}
	switch err := c.Client.Get(ctx, client.ObjectKey{Namespace: dev.Namespace, Name: ref.Name}, cluster); {
	case err == nil:
		w.Cluster = cluster
	case !apierrors.IsNotFound(err):
		return w, fmt.Errorf("reading Cluster %s: %w", ref.Name, err)
	}
	backend := c.backend(w)
	if backend == nil {
		w.BackendErr, w.Gone = errNoEngine, true
		return w, nil
	}
	w.Endpoint, w.Gone, w.BackendErr = backend.Find(ctx, dev, ref.Name)
	if !w.docker() {
		w.Faults = c.InMemory.Faults(dev, ref.Name)
	}
	if w.docker() && w.Endpoint.Port != 0 && w.BackendErr == nil && !w.deleting() {
		w.Balanced, w.BackendErr = c.Docker.Balanced(ctx, dev, ref.Name)
	}
	return w, nil
}

func (c *Controller) backend(w World) Backend {
	switch {
	case !w.docker():
		return c.InMemory
	case c.Docker == nil:
		return nil
	}
	return c.Docker
}

// carryOut does the backend's work; it says whether the world now knows more, so that it pays to decide again.
func (c *Controller) carryOut(ctx context.Context, w *World, actions []Action) (bool, error) {
	name := w.DevCluster.Name
	if ref := ownership.Of(w.DevCluster, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: clusterv1.ClusterKind}); ref != nil {
		name = ref.Name
	}
	for _, a := range actions {
		switch a := a.(type) {
		case Provide:
			endpoint, err := c.backend(*w).Provide(ctx, w.DevCluster, name)
			if err != nil {
				return false, err
			}
			// A load balancer is made with the configuration of the moment.
			w.Endpoint, w.Balanced = endpoint, true
			return true, nil
		case Balance:
			if err := c.Docker.Balance(ctx, w.DevCluster, name); err != nil {
				return false, err
			}
		case Break:
			c.InMemory.Break(w.DevCluster, name, a.Plan)
		case Remove:
			return false, c.backend(*w).Remove(ctx, w.DevCluster, name)
		}
	}
	return false, nil
}
