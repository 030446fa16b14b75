package etcdbackup

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/patch"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/backupmetrics"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/retention"
)

// act makes the snapshot before it writes that it was asked for: whoever is killed between makes the same one again.
func (c *Controller) act(ctx context.Context, backup *backupv1.EtcdBackup, d Decision) error {
	if !d.Take.IsZero() {
		s := snapshotOf(backup, d.Take)
		err := c.Client.Create(ctx, s)
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating EtcdSnapshot %s: %w", s.Name, err)
		}
		if err == nil {
			c.Recorder.Eventf(backup, s, corev1.EventTypeNormal, "SnapshotDue", "Create", "EtcdSnapshot %s", s.Name)
		}
	}
	for _, deletion := range d.Delete {
		if err := c.remove(ctx, backup, deletion); err != nil {
			return err
		}
	}
	after := backup.DeepCopy()
	after.Status = d.Status
	tell(after)
	return patch.Begin(c.Client, FieldOwner, backup).Finish(ctx, after)
}

// snapshotOf is the snapshot for a time of the schedule. Its name is the same in every attempt.
func snapshotOf(backup *backupv1.EtcdBackup, due time.Time) *backupv1.EtcdSnapshot {
	s := &backupv1.EtcdSnapshot{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: backup.Namespace, Name: backup.Name + "-" + due.UTC().Format("20060102-1504"),
			Labels:      map[string]string{clusterv1.ClusterNameLabel: backup.Spec.ClusterName},
			Annotations: map[string]string{backupv1.ScheduledTimeAnnotation: due.UTC().Format(time.RFC3339)},
		},
		Spec: backupv1.EtcdSnapshotSpec{
			BackupName: backup.Name, ClusterName: backup.Spec.ClusterName, DeletionPolicy: backupv1.Retain,
			Destination: *backup.Spec.Destination.DeepCopy(), Encryption: backup.Spec.Encryption,
		},
	}
	// Who handles the backup must also handle its snapshots.
	if filter, ok := backup.Labels[clusterv1.WatchLabel]; ok {
		s.Labels[clusterv1.WatchLabel] = filter
	}
	return s
}

// remove says that the data is to go with the object, and then deletes that. Both are about the object that was judged: one
// that was made again under its name is another.
func (c *Controller) remove(ctx context.Context, backup *backupv1.EtcdBackup, deletion retention.Deletion) error {
	s := &backupv1.EtcdSnapshot{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: backup.Namespace, Name: deletion.Name}, s); err != nil {
		return client.IgnoreNotFound(err)
	}
	if s.Spec.DeletionPolicy != backupv1.Delete {
		before := s.DeepCopy()
		s.Spec.DeletionPolicy = backupv1.Delete
		err := c.Client.Patch(ctx, s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("marking EtcdSnapshot %s: %w", s.Name, err)
		}
	}
	err := c.Client.Delete(ctx, s, client.Preconditions{UID: &s.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting EtcdSnapshot %s: %w", s.Name, err)
	}
	c.Recorder.Eventf(backup, s, corev1.EventTypeNormal, deletion.Reason, "Delete", "EtcdSnapshot %s goes: %s", s.Name, deletion.Because)
	return nil
}

// tell keeps the metrics in step with the status.
func tell(backup *backupv1.EtcdBackup) {
	b := backupmetrics.Backup{Cluster: backup.Spec.ClusterName, Available: conditions.IsTrue(backup, backupv1.AvailableCondition)}
	if last := backup.Status.LastSnapshot; last != nil {
		b.Taken, b.Size = last.Time.Time, last.SizeBytes
	}
	if last := backup.Status.LastVerifiedSnapshot; last != nil {
		b.Verified = last.Time.Time
	}
	backupmetrics.Set(client.ObjectKeyFromObject(backup), b)
}
