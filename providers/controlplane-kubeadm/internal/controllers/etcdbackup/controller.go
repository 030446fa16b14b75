package etcdbackup

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/backupmetrics"
)

const (
	name = "etcdbackup"
	// FieldOwner is the name under which status is applied.
	FieldOwner = "slipway-etcdbackup"
)

// Controller reconciles EtcdBackups.
type Controller struct {
	Client   client.Client
	Recorder events.EventRecorder
	// Now is the clock; tests replace it.
	Now func() time.Time
}

// Options of the registration with a manager.
type Options struct {
	Concurrency int
	WatchFilter string
}

// +kubebuilder:rbac:groups=backup.slipway.dev,resources=etcdbackups,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=backup.slipway.dev,resources=etcdbackups/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=backup.slipway.dev,resources=etcdsnapshots,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch

// Register adds the controller to the manager.
func (c *Controller) Register(mgr ctrl.Manager, options Options) error {
	if c.Now == nil {
		c.Now = time.Now
	}
	skipNameValidation := true
	err := ctrl.NewControllerManagedBy(mgr).Named(name).
		For(&backupv1.EtcdBackup{}, builder.WithPredicates(manager.WatchFilter(options.WatchFilter))).
		Watches(&backupv1.EtcdSnapshot{}, handler.EnqueueRequestsFromMapFunc(backupOf), builder.WithPredicates(manager.Changed())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(c.backupsOf), builder.WithPredicates(manager.Changed())).
		WithOptions(controller.Options{MaxConcurrentReconciles: options.Concurrency, SkipNameValidation: &skipNameValidation}).
		Complete(c)
	if err != nil {
		return fmt.Errorf("building controller %s: %w", name, err)
	}
	return nil
}

// Reconcile brings one backup a step nearer to its spec.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	backup := &backupv1.EtcdBackup{}
	if err := c.Client.Get(ctx, request.NamespacedName, backup); err != nil {
		backupmetrics.Drop(request.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !backup.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	world, err := c.observe(ctx, backup)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	decision := Decide(*world)
	err = c.act(ctx, backup, decision)
	if apierrors.IsConflict(err) {
		// Somebody else wrote meanwhile; the event of that write is on its way.
		return reconcile.Result{RequeueAfter: 100 * time.Millisecond}, nil
	}
	return reconcile.Result{RequeueAfter: decision.Requeue}, err
}

// observe reads the backup's cluster and snapshots.
func (c *Controller) observe(ctx context.Context, backup *backupv1.EtcdBackup) (*World, error) {
	w := &World{Now: c.Now(), Backup: backup}
	cluster := &clusterv1.Cluster{}
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: backup.Namespace, Name: backup.Spec.ClusterName}, cluster)
	switch {
	case err == nil:
		w.Cluster = cluster
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("reading Cluster %s: %w", backup.Spec.ClusterName, err)
	}
	list := &backupv1.EtcdSnapshotList{}
	if err := c.Client.List(ctx, list, client.InNamespace(backup.Namespace)); err != nil {
		return nil, fmt.Errorf("listing EtcdSnapshots: %w", err)
	}
	for i := range list.Items {
		// A snapshot of another cluster is not this backup's, whatever it says.
		if s := &list.Items[i]; s.Spec.BackupName == backup.Name && s.Spec.ClusterName == backup.Spec.ClusterName {
			w.Snapshots = append(w.Snapshots, s)
		}
	}
	return w, nil
}

func backupOf(_ context.Context, object client.Object) []reconcile.Request {
	s, ok := object.(*backupv1.EtcdSnapshot)
	if !ok || s.Spec.BackupName == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: s.Namespace, Name: s.Spec.BackupName}}}
}

func (c *Controller) backupsOf(ctx context.Context, cluster client.Object) []reconcile.Request {
	list := &backupv1.EtcdBackupList{}
	if err := c.Client.List(ctx, list, client.InNamespace(cluster.GetNamespace())); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Spec.ClusterName == cluster.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
