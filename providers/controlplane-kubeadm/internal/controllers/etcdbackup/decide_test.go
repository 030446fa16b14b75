package etcdbackup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func hoursAgo(h float64) metav1.Time {
	return metav1.NewTime(now.Add(-time.Duration(h * float64(time.Hour))))
}

// world is a backup at 02:00 each day, made ten days ago and last asked at the last time but so many days ago.
func world(changes ...func(*World)) World {
	w := World{Now: now, Cluster: &clusterv1.Cluster{}, Backup: &backupv1.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly", CreationTimestamp: hoursAgo(240)},
		Spec: backupv1.EtcdBackupSpec{ClusterName: "c1", Schedule: "0 2 * * *",
			Destination: backupv1.Destination{Directory: &backupv1.DirectoryDestination{Path: "a"}}},
	}}
	for _, change := range changes {
		change(&w)
	}
	return w
}

// has adds a snapshot of the schedule, taken so long ago.
func has(name string, ago float64, changes ...func(*backupv1.EtcdSnapshot)) func(*World) {
	return func(w *World) {
		at := hoursAgo(ago)
		s := &backupv1.EtcdSnapshot{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: at,
			Annotations: map[string]string{backupv1.ScheduledTimeAnnotation: at.UTC().Format(time.RFC3339)}}}
		s.Spec.Destination = w.Backup.Spec.Destination
		s.Status.CompletionTime, s.Status.VerificationTime = &at, &at
		s.Status.Revision, s.Status.SizeBytes = 7, 42
		conditions.Set(s, metav1.Condition{Type: backupv1.CompletedCondition, Status: metav1.ConditionTrue})
		conditions.Set(s, metav1.Condition{Type: backupv1.VerifiedCondition, Status: metav1.ConditionTrue})
		for _, change := range changes {
			change(s)
		}
		w.Snapshots = append(w.Snapshots, s)
	}
}

func failing(s *backupv1.EtcdSnapshot) {
	s.Status.CompletionTime, s.Status.VerificationTime = nil, nil
	conditions.Set(s, metav1.Condition{Type: backupv1.CompletedCondition, Status: metav1.ConditionFalse, Reason: backupv1.FailedReason, Message: "AccessDenied"})
	conditions.Delete(s, backupv1.VerifiedCondition)
}

func corrupt(s *backupv1.EtcdSnapshot) {
	s.Status.VerificationTime = nil
	conditions.Set(s, metav1.Condition{Type: backupv1.VerifiedCondition, Status: metav1.ConditionFalse, Reason: backupv1.CorruptReason, Message: "a bit has turned"})
}

func elsewhere(s *backupv1.EtcdSnapshot) {
	s.Spec.Destination = backupv1.Destination{Directory: &backupv1.DirectoryDestination{Path: "other"}}
}

func byHand(s *backupv1.EtcdSnapshot) { s.Annotations = nil }

func keep(count int32) func(*World) {
	return func(w *World) { w.Backup.Spec.Retention.Count = &count }
}

