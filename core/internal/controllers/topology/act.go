package topology

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
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/patch"
)

// act carries a decision out: the actions in order, then the condition. The first action that fails ends the order, since later
// ones may refer to what it makes.
func (c *Controller) act(ctx context.Context, cluster *clusterv1.Cluster, d Decision) (reconcile.Result, error) {
	err := d.Err
	for _, a := range d.Actions {
		failed := c.carryOut(ctx, cluster, a)
		if _, note := a.(Note); note && apierrors.IsConflict(failed) {
			// The Cluster has changed meanwhile; the event of that brings the state to decide on.
			return reconcile.Result{RequeueAfter: conflictPause}, nil
		}
		if failed != nil {
			err = errors.Join(err, failed)
			d.Condition = condition("False", clusterv1.ClusterTopologyReconciledFailedReason, failed.Error())
			break
		}
	}
	if d.Condition != nil {
		after := cluster.DeepCopy()
		conditions.Set(after, *d.Condition)
		if d.Plans != nil {
			d.Plans.tell(&after.Status)
		}
		err = errors.Join(err, c.finish(ctx, cluster, after))
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: d.After}, nil
}

// finish writes a Cluster of which this controller has one condition and the plans of upgrades; the rest of its status is another's.
func (c *Controller) finish(ctx context.Context, before, after *clusterv1.Cluster) error {
	return patch.Begin(c.Client, FieldOwner, before).Finish(ctx, after, patch.OwnedOnly(clusterv1.ClusterTopologyReconciledCondition),
		patch.With("controlPlane", "upgradePlan"), patch.With("workers", "upgradePlan"))
}

// conflictPause is how long to wait after a conflict if no event comes first.
const conflictPause = 200 * time.Millisecond

func (c *Controller) carryOut(ctx context.Context, cluster *clusterv1.Cluster, action Action) error {
	switch a := action.(type) {
	case Apply:
		return c.apply(ctx, cluster, a)
	case Refer:
		after := cluster.DeepCopy()
		after.Spec.InfrastructureRef, after.Spec.ControlPlaneRef = a.Infrastructure, a.ControlPlane
		if err := c.finish(ctx, cluster, after); err != nil {
			return err
		}
		after.DeepCopyInto(cluster)
		return nil
	case Delete:
		uid := a.Object.GetUID()
		if err := c.Client.Delete(ctx, a.Object, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %s %s: %w", a.Object.GetKind(), a.Object.GetName(), err)
		}
		c.tell(cluster, "TopologyDelete", "Deleted %s %s: %s", a.Object.GetKind(), a.Object.GetName(), a.Because)
		return nil
	case Note:
		return c.remember(ctx, cluster, a)
	case Consent:
		after := cluster.DeepCopy()
		if after.Annotations == nil {
			after.Annotations = map[string]string{}
		}
		after.Annotations[runtimev1.OkToDeleteAnnotation] = ""
		return c.finish(ctx, cluster, after)
	}
	return fmt.Errorf("unknown action %T", action)
}

// remember writes what the Cluster must not forget, unless that has changed since it was read.
func (c *Controller) remember(ctx context.Context, cluster *clusterv1.Cluster, n Note) error {
	after := cluster.DeepCopy()
	if after.Annotations == nil {
		after.Annotations = map[string]string{}
	}
	for key, value := range map[string]string{runtimev1.PendingHooksAnnotation: n.Pending, clusterv1.ClusterTopologyUpgradeStepAnnotation: n.Step} {
		after.Annotations[key] = value
		if value == "" {
			delete(after.Annotations, key)
		}
	}
	lock := client.MergeFromWithOptions(cluster, client.MergeFromWithOptimisticLock{})
	if err := c.Client.Patch(ctx, after, lock, client.FieldOwner(FieldOwner)); err != nil {
		return fmt.Errorf("noting pending hooks: %w", err)
	}
	after.DeepCopyInto(cluster)
	return nil
}

func (c *Controller) apply(ctx context.Context, cluster *clusterv1.Cluster, a Apply) error {
	kind, name := a.Object.GetKind(), a.Object.GetName()
	err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(a.Object), client.FieldOwner(FieldOwner), client.ForceOwnership)
	switch {
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err):
		return fmt.Errorf("%s %s is refused: %w", kind, name, err)
	case err != nil:
		return fmt.Errorf("applying %s %s: %w", kind, name, err)
	}
	verb, reason := "Changed", "TopologyUpdate"
	if a.New {
		verb, reason = "Created", "TopologyCreate"
	}
	c.tell(cluster, reason, "%s %s %s: %s", verb, kind, name, a.Because)
	return nil
}

func (c *Controller) tell(cluster *clusterv1.Cluster, reason, format string, args ...any) {
	c.Recorder.Eventf(cluster, nil, corev1.EventTypeNormal, reason, "Topology", format, args...)
}
