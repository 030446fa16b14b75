package etcdbackup

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/paused"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/retention"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/schedule"
)

// defaultCount is how many snapshots are kept if nothing is said.
const defaultCount = 7

// World is all that matters for one backup at one moment.
type World struct {
	Now    time.Time
	Backup *backupv1.EtcdBackup
	// Cluster is nil if there is none.
	Cluster *clusterv1.Cluster
	// Snapshots are those of this backup.
	Snapshots []*backupv1.EtcdSnapshot
}

// Decision is what to do about a backup and what to report.
type Decision struct {
	// Take is the time of the schedule for which a snapshot is to be made; zero if none is.
	Take time.Time
	// Delete are the snapshots that go.
	Delete []retention.Deletion
	Status backupv1.EtcdBackupStatus
	// Requeue is when to look again even if nothing happens; zero means never.
	Requeue time.Duration
}

// Decide says what to do about a backup, given all that is known about it. It is pure.
func Decide(w World) Decision {
	if paused.HasAnnotation(w.Backup) {
		return Decision{Status: w.report(paused.Condition(w.Cluster, w.Backup).Message, nil)}
	}
	d := Decision{Delete: append(w.superseded(), w.outlived()...)}
	times, problem := w.times()
	if times != nil {
		d.Take = times.Due
		d.Requeue = times.Next.Sub(w.Now)
	}
	if end := retention.Next(w.policy(), w.left(d.Delete), w.Now); !end.IsZero() {
		d.Requeue = decision.Sooner(d.Requeue, end.Sub(w.Now))
	}
	d.Status = w.report(problem, times)
	return d
}

// times is the decision of the schedule; nil and a problem if nothing is taken by schedule.
func (w World) times() (*schedule.Decision, string) {
	is, message := paused.Reason(w.Cluster, w.Backup)
	switch {
	case w.Cluster == nil:
		return nil, "there is no Cluster " + w.Backup.Spec.ClusterName
	case w.suspended():
		return nil, "spec.suspend is set"
	case is:
		return nil, message
	}
	s, err := schedule.Parse(w.Backup.Spec.Schedule)
	if err != nil {
		return nil, "spec.schedule " + err.Error()
	}
	d := schedule.Decide(s, w.history(), w.Now)
	return &d, ""
}

func (w World) suspended() bool { return w.Backup.Spec.Suspend != nil && *w.Backup.Spec.Suspend }

func (w World) history() schedule.History {
	h := schedule.History{Begin: w.Backup.CreationTimestamp.Time}
	if t := w.Backup.Status.LastScheduledTime; t != nil {
		h.Done = append(h.Done, t.Time)
	}
	if t := w.Backup.Status.NextTime; t != nil {
		h.Planned = t.Time
	}
	for _, s := range w.Snapshots {
		at, scheduled := scheduledFor(s)
		if scheduled {
			h.Done = append(h.Done, at)
		}
		if s.Status.CompletionTime != nil {
			h.Done = append(h.Done, s.Status.CompletionTime.Time)
		}
		if scheduled && !completed(s) && s.DeletionTimestamp.IsZero() && !w.outdated(s) {
			h.Running = true
		}
	}
	return h
}

func scheduledFor(s *backupv1.EtcdSnapshot) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s.Annotations[backupv1.ScheduledTimeAnnotation])
	return t, err == nil
}

func completed(s *backupv1.EtcdSnapshot) bool {
	return conditions.IsTrue(s, backupv1.CompletedCondition)
}

// outdated says that a snapshot would be stored otherwise if it were made today.
func (w World) outdated(s *backupv1.EtcdSnapshot) bool {
	return !equality.Semantic.DeepEqual(s.Spec.Destination, w.Backup.Spec.Destination) ||
		!equality.Semantic.DeepEqual(s.Spec.Encryption, w.Backup.Spec.Encryption)
}

// superseded are snapshots that could not be taken, and that the present spec would not ask for.
func (w World) superseded() []retention.Deletion {
	var out []retention.Deletion
	for _, s := range w.Snapshots {
		if _, scheduled := scheduledFor(s); scheduled && !completed(s) && s.DeletionTimestamp.IsZero() && w.outdated(s) {
			out = append(out, retention.Deletion{Name: s.Name, Why: decision.Because("Superseded",
				"it was not taken yet, and the destination or the encryption of the backup has changed")})
		}
	}
	return out
}

func (w World) policy() retention.Policy {
	p := retention.Policy{Count: defaultCount}
	if n := w.Backup.Spec.Retention.Count; n != nil {
		p.Count = int(*n)
	}
	if h := w.Backup.Spec.Retention.MaxAgeHours; h != nil {
		p.MaxAge = time.Duration(*h) * time.Hour
	}
	return p
}

func (w World) outlived() []retention.Deletion {
	return retention.Decide(w.policy(), w.left(nil), w.Now)
}

// left are the snapshots as retention sees them, without those that go now.
func (w World) left(going []retention.Deletion) []retention.Snapshot {
	var out []retention.Snapshot
	for _, s := range w.Snapshots {
		if slices.ContainsFunc(going, func(d retention.Deletion) bool { return d.Name == s.Name }) {
			continue
		}
		one := retention.Snapshot{Name: s.Name, Grade: grade(s), Deleting: !s.DeletionTimestamp.IsZero()}
		if s.Status.CompletionTime != nil {
			one.Taken = s.Status.CompletionTime.Time
		}
		out = append(out, one)
	}
	return out
}

func grade(s *backupv1.EtcdSnapshot) retention.Grade {
	switch {
	case !completed(s) || s.Status.CompletionTime == nil:
		return retention.Open
	case conditions.IsTrue(s, backupv1.VerifiedCondition), conditions.Reason(s, backupv1.VerifiedCondition) == backupv1.NoIdentityReason:
		return retention.Good
	case conditions.IsFalse(s, backupv1.VerifiedCondition):
		return retention.Bad
	}
	return retention.Open
}

// report makes the status. A problem says why nothing is taken by schedule.
func (w World) report(problem string, times *schedule.Decision) backupv1.EtcdBackupStatus {
	status := *w.Backup.Status.DeepCopy()
	status.ObservedGeneration = w.Backup.Generation
	status.NextTime = nil
	if times != nil {
		next := metav1.NewTime(times.Next)
		status.NextTime = &next
		if !times.Due.IsZero() {
			due := metav1.NewTime(times.Due)
			status.LastScheduledTime = &due
		}
	}
	w.summarize(&status)
	holder := &backupv1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Generation: w.Backup.Generation}, Status: status}
	conditions.SetAll(holder, w.available(), w.scheduled(problem))
	return holder.Status
}
