package machinepool

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/core/internal/apply"
	"github.com/slipway-capi/slipway/core/internal/outcome"
)

// act carries a decision out: the actions in order, then the MachinePool itself.
func (c *Controller) act(ctx context.Context, w World, d Decision) (reconcile.Result, error) {
	var out outcome.Outcome
	out.Note(d.Err)
	for _, a := range d.Actions {
		out.Note(c.carryOut(ctx, w.Pool, a))
	}
	out.Note(patch.Begin(c.Client, FieldOwner, w.Pool).Finish(ctx, d.Pool, patch.Owned(ownConditions...)))
	if d.Pool.ResourceVersion != w.Pool.ResourceVersion && len(d.Pool.Finalizers) > 0 {
		c.writes.Wrote(d.Pool, time.Now())
	}
	for _, e := range d.Events {
		c.Recorder.Eventf(w.Pool, nil, e.Type, e.Reason, "Reconcile", "%s", e.Message)
	}
	return out.Result(d.After)
}

func (c *Controller) carryOut(ctx context.Context, p *clusterv1.MachinePool, action Action) error {
	switch a := action.(type) {
	case Adopt:
		obj := a.Object.DeepCopy()
		h := patch.Begin(c.Client, FieldOwner, obj)
		ownership.Ensure(obj, ownerReference(p))
		labels.SetClusterName(obj, p.Spec.ClusterName)
		return h.Finish(ctx, obj)
	case DeleteObject:
		return c.remove(ctx, c.Client, a.Object.GetKind(), a.Object.Unstructured)
	case ApplyMachine:
		return c.applyMachine(ctx, p, a)
	case DeleteMachine:
		if err := c.remove(ctx, c.Client, "Machine", a.Machine); err != nil {
			return err
		}
		c.tell(ctx, p, "Deleted Machine "+a.Machine.Name, a.Why)
		return nil
	case JudgeMachine:
		return c.judge(ctx, a)
	case SyncNode, DeleteNode:
		return c.carryOutOnNode(ctx, p, a)
	}
	return fmt.Errorf("unknown action %T", action)
}

func (c *Controller) carryOutOnNode(ctx context.Context, p *clusterv1.MachinePool, action Action) error {
	remote, err := c.ClusterCache.Client(ctx, clusterKey(p))
	if err != nil {
		return err
	}
	switch a := action.(type) {
	case SyncNode:
		err := remote.Patch(ctx, a.After.DeepCopy(), client.StrategicMergeFrom(a.Before, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("updating Node %s: %w", a.After.Name, err)
		}
	case DeleteNode:
		if err := c.remove(ctx, remote, "Node", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: a.Name, UID: a.UID}}); err != nil {
			return err
		}
		log.FromContext(ctx).Info("Deleted Node", "node", a.Name, "reason", a.Why.Reason, "because", a.Why.Because)
	}
	return nil
}

// applyMachine creates or changes a Machine. It is an apply also for a new one: the later applies of the same owner can
// then take away what leaves the template.
func (c *Controller) applyMachine(ctx context.Context, p *clusterv1.MachinePool, a ApplyMachine) error {
	key := client.ObjectKeyFromObject(p)
	if a.Have != nil {
		_, err := c.applied.Apply(ctx, c.Client, FieldOwnerOfMachines, apply.Update{Parent: key, Have: a.Have, Want: a.Wanted, Covered: a.Covered, Surplus: a.Surplus})
		if err != nil {
			return fmt.Errorf("updating Machine %s in place: %w", a.Have.Name, err)
		}
		return nil
	}
	if err := apply.Send(ctx, c.Client, FieldOwnerOfMachines, a.Wanted); err != nil {
		c.Recorder.Eventf(p, nil, corev1.EventTypeWarning, "FailedCreate", "Reconcile", "Machine %s could not be created", a.Wanted.Name)
		return fmt.Errorf("creating Machine %s: %w", a.Wanted.Name, err)
	}
	c.created.Created(key, a.Wanted.Name, time.Now())
	c.tell(ctx, p, "Created Machine "+a.Wanted.Name, a.Why)
	return nil
}

// judge writes conditions of a Machine, whose status is otherwise its own controller's.
func (c *Controller) judge(ctx context.Context, a JudgeMachine) error {
	m := a.Machine.DeepCopy()
	conditions.SetAll(m, a.Conditions...)
	var types []string
	for _, x := range a.Conditions {
		types = append(types, x.Type)
	}
	err := patch.Begin(c.Client, FieldOwnerOfMachines, a.Machine).Finish(ctx, m, patch.OwnedOnly(types...))
	return client.IgnoreNotFound(err)
}

func (c *Controller) tell(ctx context.Context, p *clusterv1.MachinePool, what string, why decision.Why) {
	log.FromContext(ctx).Info(what, "reason", why.Reason, "because", why.Because)
	c.Recorder.Eventf(p, nil, corev1.EventTypeNormal, why.Reason, "Reconcile", "%s: %s", what, why.Because)
}

// remove deletes exactly the object that was seen.
func (c *Controller) remove(ctx context.Context, from client.Writer, kind string, o client.Object) error {
	uid := o.GetUID()
	if err := from.Delete(ctx, o, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %s %s: %w", kind, o.GetName(), err)
	}
	return nil
}

func clusterKey(p *clusterv1.MachinePool) client.ObjectKey {
	return client.ObjectKey{Namespace: p.Namespace, Name: p.Spec.ClusterName}
}
