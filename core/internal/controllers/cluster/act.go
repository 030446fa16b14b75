package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/core/internal/outcome"
)

// act carries a decision out: the actions in order, then the Cluster itself.
func (c *Controller) act(ctx context.Context, before *clusterv1.Cluster, d Decision) (reconcile.Result, error) {
	var out outcome.Outcome
	out.Note(d.Err)
	for _, a := range d.Actions {
		out.Note(c.carryOut(ctx, before, a))
	}
	out.Note(patch.Begin(c.Client, FieldOwner, before).Finish(ctx, d.Cluster, patch.Owned(ownConditions...),
		patch.Without("controlPlane", "upgradePlan"), patch.Without("workers", "upgradePlan"))) // those are the topology controller's
	if d.Cluster.ResourceVersion != before.ResourceVersion && len(d.Cluster.Finalizers) > 0 {
		c.writes.Wrote(d.Cluster, time.Now())
	}
	for _, e := range d.Events {
		c.Recorder.Eventf(before, nil, corev1.EventTypeNormal, e.Reason, "Reconcile", "%s", e.Message)
	}
	return out.Result(d.After)
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
	case OwnKubeconfig:
		return client.IgnoreNotFound(certificates.Own(ctx, c.Client, FieldOwner, a.Secret, cluster.Name, ownerReference(cluster)))
	case StoreKubeconfig:
		return c.storeKubeconfig(ctx, cluster, a)
	}
	return fmt.Errorf("unknown action %T", action)
}

func (c *Controller) storeKubeconfig(ctx context.Context, cluster *clusterv1.Cluster, a StoreKubeconfig) error {
	content, err := kubeconfig.Generate(cluster.Name, a.Endpoint, a.CA, "", time.Now())
	if err != nil {
		return fmt.Errorf("generating kubeconfig: %w", err)
	}
	if a.Old != nil {
		renewed := a.Old.DeepCopy()
		renewed.Data[kubeconfig.SecretDataKey] = content
		return client.IgnoreNotFound(c.Client.Patch(ctx, renewed, client.MergeFromWithOptions(a.Old, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldOwner)))
	}
	err = c.Client.Create(ctx, kubeconfig.ToSecret(client.ObjectKeyFromObject(cluster), content, ownerReference(cluster)), client.FieldOwner(FieldOwner))
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("storing kubeconfig: %w", err)
	}
	return nil
}
