package kubeadmcontrolplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	corev1 "k8s.io/api/core/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/manager"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

const (
	name = "kubeadmcontrolplane"
	// Budget bounds a reconcile: etcd behind a slow tunnel takes the longest.
	Budget = 3 * time.Minute

	defaultConditionsGrace = 5 * time.Minute
)

// Controller reconciles KubeadmControlPlanes.
type Controller struct {
	Client client.Client
	// Cached reads from the manager's cache, also kinds that Client reads directly.
	Cached client.Reader
	// Live reads past every cache.
	Live     client.Reader
	Resolver *contractversion.Resolver
	Clusters clustercache.Cache
	Recorder events.EventRecorder
	// Hooks asks extensions whether they update machines in place; nil replaces machines always.
	Hooks *hookcall.Client
	// Now is the clock, ConnectEtcd the way to etcd, AskExpiry asks the API server on a machine for the end of its
	// certificate. Tests replace them.
	Now         func() time.Time
	ConnectEtcd func(ctx context.Context, nodes []string, options etcd.Options) (EtcdClient, *etcd.State, error)
	AskExpiry   func(ctx context.Context, cluster *clusterv1.Cluster, m *Machine, authority []byte) (time.Time, error)

	EtcdDialTimeout, EtcdCallTimeout time.Duration
	EtcdLog                          *zap.Logger
	// ConditionsGrace is how long conditions are kept after the connection to a workload cluster broke.
	ConditionsGrace time.Duration

	started    time.Time
	controller controller.Controller
	memory     *memory
	etcd       *etcdEyes
	expiry     *expiryEyes
}

// EtcdClient changes an etcd cluster through one of its members.
type EtcdClient interface {
	MoveLeader(ctx context.Context, to uint64) error
	RemoveMember(ctx context.Context, id uint64) error
	Close()
}

func connectEtcd(ctx context.Context, nodes []string, options etcd.Options) (EtcdClient, *etcd.State, error) {
	connection, state, err := etcd.ConnectAny(ctx, nodes, options)
	if err != nil {
		return nil, nil, err
	}
	return connection, state, nil
}

// Options of the registration with a manager.
type Options struct {
	Concurrency int
	WatchFilter string
}

// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes;kubeadmcontrolplanetemplates,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machinepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters/finalizers;machines/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io,resources=kubeadmconfigs,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=*,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// Register adds the controller to the manager.
func (c *Controller) Register(mgr ctrl.Manager, options Options) error {
	c.memory, c.etcd, c.expiry = newMemory(), newEtcdEyes(), newExpiryEyes()
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.ConnectEtcd == nil {
		c.ConnectEtcd = connectEtcd
	}
	if c.ConditionsGrace == 0 {
		c.ConditionsGrace = defaultConditionsGrace
	}
	c.started = c.Now()
	if c.AskExpiry == nil {
		c.AskExpiry = c.askExpiry
	}
	skipNameValidation := true
	building := ctrl.NewControllerManagedBy(mgr).Named(name).
		For(&controlplanev1.KubeadmControlPlane{}, builder.WithPredicates(manager.WatchFilter(options.WatchFilter))).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(c.machineToControlPlane), builder.WithPredicates(manager.Changed())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.clusterToControlPlane), builder.WithPredicates(manager.Changed())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &controlplanev1.KubeadmControlPlane{}),
			builder.WithPredicates(manager.Changed())).
		WatchesRawSource(c.Clusters.Source(name, handler.EnqueueRequestsFromMapFunc(c.connectionToControlPlane))).
		WithOptions(controller.Options{MaxConcurrentReconciles: options.Concurrency, SkipNameValidation: &skipNameValidation})
	if c.Hooks != nil {
		building = building.Watches(&runtimev1.ExtensionConfig{}, handler.EnqueueRequestsFromMapFunc(c.extensionToControlPlanes), builder.WithPredicates(hookcall.Noticeable()))
	}
	built, err := building.Build(c)
	if err != nil {
		return fmt.Errorf("building controller %s: %w", name, err)
	}
	c.controller = built
	return nil
}

// Reconcile brings one control plane a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, Budget)
	defer cancel()
	controlPlane := &controlplanev1.KubeadmControlPlane{}
	if err := c.Client.Get(ctx, request.NamespacedName, controlPlane); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	world, set, err := c.observe(ctx, controlPlane)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	if world == nil {
		return reconcile.Result{}, nil
	}
	decision := Decide(*world)
	err = c.act(ctx, world, set, decision)
	if apierrors.IsConflict(err) {
		// Somebody else wrote meanwhile; the event of that write is on its way.
		return reconcile.Result{RequeueAfter: 100 * time.Millisecond}, nil
	}
	if err == nil && decision.Problem != "" {
		err = errors.New(decision.Problem)
	}
	return reconcile.Result{RequeueAfter: decision.Requeue}, err
}

func (c *Controller) machineToControlPlane(ctx context.Context, object client.Object) []reconcile.Request {
	if owner := metav1.GetControllerOf(object); owner != nil {
		if owner.Kind != machines.ControlPlaneGVK.Kind {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: owner.Name}}}
	}
	if !labels.IsControlPlane(object.GetLabels()) {
		return nil
	}
	return c.controlPlaneOf(ctx, client.ObjectKey{Namespace: object.GetNamespace(), Name: labels.ClusterName(object)})
}

func (c *Controller) clusterToControlPlane(_ context.Context, object client.Object) []reconcile.Request {
	cluster, ok := object.(*clusterv1.Cluster)
	if !ok || cluster.Spec.ControlPlaneRef.Kind != machines.ControlPlaneGVK.Kind {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}}}
}

func (c *Controller) connectionToControlPlane(ctx context.Context, object client.Object) []reconcile.Request {
	return c.controlPlaneOf(ctx, client.ObjectKeyFromObject(object))
}

func (c *Controller) controlPlaneOf(ctx context.Context, key client.ObjectKey) []reconcile.Request {
	cluster := &clusterv1.Cluster{}
	if err := c.Client.Get(ctx, key, cluster); err != nil {
		return nil
	}
	return c.clusterToControlPlane(ctx, cluster)
}
