package machineset

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/cloning"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/core/internal/adoption"
	"github.com/slipway-capi/slipway/core/internal/apply"
)

// act carries a decision out: the actions in order, then the MachineSet itself in one write at most.
func (c *Controller) act(ctx context.Context, w World, d Decision) (reconcile.Result, error) {
	errs := []error{d.Err}
	c.applied.Keep(client.ObjectKeyFromObject(w.Set), w.uids())
	for _, a := range d.Actions {
		err := c.carryOut(ctx, w, a)
		if err != nil {
			errs = append(errs, err)
			if _, creating := a.(Create); creating {
				break // what stopped one creation stops the next one too
			}
		}
	}
	if err := patch.Begin(c.Client, FieldOwner, w.Set).Finish(ctx, d.Set, patch.Owned(ownConditions...)); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return reconcile.Result{}, err
	}
	for _, e := range d.Events {
		c.event(w.Set, corev1.EventTypeNormal, e.Reason, e.Message)
	}
	return reconcile.Result{RequeueAfter: d.After}, nil
}

func (c *Controller) event(s *clusterv1.MachineSet, kind, reason, message string) {
	c.Recorder.Eventf(s, nil, kind, reason, "Reconcile", "%s", message)
}

func (c *Controller) carryOut(ctx context.Context, w World, action Action) error {
	switch a := action.(type) {
	case Create:
		return c.create(ctx, w, a)
	case Delete:
		return c.remove(ctx, w, a)
	case Tell:
		return c.tell(ctx, a.Machine, a.Condition)
	case Remediate:
		if err := c.tell(ctx, a.Machine, &a.Condition); err != nil {
			return err
		}
		return c.remove(ctx, w, Delete{Machine: a.Machine, Why: a.Why})
	case Adopt:
		return c.adopt(ctx, w, a.Machine)
	case Sync:
		return c.syncMachine(ctx, w, a)
	case Move:
		return c.move(ctx, w, a)
	case Start:
		return c.begin(ctx, w, a)
	case DeleteStray:
		return c.removeStray(ctx, a)
	case SyncMetadata:
		return c.syncMetadata(ctx, a)
	case OwnTemplate:
		obj := a.Object.DeepCopy()
		h := patch.Begin(c.Client, FieldOwner, obj)
		ownership.Ensure(obj, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
		labels.SetClusterName(obj, w.Cluster.Name)
		return h.Finish(ctx, obj)
	}
	return fmt.Errorf("unknown action %T", action)
}

func (c *Controller) adopt(ctx context.Context, w World, orphan *clusterv1.Machine) error {
	err := adoption.Confirm(ctx, c.Client, w.Set)
	if err == nil {
		m := orphan.DeepCopy()
		h := patch.Begin(c.Client, FieldOwner, m)
		ownership.Ensure(m, ownership.ControllerReference(w.Set, clusterv1.GroupVersion.WithKind("MachineSet")))
		labels.Set(m, clusterv1.MachineSetNameLabel, labels.Value(w.Set.Name))
		err = h.Finish(ctx, m)
	}
	if err != nil {
		c.event(w.Set, corev1.EventTypeWarning, "FailedAdopt", "Machine "+orphan.Name+" could not be adopted")
		return fmt.Errorf("adopting Machine %s: %w", orphan.Name, err)
	}
	return nil
}

// create makes bootstrap config, infrastructure machine and Machine. What was made is removed again if a later one was
// refused. When nobody knows whether it was (a timeout), nothing is removed, lest a Machine lose its infrastructure.
func (c *Controller) create(ctx context.Context, w World, a Create) (err error) {
	m := a.Machine.DeepCopy()
	var made []client.Object
	defer func() {
		if err == nil {
			return
		}
		if refused(err) {
			c.writes.note(client.ObjectKeyFromObject(w.Set), m.Name, false)
			for _, o := range made {
				err = errors.Join(err, client.IgnoreNotFound(c.Client.Delete(ctx, o)))
			}
		}
		c.event(w.Set, corev1.EventTypeWarning, "FailedCreate", "Machine "+m.Name+" could not be created")
	}()
	if w.Bootstrap.Object != nil {
		obj, err := c.clone(ctx, w, m, w.Bootstrap.Object)
		if err != nil {
			return err
		}
		made = append(made, obj)
		m.Spec.Bootstrap.ConfigRef = external.Reference(obj)
	}
	obj, err := c.clone(ctx, w, m, w.Infrastructure.Object)
	if err != nil {
		return err
	}
	made = append(made, obj)
	m.Spec.InfrastructureRef = external.Reference(obj)
	c.writes.note(client.ObjectKeyFromObject(w.Set), m.Name, true)
	// An apply, not a create: the later applies of the same owner can then take away what leaves the template.
	if err := apply.Send(ctx, c.Client, FieldOwnerOfMachines, m); err != nil {
		return fmt.Errorf("creating Machine %s: %w", m.Name, err)
	}
	log.FromContext(ctx).Info("Created Machine", "machine", m.Name, "reason", a.Why.Reason, "because", a.Why.Because)
	c.event(w.Set, corev1.EventTypeNormal, "SuccessfulCreate", "Created Machine "+m.Name+": "+a.Why.Because)
	return nil
}

// tell sets or takes away the condition OwnerRemediated of a Machine.
func (c *Controller) tell(ctx context.Context, m *clusterv1.Machine, condition *metav1.Condition) error {
	after := m.DeepCopy()
	h := patch.Begin(c.Client, FieldOwner, m)
	if condition == nil {
		conditions.Delete(after, clusterv1.MachineOwnerRemediatedCondition)
	} else {
		conditions.Set(after, *condition)
	}
	return h.Finish(ctx, after, patch.OwnedOnly(clusterv1.MachineOwnerRemediatedCondition))
}

// refused says whether an error proves that nothing was stored.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusRequestTimeout
}

func (c *Controller) clone(ctx context.Context, w World, m *clusterv1.Machine, template *external.Object) (*unstructured.Unstructured, error) {
	owner := ownership.Reference(w.Set, clusterv1.GroupVersion.WithKind("MachineSet"))
	obj, err := cloning.FromTemplate(cloning.Request{Template: template.Unstructured, Name: m.Name, ClusterName: w.Set.Spec.ClusterName,
		Owner: &owner, Labels: m.Labels, Annotations: m.Annotations})
	if err != nil {
		return nil, err
	}
	if err := c.Client.Create(ctx, obj, client.FieldOwner(FieldOwnerOfMachines)); err != nil {
		return nil, fmt.Errorf("creating %s %s: %w", obj.GetKind(), obj.GetName(), err)
	}
	return obj, nil
}

func (c *Controller) remove(ctx context.Context, w World, a Delete) error {
	uid := a.Machine.UID
	err := c.Client.Delete(ctx, a.Machine, client.Preconditions{UID: &uid})
	if err != nil && !apierrors.IsNotFound(err) {
		c.event(w.Set, corev1.EventTypeWarning, "FailedDelete", "Machine "+a.Machine.Name+" could not be deleted")
		return fmt.Errorf("deleting Machine %s: %w", a.Machine.Name, err)
	}
	c.writes.note(client.ObjectKeyFromObject(w.Set), a.Machine.Name, false)
	log.FromContext(ctx).Info("Deleted Machine", "machine", a.Machine.Name, "reason", a.Why.Reason, "because", a.Why.Because)
	c.event(w.Set, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted Machine "+a.Machine.Name+": "+a.Why.Because)
	return nil
}
