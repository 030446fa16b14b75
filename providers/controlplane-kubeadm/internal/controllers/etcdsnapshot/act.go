package etcdsnapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/patch"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/backupmetrics"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/sealing"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/snapshot"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/store"
)

// errWaiting makes the queue ask again, later each time.
var errWaiting = errors.New("waiting for a change that nothing tells of; see the conditions")

func (c *Controller) act(ctx context.Context, w *World, d Decision) error {
	s := w.Snapshot.DeepCopy()
	h := patch.Begin(c.Client, FieldOwner, w.Snapshot)
	for _, condition := range d.Report {
		conditions.Set(s, condition)
	}
	if len(d.Report) > 0 {
		s.Status.ObservedGeneration = s.Generation
	}
	var err error
	switch d.Action {
	case Hold:
		s.Finalizers = append(s.Finalizers, backupv1.SnapshotFinalizer)
	case Take:
		err = c.take(ctx, h, s, w)
	case Verify:
		err = c.verify(ctx, s, w)
	case DeleteData, TryDeleteData:
		err = c.deleteData(ctx, s, w, d.Action == TryDeleteData)
	case Release:
		release(s)
	case Nothing:
	}
	// What was found out is written also when time is up; but the rest of the reconcile is over.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
	defer cancel()
	if failure := h.Finish(last, s); failure != nil {
		return errors.Join(err, failure)
	}
	if err == nil && d.Retry {
		return errWaiting
	}
	return err
}

func release(s *backupv1.EtcdSnapshot) {
	s.Finalizers = slices.DeleteFunc(slices.Clone(s.Finalizers), func(f string) bool { return f == backupv1.SnapshotFinalizer })
}

// take takes the snapshot. It says first where that will be, so that nobody has to search for what a killed attempt left.
func (c *Controller) take(ctx context.Context, h *patch.Helper, s *backupv1.EtcdSnapshot, w *World) error {
	s.Status.Location = store.Location(s)
	if err := h.Finish(ctx, s); err != nil {
		return err
	}
	if err := c.takeInto(ctx, s, w); err != nil {
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
			return err // the manager stops; that is no failure of the snapshot
		}
		conditions.Set(s, incomplete(backupv1.FailedReason, reasonOf(err)))
		backupmetrics.Failed(s.Namespace, s.Spec.ClusterName, "take")
		c.Recorder.Eventf(s, nil, corev1.EventTypeWarning, "SnapshotFailed", "Take", "%s", reasonOf(err))
		return err
	}
	now := metav1.NewTime(c.Now())
	s.Status.CompletionTime = &now
	conditions.Set(s, metav1.Condition{Type: backupv1.CompletedCondition, Status: metav1.ConditionTrue, Reason: backupv1.CompletedReason})
	conditions.Set(s, unverified(backupv1.NotYetVerifiedReason, ""))
	c.Recorder.Eventf(s, nil, corev1.EventTypeNormal, "SnapshotTaken", "Take", "%d bytes from member %s", s.Status.SizeBytes, s.Status.MemberName)
	return nil
}

func (c *Controller) takeInto(ctx context.Context, s *backupv1.EtcdSnapshot, w *World) error {
	ctx, progress, cancel := watched(ctx, c.Stall)
	defer cancel()
	options, err := c.etcdOptions(ctx, client.ObjectKeyFromObject(w.Cluster))
	if err != nil {
		return fmt.Errorf("preparing the connection to etcd: %w", err)
	}
	member, node, err := c.member(ctx, w.Nodes, options)
	if err != nil {
		return fmt.Errorf("etcd cannot be asked: %w", innermost(err))
	}
	defer member.Close()
	stream, err := member.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("etcd cannot be asked: %w", innermost(err))
	}
	defer stream.Close()
	taken, err := snapshot.Take(ctx, progress(stream), w.Keys, w.Store, s.Status.Location)
	if err != nil {
		return errors.Join(err, stalled(ctx))
	}
	s.Status.SizeBytes, s.Status.Hash = taken.Size, taken.Hash
	s.Status.DatabaseSizeBytes, s.Status.DatabaseHash = taken.DatabaseSize, taken.DatabaseHash
	s.Status.Revision, s.Status.EtcdVersion, s.Status.MemberName = stream.Revision, stream.Version, node
	s.Status.KubernetesVersion, s.Status.ClusterUID = w.ControlPlane.Spec.Version, string(w.Cluster.UID)
	return nil
}

// verify reads the snapshot back. What is wrong with the snapshot is final; what is wrong with the way there is not.
func (c *Controller) verify(ctx context.Context, s *backupv1.EtcdSnapshot, w *World) error {
	taken := snapshot.Taken{Size: s.Status.SizeBytes, Hash: s.Status.Hash, DatabaseSize: s.Status.DatabaseSizeBytes, DatabaseHash: s.Status.DatabaseHash}
	watchedCtx, progress, cancel := watched(ctx, c.Stall)
	defer cancel()
	content, err := snapshot.Verify(watchedCtx, progressing{w.Store, progress}, s.Status.Location, taken, w.Keys)
	verified := metav1.Condition{Type: backupv1.VerifiedCondition, Status: metav1.ConditionTrue, Reason: backupv1.VerifiedReason}
	switch {
	case err == nil:
		now := metav1.NewTime(c.Now())
		s.Status.VerificationTime, s.Status.Revision, s.Status.TotalKeys = &now, content.Revision, content.Keys
	case errors.Is(err, sealing.ErrNoIdentity):
		verified = unverified(backupv1.NoIdentityReason, "what is stored is what was sent; there is no identity to open it with")
	case errors.Is(err, snapshot.ErrCorrupt), errors.Is(err, store.ErrNotFound):
		verified.Status, verified.Reason, verified.Message = metav1.ConditionFalse, backupv1.CorruptReason, err.Error()
		backupmetrics.Failed(s.Namespace, s.Spec.ClusterName, "verify")
		c.Recorder.Eventf(s, nil, corev1.EventTypeWarning, "SnapshotCorrupt", "Verify", "%v", err)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled):
		return err
	default:
		err = errors.Join(err, stalled(watchedCtx))
		conditions.Set(s, unverified(backupv1.NotYetVerifiedReason, reasonOf(err)))
		backupmetrics.Failed(s.Namespace, s.Spec.ClusterName, "verify")
		return err
	}
	conditions.Set(s, verified)
	return nil
}

func (c *Controller) deleteData(ctx context.Context, s *backupv1.EtcdSnapshot, w *World, try bool) error {
	location := s.Status.Location
	if location == "" {
		location = store.Location(s)
	}
	if err := w.Store.Delete(ctx, location); err != nil && !try {
		conditions.Set(s, deleting(reasonOf(err)+". Set spec.deletionPolicy to Retain to leave what is stored"))
		backupmetrics.Failed(s.Namespace, s.Spec.ClusterName, "delete")
		return err
	}
	release(s)
	return nil
}
