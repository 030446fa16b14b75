package machinedeployment

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/core/internal/adoption"
	"github.com/slipway-capi/slipway/core/internal/apply"
)

// act carries a decision out: the actions in order, then the MachineDeployment itself in one write at most.
func (c *Controller) act(ctx context.Context, w World, d Decision) (reconcile.Result, error) {
	errs := []error{d.Err}
	c.applied.Keep(client.ObjectKeyFromObject(w.Deployment), w.uids())
	for _, a := range d.Actions {
		if err := c.carryOut(ctx, w, a); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 1 {
		d.keepRevision(w) // it counts only once its set has it, or each failure would count one up
	}
	if err := patch.Begin(c.Client, FieldOwner, w.Deployment).Finish(ctx, d.Deployment, patch.Owned(ownConditions...)); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return reconcile.Result{}, err
	}
	for _, e := range d.Events {
		c.event(w.Deployment, corev1.EventTypeNormal, e.Reason, e.Message)
	}
	return reconcile.Result{RequeueAfter: d.After}, nil
}

func (c *Controller) event(md *clusterv1.MachineDeployment, kind, reason, message string) {
	c.Recorder.Eventf(md, nil, kind, reason, "Reconcile", "%s", message)
}

func (c *Controller) carryOut(ctx context.Context, w World, action Action) error {
	key := client.ObjectKeyFromObject(w.Deployment)
	switch a := action.(type) {
	case Create:
		s := a.Set.DeepCopy()
		// An apply, not a create: the later applies of the same owner can then take away what leaves the template.
		if err := apply.Send(ctx, c.Client, FieldOwnerOfSets, s); err != nil {
			c.event(w.Deployment, corev1.EventTypeWarning, "FailedCreate", "MachineSet "+s.Name+" could not be created")
			return fmt.Errorf("creating MachineSet %s: %w", s.Name, err)
		}
		c.writes.note(key, s.Name, s.ResourceVersion)
		log.FromContext(ctx).Info("Created MachineSet", "machineSet", s.Name, "reason", a.Why.Reason, "because", a.Why.Because)
		c.event(w.Deployment, corev1.EventTypeNormal, "SuccessfulCreate", "Created MachineSet "+s.Name+": "+a.Why.Because)
		return nil
	case Update:
		return c.update(ctx, w, a)
	case Delete:
		uid := a.Set.UID
		if err := client.IgnoreNotFound(c.Client.Delete(ctx, a.Set, client.Preconditions{UID: &uid})); err != nil {
			c.event(w.Deployment, corev1.EventTypeWarning, "FailedDelete", "MachineSet "+a.Set.Name+" could not be deleted")
			return fmt.Errorf("deleting MachineSet %s: %w", a.Set.Name, err)
		}
		log.FromContext(ctx).Info("Deleted MachineSet", "machineSet", a.Set.Name, "reason", a.Why.Reason, "because", a.Why.Because)
		c.event(w.Deployment, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted MachineSet "+a.Set.Name+": "+a.Why.Because)
		return nil
	}
	return fmt.Errorf("unknown action %T", action)
}

func (c *Controller) update(ctx context.Context, w World, a Update) error {
	key, s := client.ObjectKeyFromObject(w.Deployment), a.Wanted.DeepCopy()
	failed := "FailedUpdate"
	switch {
	case a.Adopts:
		failed = "FailedAdopt"
	case want(a.Set) != want(s):
		failed = "FailedScale"
	}
	err := error(nil)
	if a.Adopts {
		err = adoption.Confirm(ctx, c.Client, w.Deployment)
	}
	sent := false
	if err == nil {
		sent, err = c.applied.Apply(ctx, c.Client, FieldOwnerOfSets, apply.Update{Parent: key, Have: a.Set, Want: s, Covered: a.Covered, Surplus: a.Surplus})
	}
	if err != nil {
		c.event(w.Deployment, corev1.EventTypeWarning, failed, "MachineSet "+s.Name+" could not be updated")
		return fmt.Errorf("updating MachineSet %s: %w", s.Name, err)
	}
	if sent {
		c.writes.note(key, s.Name, s.ResourceVersion)
		log.FromContext(ctx).V(2).Info("Updated MachineSet", "machineSet", s.Name, "reason", a.Why.Reason, "because", a.Why.Because)
	}
	return nil
}
