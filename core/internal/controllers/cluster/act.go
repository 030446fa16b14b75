package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
)

// conflictPause is how long to wait after a conflict if no event comes first.
const conflictPause = 200 * time.Millisecond

// act carries a decision out: the actions in order, then the Cluster itself.
func (c *Controller) act(ctx context.Context, before *clusterv1.Cluster, d Decision) (reconcile.Result, error) {
	errs := []error{d.Err}
	var conflict bool
	note := func(err error) {
		if apierrors.IsConflict(err) {
			conflict = true // someone else wrote; the event of that brings the state to decide on
			return
		}
		errs = append(errs, err)
	}
	for _, a := range d.Actions {
		note(c.carryOut(ctx, before, a))
	}
	note(patch.Begin(c.Client, FieldOwner, before).Finish(ctx, d.Cluster, patch.Owned(ownConditions...)))
	if d.Cluster.ResourceVersion != before.ResourceVersion && len(d.Cluster.Finalizers) > 0 {
		c.writes.Wrote(d.Cluster, time.Now())
	}
	for _, e := range d.Events {
		c.Recorder.Eventf(before, nil, corev1.EventTypeNormal, e.Reason, "Reconcile", "%s", e.Message)
	}
	if err := errors.Join(errs...); err != nil {
		return reconcile.Result{}, err
	}
	if conflict {
		d.look(conflictPause)
	}
	return reconcile.Result{RequeueAfter: d.After}, nil
}

func (c *Controller) carryOut(ctx context.Context, cluster *clusterv1.Cluster, action Action) error {
	switch a := action.(type) {
	case Adopt:
		obj := a.Object.DeepCopy()
		h := patch.Begin(c.Client, FieldOwner, obj)
		ownership.Ensure(obj, ownerReference(cluster))
		labels.SetClusterName(obj, cluster.Name)
		return h.Finish(ctx, obj)
	case Delete:
		uid := a.Object.GetUID()
		if err := c.Client.Delete(ctx, a.Object, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %s %s: %w", a.Kind, a.Object.GetName(), err)
		}
		return nil
	case CreateKubeconfig:
		content, err := kubeconfig.Generate(cluster.Name, a.Endpoint, a.CA, "", time.Now())
		if err != nil {
			return fmt.Errorf("generating kubeconfig: %w", err)
		}
		owner := ownership.Reference(cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))
		err = c.Client.Create(ctx, kubeconfig.ToSecret(client.ObjectKeyFromObject(cluster), content, owner))
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("storing kubeconfig: %w", err)
		}
		return nil
	}
	return fmt.Errorf("unknown action %T", action)
}