func TestDecide(t *testing.T) {
	yes := true
	for _, row := range []struct {
		name      string
		world     World
		take      string
		deletes   []string
		available string
		scheduled string
		requeue   time.Duration
	}{
		{name: "days were missed: one for all", world: world(),
			take: "2026-05-01T02:00:00Z", available: backupv1.NoSnapshotReason, scheduled: backupv1.ScheduledReason, requeue: 14 * time.Hour},
		{name: "all is well, to the second until the next time", world: world(has("a", 10)),
			available: backupv1.AvailableReason, scheduled: backupv1.ScheduledReason, requeue: 14 * time.Hour},
		{name: "a snapshot that cannot be taken holds up the next", world: world(has("a", 34), has("b", 33, failing)),
			available: backupv1.SnapshotFailingReason, scheduled: backupv1.ScheduledReason, requeue: 14 * time.Hour},
		{name: "one by hand that cannot be taken does not", world: world(has("a", 34), has("b", 33, failing, byHand)),
			take: "2026-05-01T02:00:00Z", available: backupv1.SnapshotFailingReason, scheduled: backupv1.ScheduledReason, requeue: 14 * time.Hour},
		{name: "one that waits for a destination that was given up goes", world: world(has("a", 34), has("b", 33, failing, elsewhere)),
			take: "2026-05-01T02:00:00Z", deletes: []string{"b Superseded"}, available: backupv1.SnapshotFailingReason, scheduled: backupv1.ScheduledReason, requeue: 14 * time.Hour},
		{name: "the newest is corrupt", world: world(has("a", 34), has("b", 10, corrupt)),
			available: backupv1.SnapshotCorruptReason, scheduled: backupv1.ScheduledReason, requeue: 14 * time.Hour},
		{name: "retention", world: world(keep(1), has("a", 34), has("b", 10)),
			deletes: []string{"a TooMany"}, available: backupv1.AvailableReason, scheduled: backupv1.ScheduledReason, requeue: 14 * time.Hour},
		{name: "corrupt ones push out no good one", world: world(keep(1), has("a", 34), has("b", 10, corrupt)),
			available: backupv1.SnapshotCorruptReason, scheduled: backupv1.ScheduledReason, requeue: 14 * time.Hour},
		{name: "age is looked at in time", world: world(has("a", 34), has("b", 10), func(w *World) {
			hours := int32(36)
			w.Backup.Spec.Retention.MaxAgeHours = &hours
		}), available: backupv1.AvailableReason, scheduled: backupv1.ScheduledReason, requeue: 2*time.Hour + time.Second},
		{name: "suspended: nothing new, but old ones go", world: world(keep(1), has("a", 100), has("b", 90), func(w *World) { w.Backup.Spec.Suspend = &yes }),
			deletes: []string{"a TooMany"}, available: backupv1.AvailableReason, scheduled: backupv1.SuspendedReason},
		{name: "the cluster is paused", world: world(func(w *World) { w.Cluster.Spec.Paused = &yes }),
			available: backupv1.NoSnapshotReason, scheduled: backupv1.PausedReason},
		{name: "the backup is paused: nothing at all", world: world(keep(1), has("a", 34), has("b", 10), func(w *World) {
			w.Backup.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		}), available: backupv1.AvailableReason, scheduled: backupv1.PausedReason},
		{name: "no cluster: what is there stays", world: world(has("a", 10), func(w *World) { w.Cluster = nil }),
			available: backupv1.AvailableReason, scheduled: backupv1.ClusterNotFoundReason},
		{name: "a schedule that got past admission", world: world(func(w *World) { w.Backup.Spec.Schedule = "often" }),
			available: backupv1.NoSnapshotReason, scheduled: backupv1.InvalidScheduleReason},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := Decide(row.world)
			var deletes []string
			for _, one := range d.Delete {
				deletes = append(deletes, one.Name+" "+one.Reason)
			}
			take := ""
			if !d.Take.IsZero() {
				take = d.Take.Format(time.RFC3339)
			}
			after := &backupv1.EtcdBackup{Status: d.Status}
			assert.Equal(t, row.take, take)
			assert.Equal(t, row.deletes, deletes)
			assert.Equal(t, row.available, conditions.Reason(after, backupv1.AvailableCondition))
			assert.Equal(t, row.available == backupv1.AvailableReason, conditions.IsTrue(after, backupv1.AvailableCondition))
			assert.Equal(t, row.scheduled, conditions.Reason(after, backupv1.ScheduledCondition))
			assert.Equal(t, row.requeue, d.Requeue)
		})
	}
}

func TestTheStatusTellsOfTheNewestSnapshots(t *testing.T) {
	d := Decide(world(has("a", 34), has("b", 10, corrupt), has("c", 5, failing)))
	assert.Equal(t, &backupv1.SnapshotSummary{Name: "b", Time: hoursAgo(10), Revision: 7, SizeBytes: 42}, d.Status.LastSnapshot)
	assert.Equal(t, "a", d.Status.LastVerifiedSnapshot.Name)
	assert.Equal(t, int32(2), *d.Status.Snapshots)
	assert.Equal(t, "2026-05-02T02:00:00Z", d.Status.NextTime.UTC().Format(time.RFC3339))
}

// A decision whose status is written decides nothing more: the same time is never answered twice.
func TestADecisionThatIsWrittenIsDone(t *testing.T) {
	w := world()
	d := Decide(w)
	assert.False(t, d.Take.IsZero())
	w.Backup.Status = d.Status
	again := Decide(w)
	assert.True(t, again.Take.IsZero(), "also while the new snapshot is not seen yet")
	assert.Equal(t, d.Status.NextTime, again.Status.NextTime)
	assert.Equal(t, snapshotOf(w.Backup, d.Take).Name, "nightly-20260501-0200")
}
