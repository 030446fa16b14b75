package machinehealthcheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/core/internal/outcome"
)

// act carries a decision out. The Machines come one by one, so that one that cannot be written keeps no other from being
// remediated; the check itself comes last, in one write at most.
func (c *Controller) act(ctx context.Context, before *clusterv1.MachineHealthCheck, d Decision) (reconcile.Result, error) {
	var out outcome.Outcome
	out.Note(d.Err)
	for _, a := range d.Actions {
		out.Note(c.carryOut(ctx, before, a))
	}
	if err := patch.Begin(c.Client, FieldOwner, before).Finish(ctx, d.Check, patch.Owned(ownConditions...)); err != nil {
		out.Note(err)
		return out.Result(d.After)
	}
	if d.Check.ResourceVersion != before.ResourceVersion {
		c.writes.Wrote(d.Check, time.Now())
	}
	for _, e := range d.Events {
		c.Recorder.Eventf(before, nil, corev1.EventTypeWarning, e.Reason, "Reconcile", "%s", e.Message)
	}
	return out.Result(d.After)
}

func (c *Controller) carryOut(ctx context.Context, check *clusterv1.MachineHealthCheck, action Action) error {
	switch a := action.(type) {
	case Mark:
		return c.mark(ctx, check, a)
	case Withdraw:
		uid := a.Request.GetUID()
		if err := c.Client.Delete(ctx, a.Request, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %s %s: %w", a.Request.GetKind(), a.Request.GetName(), err)
		}
		return nil
	}
	return fmt.Errorf("unknown action %T", action)
}

// mark creates the remediation object, if one is wanted, and writes the conditions. The list of conditions is written as a
// whole, for several controllers start and end the same ones; the lock makes sure that what was decided on still holds.
func (c *Controller) mark(ctx context.Context, check *clusterv1.MachineHealthCheck, a Mark) error {
	failed := c.request(ctx, a)
	before, after := a.Before, a.After.DeepCopy()
	if failed != nil {
		report(after, clusterv1.MachineExternallyRemediatedRemediationRequestCreationFailedReason, a.Request.GetKind()+" could not be created")
		a.Event = nil
	}
	if same(before, after) {
		return failed
	}
	conditions.Stamp(after, time.Now())
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Client.Status().Patch(ctx, after, lock, client.FieldOwner(FieldOwner)); err != nil {
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return errors.Join(failed, client.IgnoreNotFound(err))
		}
		return errors.Join(failed, fmt.Errorf("marking Machine %s: %w", before.Name, err))
	}
	if a.Event != nil {
		log.FromContext(ctx).Info("Asked for remediation", "machine", before.Name, "because", a.Event.Message)
		c.Recorder.Eventf(before, check, corev1.EventTypeNormal, a.Event.Reason, "Remediate", "%s", a.Event.Message)
	}
	return failed
}

// request creates the remediation object. One that exists already is as good.
func (c *Controller) request(ctx context.Context, a Mark) error {
	if a.Request == nil {
		return nil
	}
	err := c.Client.Create(ctx, a.Request.DeepCopy(), client.FieldOwner(FieldOwner))
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return fmt.Errorf("creating %s %s: %w", a.Request.GetKind(), a.Request.GetName(), err)
}
