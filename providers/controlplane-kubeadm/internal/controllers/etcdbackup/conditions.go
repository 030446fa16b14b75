package etcdbackup

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/paused"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/retention"
)

// summarize tells of the newest snapshots.
func (w World) summarize(status *backupv1.EtcdBackupStatus) {
	status.LastSnapshot, status.LastVerifiedSnapshot = nil, nil
	count := int32(0)
	for _, s := range w.Snapshots {
		if !completed(s) || s.Status.CompletionTime == nil || !s.DeletionTimestamp.IsZero() {
			continue
		}
		count++
		status.LastSnapshot = newer(status.LastSnapshot, s, s.Status.CompletionTime)
		if conditions.IsTrue(s, backupv1.VerifiedCondition) && s.Status.VerificationTime != nil {
			status.LastVerifiedSnapshot = newer(status.LastVerifiedSnapshot, s, s.Status.VerificationTime)
		}
	}
	status.Snapshots = &count
}

func newer(known *backupv1.SnapshotSummary, s *backupv1.EtcdSnapshot, at *metav1.Time) *backupv1.SnapshotSummary {
	if known != nil && !known.Time.Before(at) {
		return known
	}
	return &backupv1.SnapshotSummary{Name: s.Name, Time: *at, Revision: s.Status.Revision, SizeBytes: s.Status.SizeBytes}
}

// newest is the snapshot that was made last, whether or not it could be taken.
func (w World) newest() *backupv1.EtcdSnapshot {
	var newest *backupv1.EtcdSnapshot
	for _, s := range w.Snapshots {
		if !s.DeletionTimestamp.IsZero() {
			continue
		}
		if newest == nil || newest.CreationTimestamp.Before(&s.CreationTimestamp) ||
			newest.CreationTimestamp.Equal(&s.CreationTimestamp) && newest.Name < s.Name {
			newest = s
		}
	}
	return newest
}

func (w World) available() metav1.Condition {
	c := metav1.Condition{Type: backupv1.AvailableCondition, Status: metav1.ConditionFalse}
	good := 0
	for _, s := range w.Snapshots {
		if grade(s) == retention.Good && s.DeletionTimestamp.IsZero() {
			good++
		}
	}
	newest := w.newest()
	switch {
	case newest != nil && !completed(newest) && conditions.Reason(newest, backupv1.CompletedCondition) != backupv1.TakingReason &&
		conditions.Has(newest, backupv1.CompletedCondition):
		c.Reason = backupv1.SnapshotFailingReason
		c.Message = fmt.Sprintf("EtcdSnapshot %s is not taken: %s", newest.Name, conditions.Message(newest, backupv1.CompletedCondition))
	case newest != nil && grade(newest) == retention.Bad:
		c.Reason = backupv1.SnapshotCorruptReason
		c.Message = fmt.Sprintf("EtcdSnapshot %s: %s", newest.Name, conditions.Message(newest, backupv1.VerifiedCondition))
	case good == 0:
		c.Reason, c.Message = backupv1.NoSnapshotReason, "there is no good snapshot yet"
	default:
		c.Status, c.Reason = metav1.ConditionTrue, backupv1.AvailableReason
	}
	return c
}

func (w World) scheduled(problem string) metav1.Condition {
	c := metav1.Condition{Type: backupv1.ScheduledCondition, Status: metav1.ConditionFalse, Message: problem}
	switch {
	case problem == "":
		c.Status, c.Reason = metav1.ConditionTrue, backupv1.ScheduledReason
	case paused.HasAnnotation(w.Backup):
		c.Reason = backupv1.PausedReason
	case w.Cluster == nil:
		c.Reason = backupv1.ClusterNotFoundReason
	case w.suspended():
		c.Reason = backupv1.SuspendedReason
	case paused.Is(w.Cluster, w.Backup):
		c.Reason = backupv1.PausedReason
	default:
		c.Reason = backupv1.InvalidScheduleReason
	}
	return c
}
