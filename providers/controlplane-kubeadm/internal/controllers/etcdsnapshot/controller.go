package etcdsnapshot

import (
	"context"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/manager"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
)

const (
	name = "etcdsnapshot"
	// FieldOwner is the name under which status is applied.
	FieldOwner = "slipway-etcdsnapshot"
	// Budget bounds a reconcile. 8 GiB, the most that etcd is meant to hold, take 30 minutes at 5 MB/s.
	Budget = time.Hour
	// stall is how long a snapshot may make no progress.
	stall = time.Minute
)

// Controller reconciles EtcdSnapshots.
type Controller struct {
	Client client.Client
	// Live reads snapshots from the API server. What a cache still holds of the moment before would have a snapshot taken twice, and the
	// second one judged by the hash of the first.
	Live client.Reader
	// Cached reads from the manager's cache, also kinds that Client reads directly.
	Cached   client.Reader
	Clusters clustercache.Cache
	Recorder events.EventRecorder
	// Root is the directory below which snapshots may be stored; empty forbids directories.
	Root string

	EtcdDialTimeout, EtcdCallTimeout time.Duration
	EtcdLog                          *zap.Logger

	// Now is the clock, Stall how long a snapshot may make no progress, and Dial the way to a member. Tests replace them.
	Now   func() time.Time
	Stall time.Duration
	Dial  func(ctx context.Context, cluster client.ObjectKey, node string) (net.Conn, error)
	// PlainText speaks to members without TLS. Only tests do.
	PlainText bool
}

// Options of the registration with a manager.
type Options struct {
	Concurrency int
	WatchFilter string
}

// +kubebuilder:rbac:groups=backup.slipway.dev,resources=etcdsnapshots,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=backup.slipway.dev,resources=etcdsnapshots/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machines,verbs=get;list;watch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch

// Register adds the controller to the manager.
func (c *Controller) Register(mgr ctrl.Manager, options Options) error {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Stall == 0 {
		c.Stall = stall
	}
	if c.Dial == nil {
		c.Dial = c.tunnel
	}
	skipNameValidation := true
	err := ctrl.NewControllerManagedBy(mgr).Named(name).
		For(&backupv1.EtcdSnapshot{}, builder.WithPredicates(manager.WatchFilter(options.WatchFilter))).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.waiting), builder.WithPredicates(manager.Changed())).
		WatchesRawSource(c.Clusters.Source(name, handler.EnqueueRequestsFromMapFunc(c.waiting))).
		WithOptions(controller.Options{MaxConcurrentReconciles: options.Concurrency, SkipNameValidation: &skipNameValidation,
			ReconciliationTimeout: Budget}).
		Complete(c)
	if err != nil {
		return fmt.Errorf("building controller %s: %w", name, err)
	}
	return nil
}

// Reconcile brings one snapshot a step further.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	snapshot := &backupv1.EtcdSnapshot{}
	if err := c.Live.Get(ctx, request.NamespacedName, snapshot); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	world, err := c.observe(ctx, snapshot)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	return reconcile.Result{}, c.act(ctx, world, Decide(*world))
}

// waiting are the snapshots of a cluster that are still to be taken.
func (c *Controller) waiting(ctx context.Context, cluster client.Object) []reconcile.Request {
	list := &backupv1.EtcdSnapshotList{}
	if err := c.Client.List(ctx, list, client.InNamespace(cluster.GetNamespace())); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		s := &list.Items[i]
		if s.Spec.ClusterName == cluster.GetName() && !conditions.IsTrue(s, backupv1.CompletedCondition) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)})
		}
	}
	return requests
}

// member opens a client to the members on the nodes and returns one that can be copied.
func (c *Controller) member(ctx context.Context, nodes []string, options etcd.Options) (*etcd.Client, string, error) {
	first, state, err := etcd.ConnectAny(ctx, nodes, options)
	if err != nil {
		return nil, "", err
	}
	defer first.Close()
	failure := fmt.Errorf("none of the %d members can be copied: they are learners or have found themselves corrupt", len(state.Members))
	for _, candidate := range etcd.ToCopy(state) {
		client, err := etcd.Connect(ctx, candidate, options)
		if err == nil {
			if _, err = client.State(ctx); err == nil {
				return client, candidate, nil
			}
			client.Close()
		}
		failure = err
	}
	return nil, "", failure
}
