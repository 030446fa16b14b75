package kubeadmconfig

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/labels"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-kubeadmconfig"

// Controller reconciles KubeadmConfigs.
type Controller struct {
	Client client.Client
	// Live reads without cache, for Secrets of users that carry no label; Secrets reads the cached, labelled ones.
	Live, Secrets client.Reader
	Resolver      *contractversion.Resolver
	ClusterCache  clustercache.Cache
	// TokenTTL is how long bootstrap tokens live; see --bootstrap-token-ttl.
	TokenTTL time.Duration
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a KubeadmConfig must have to be handled here.
	WatchFilter string

	released sync.Map
}

// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io,resources=kubeadmconfigs;kubeadmconfigs/status,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io,resources=kubeadmconfigs/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machines;machinepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=*,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets;configmaps,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	err := ctrl.NewControllerManagedBy(mgr).Named("kubeadmconfig").For(&bootstrapv1.KubeadmConfig{}).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(ofMachine), builder.WithPredicates(onUpdate(machineMatters))).
		Watches(&clusterv1.MachinePool{}, handler.EnqueueRequestsFromMapFunc(ofPool)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.ofCluster), builder.WithPredicates(onUpdate(clusterMatters))).
		Watches(secretOfCluster, handler.EnqueueRequestsFromMapFunc(c.ofSecret)).
		WatchesRawSource(c.ClusterCache.Source("kubeadmconfig", handler.EnqueueRequestsFromMapFunc(c.ofCluster))).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Complete(c)
	if err != nil {
		return fmt.Errorf("building the kubeadmconfig controller: %w", err)
	}
	return nil
}

// Reconcile brings one KubeadmConfig a step nearer to its data Secret.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	config := &bootstrapv1.KubeadmConfig{}
	if err := c.Client.Get(ctx, req.NamespacedName, config); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.WatchFilter != "" && config.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	w, err := c.observe(ctx, config)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	if StageOf(w) == Idle {
		return reconcile.Result{}, nil
	}
	return c.act(ctx, w, Decide(w))
}

func ofMachine(_ context.Context, o client.Object) []reconcile.Request {
	return ofRef(o.GetNamespace(), o.(*clusterv1.Machine).Spec.Bootstrap.ConfigRef)
}

func ofPool(_ context.Context, o client.Object) []reconcile.Request {
	return ofRef(o.GetNamespace(), o.(*clusterv1.MachinePool).Spec.Template.Spec.Bootstrap.ConfigRef)
}

func ofRef(namespace string, ref clusterv1.ContractVersionedObjectReference) []reconcile.Request {
	if (schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}) != bootstrapv1.GroupVersion.WithKind("KubeadmConfig").GroupKind() {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: namespace, Name: ref.Name}}}
}

func (c *Controller) ofCluster(ctx context.Context, o client.Object) []reconcile.Request {
	c.released.Delete(client.ObjectKeyFromObject(o))
	list := &bootstrapv1.KubeadmConfigList{}
	if err := c.Client.List(ctx, list, client.InNamespace(o.GetNamespace()), client.MatchingLabels(labels.OfCluster(o.GetName()))); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}
