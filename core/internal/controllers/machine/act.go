package machine

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/core/internal/drain"
	"github.com/slipway-capi/slipway/core/internal/outcome"
)

// act carries a decision out: the actions in order, then the Machine itself in one write at most.
func (c *Controller) act(ctx context.Context, before *clusterv1.Machine, d Decision) (reconcile.Result, error) {
	var out outcome.Outcome
	out.Note(d.Err)
	for _, a := range d.Actions {
		if step, ok := a.(Drain); ok {
			after, err := c.evict(ctx, before, d.Machine, step)
			out.Note(err)
			d.After = decision.Sooner(d.After, after)
			continue
		}
		if step, ok := a.(Proceed); ok {
			out.Note(c.proceed(ctx, before, step))
			continue
		}
		out.Note(c.carryOut(ctx, before, a))
	}
	out.Note(patch.Begin(c.Client, FieldOwner, before).Finish(ctx, d.Machine, patch.Owned(ownConditions...)))
	if d.Machine.ResourceVersion != before.ResourceVersion && len(d.Machine.Finalizers) > 0 {
		c.writes.Wrote(d.Machine, time.Now())
	}
	for _, e := range d.Events {
		c.Recorder.Eventf(before, nil, corev1.EventTypeNormal, e.Reason, "Reconcile", "%s", e.Message)
	}
	return out.Result(d.After)
}

func (c *Controller) carryOut(ctx context.Context, m *clusterv1.Machine, action Action) error {
	switch a := action.(type) {
	case Adopt:
		obj := a.Object.DeepCopy()
		h := patch.Begin(c.Client, FieldOwner, obj)
		dropCreator(obj, m)
		ownership.Ensure(obj, ownership.ControllerReference(m, clusterv1.GroupVersion.WithKind("Machine")))
		labels.SetClusterName(obj, m.Spec.ClusterName)
		return h.Finish(ctx, obj)
	case Unmark:
		obj := a.Object.DeepCopy()
		h := patch.Begin(c.Client, FieldOwner, obj)
		inplace.Unmark(obj)
		return h.Finish(ctx, obj)
	case DeleteObject:
		uid := a.Object.GetUID()
		err := c.Client.Delete(ctx, a.Object.Unstructured, client.Preconditions{UID: &uid})
		return client.IgnoreNotFound(wrap(err, "deleting %s %s", a.Object.GetKind(), a.Object.GetName()))
	case SyncNode:
		remote, err := c.ClusterCache.Client(ctx, clusterKey(m))
		if err != nil {
			return err
		}
		err = remote.Patch(ctx, a.After.DeepCopy(), client.StrategicMergeFrom(a.Before, client.MergeFromWithOptimisticLock{}))
		return client.IgnoreNotFound(wrap(err, "updating Node %s", a.After.Name))
	case DeleteNode:
		remote, err := c.ClusterCache.Client(ctx, clusterKey(m))
		if err != nil {
			return err
		}
		err = remote.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: a.Name}}, client.Preconditions{UID: &a.UID})
		return client.IgnoreNotFound(wrap(err, "deleting Node %s", a.Name))
	}
	return fmt.Errorf("unknown action %T", action)
}

// proceed changes the marks of an update on the Machine.
func (c *Controller) proceed(ctx context.Context, before *clusterv1.Machine, a Proceed) error {
	to := a.To.DeepCopy()
	if err := c.Client.Patch(ctx, to, client.MergeFromWithOptions(before.DeepCopy(), client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldOwner)); err != nil {
		return fmt.Errorf("ending the update in place: %w", err)
	}
	c.writes.Wrote(to, time.Now())
	return nil
}

// evict carries a drain out one step and reports in the Machine what became of it. It says when to look again.
func (c *Controller) evict(ctx context.Context, before, m *clusterv1.Machine, a Drain) (time.Duration, error) {
	remote, err := c.ClusterCache.UncachedClient(ctx, clusterKey(m))
	if err != nil {
		return 0, err
	}
	evictor := drain.Evictor{Client: remote}
	if a.Plan.Cordon {
		if err := evictor.Cordon(ctx, a.Plan.Node); err != nil {
			return 0, err
		}
	}
	results, err := evictor.Evict(ctx, a.Plan)
	report := a.Plan.Report(a.Began, results)
	if report.Failed && conditions.Message(before, clusterv1.DeletingCondition) != report.Message {
		c.Recorder.Eventf(before, nil, corev1.EventTypeWarning, "FailedDrainNode", "Drain", "%s", report.Message)
	}
	conditions.Set(m, metav1.Condition{Type: clusterv1.DeletingCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineDeletingDrainingNodeReason, Message: report.Message})
	return report.After, err
}

// dropCreator removes the entry of the MachineSet or control plane that created the object for this Machine.
func dropCreator(obj metav1.Object, m *clusterv1.Machine) {
	if creator := ownership.ControllerOf(m); creator != nil {
		ownership.Remove(obj, *creator)
	}
}

func wrap(err error, format string, args ...any) error {
	if err == nil || apierrors.IsNotFound(err) {
		return err
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

func clusterKey(m *clusterv1.Machine) client.ObjectKey {
	return client.ObjectKey{Namespace: m.Namespace, Name: m.Spec.ClusterName}
}
