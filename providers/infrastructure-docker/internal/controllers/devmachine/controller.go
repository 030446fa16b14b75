package devmachine

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-devmachine"

var ownConditions = []string{
	clusterv1.ReadyCondition, clusterv1.PausedCondition, infrav1.DevMachineInMemoryVMProvisionedCondition, infrav1.DevMachineInMemoryNodeProvisionedCondition,
	infrav1.DevMachineInMemoryEtcdProvisionedCondition, infrav1.DevMachineInMemoryAPIServerProvisionedCondition, infrav1.DevMachineDockerContainerProvisionedCondition,
	infrav1.DevMachineDockerCGroupsReadyCondition, infrav1.DevMachineDockerPreLoadedImagesReadyCondition, infrav1.DevMachineBootstrapCompletedCondition,
	bootstrapreport.ConditionType,
}

// Controller reconciles DevMachines.
type Controller struct {
	Client client.Client
	// Live reads without cache; Secrets reads the cached, labelled ones.
	Live, Secrets client.Reader
	Cloud         *cloud.Cloud
	// Docker runs machines as containers; nil where there is no container engine.
	Docker *docker.Host
	// Woken brings the DevMachines whose containers have made progress.
	Woken <-chan event.GenericEvent
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devmachines;devmachines/status,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devmachines/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets;configmaps,verbs=get;list;watch

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	b := ctrl.NewControllerManagedBy(mgr).Named("devmachine").For(&infrav1.DevMachine{}).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(ofMachine)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.ofCluster)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency})
	if c.Woken != nil {
		b = b.WatchesRawSource(source.Channel(c.Woken, &handler.EnqueueRequestForObject{}))
	}
	if err := b.Complete(c); err != nil {
		return fmt.Errorf("building the devmachine controller: %w", err)
	}
	return nil
}

// ofMachine maps by the reference, not by name: the two need not be equal.
func ofMachine(_ context.Context, o client.Object) []reconcile.Request {
	ref := o.(*clusterv1.Machine).Spec.InfrastructureRef
	if ref.Kind != "DevMachine" || ref.APIGroup != infrav1.GroupVersion.Group {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: ref.Name}}}
}

func (c *Controller) ofCluster(ctx context.Context, o client.Object) []reconcile.Request {
	list := &infrav1.DevMachineList{}
	if err := c.Client.List(ctx, list, client.InNamespace(o.GetNamespace()), client.MatchingLabels(labels.OfCluster(o.GetName()))); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// Reconcile brings one DevMachine a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	dev := &infrav1.DevMachine{}
	if err := c.Client.Get(ctx, req.NamespacedName, dev); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	w, err := c.observe(ctx, dev)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	d := Decide(w)
	for _, a := range d.Actions {
		if err := c.carryOut(ctx, w, a); err != nil {
			// What would be true after the action is not reported.
			return reconcile.Result{}, err
		}
	}
	err = patch.Begin(c.Client, FieldOwner, dev).Finish(ctx, d.DevMachine, patch.Owned(ownConditions...))
	return reconcile.Result{RequeueAfter: d.After}, errors.Join(d.Err, err)
}

// observe reads all that matters for one DevMachine. It writes nothing.
func (c *Controller) observe(ctx context.Context, dev *infrav1.DevMachine) (World, error) {
	w, name := World{Now: time.Now(), DevMachine: dev}, labels.ClusterName(dev)
	if err := c.owners(ctx, &w); err != nil {
		return w, err
	}
	if w.Machine != nil {
		name = w.Machine.Spec.ClusterName
	}
	if name == "" {
		return w, nil
	}
	cluster := &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: dev.Namespace, Name: name}
	switch err := c.Client.Get(ctx, key, cluster); {
	case err == nil:
		w.Cluster = cluster
	case !apierrors.IsNotFound(err):
		return w, fmt.Errorf("reading Cluster %s: %w", name, err)
	}
	if !w.docker() && w.Cluster != nil && !w.deleting() {
		w.InMemory = c.simulated(ctx, w, key)
	}
	if w.docker() {
		w.Docker = c.observeDocker(ctx, w)
	}
	return w, nil
}

// owners reads the Machine, and for a member of a pool the MachinePool above it.
func (c *Controller) owners(ctx context.Context, w *World) error {
	owner := func(of client.Object, kind string, into client.Object) (bool, error) {
		ref := ownership.Of(of, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: kind})
		if ref == nil {
			return false, nil
		}
		err := c.Client.Get(ctx, client.ObjectKey{Namespace: of.GetNamespace(), Name: ref.Name}, into)
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("reading %s %s: %w", kind, ref.Name, err)
		}
		return err == nil, nil
	}
	machine, pool := &clusterv1.Machine{}, &clusterv1.MachinePool{}
	found, err := owner(w.DevMachine, "Machine", machine)
	if !found || err != nil {
		return err
	}
	w.Machine = machine
	if found, err = owner(machine, "MachinePool", pool); found {
		w.MachinePool = pool
	}
	return err
}

func (c *Controller) simulated(ctx context.Context, w World, cluster client.ObjectKey) InMemoryView {
	known := c.Cloud.Get(cluster)
	view := InMemoryView{Exists: known != nil}
	if known != nil {
		view.Boot = known.Faults().Boot(w.DevMachine.Name)
	}
	if !view.Exists || !w.controlPlane() {
		return view
	}
	set := []certificates.Entry{{Purpose: certificates.ClusterCA}, {Purpose: certificates.EtcdCA}}
	missing, err := certificates.Lookup(ctx, certificates.Source{Cached: c.Secrets, Live: c.Live}, cluster, set)
	if err != nil || len(missing) > 0 {
		view.Err = err
		return view
	}
	view.Authorities = &cloud.Authorities{Cluster: *set[0].Pair, Etcd: *set[1].Pair}
	return view
}

func (c *Controller) carryOut(ctx context.Context, w World, action Action) error {
	if done, err := c.carryOutDocker(ctx, w, action); done {
		return err
	}
	name := labels.ClusterName(w.DevMachine)
	if w.Machine != nil {
		name = w.Machine.Spec.ClusterName
	}
	cluster := c.Cloud.Get(types.NamespacedName{Namespace: w.DevMachine.Namespace, Name: name})
	if cluster == nil {
		return nil // being deleted, or not yet restored: the next look finds it
	}
	switch a := action.(type) {
	case EnsureNode:
		return cluster.EnsureNode(a.Node)
	case EnsureEtcd:
		return cluster.EnsureEtcd(a.Name, a.Version, *w.InMemory.Authorities)
	case EnsureAPIServer:
		return errors.Join(cluster.EnsureComponents(a.Name, a.Version), cluster.EnsureAPIServer(a.Name, a.Version, *w.InMemory.Authorities))
	case RemoveSimulated:
		cluster.DeleteControlPlane(a.Name)
		cluster.DeleteNode(a.Name)
		return nil
	}
	return fmt.Errorf("unknown action %T", action)
}
