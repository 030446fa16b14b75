package topology

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/extension/pending"
	"github.com/slipway-capi/slipway/core/internal/runtime/lifecycle"
)

// lifecycle asks the extensions that are due. It is the last thing that is observed, since what is due depends on all else.
func (c *Controller) lifecycle(ctx context.Context, w *World) error {
	annotations, refs := w.Cluster.Annotations, w.Cluster.Spec
	initialized := w.Cluster.Status.Initialization.ControlPlaneInitialized
	var err error
	w.Lifecycle, err = lifecycle.Settle(ctx, lifecycle.World{
		Created:     refs.InfrastructureRef.Name != "" || refs.ControlPlaneRef.Name != "",
		Initialized: initialized != nil && *initialized,
		Pending:     pending.List(annotations[runtimev1.PendingHooksAnnotation]),
		Step:        annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation],
		Held:        heldByHand(annotations),
		Off:         c.Hooks == nil,
		Upgrade:     w.versions(),
	}, func(ctx context.Context, call lifecycle.Call) (answers.Wait, error) {
		return c.ask(ctx, w.Cluster, call)
	})
	return err
}

// heldByHand says which annotation keeps upgrades of a Cluster from beginning.
func heldByHand(annotations map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if strings.HasPrefix(key, clusterv1.BeforeClusterUpgradeHookAnnotationPrefix) {
			return fmt.Sprintf("annotation %s holds it back", key)
		}
	}
	return ""
}

// beforeDelete asks whether a Cluster may go.
func (c *Controller) beforeDelete(ctx context.Context, w *World) error {
	if _, given := w.Cluster.Annotations[runtimev1.OkToDeleteAnnotation]; given || c.Hooks == nil {
		return nil
	}
	wait, err := c.ask(ctx, w.Cluster, lifecycle.Call{Hook: hook.BeforeClusterDelete.Name})
	if wait.AfterSeconds > 0 {
		w.Lifecycle.AfterSeconds = wait.AfterSeconds
		w.Lifecycle.Waits = []lifecycle.Wait{{Hook: hook.BeforeClusterDelete.Name, Message: wait.Message}}
	}
	return err
}

// ask puts a call in the words of its hook.
func (c *Controller) ask(ctx context.Context, from *clusterv1.Cluster, call lifecycle.Call) (answers.Wait, error) {
	cluster, about := hookcall.Cluster(from), hookcall.About(from, call.From, call.To)
	controlPlane, workers := steps(call.ControlPlane), steps(call.Workers)
	switch call.Hook {
	case hook.BeforeClusterCreate.Name:
		return hookcall.All(ctx, c.Hooks, hook.BeforeClusterCreate, from.Namespace, about, &hooks.BeforeClusterCreateRequest{Cluster: cluster})
	case hook.AfterControlPlaneInitialized.Name:
		return hookcall.All(ctx, c.Hooks, hook.AfterControlPlaneInitialized, from.Namespace, about, &hooks.AfterControlPlaneInitializedRequest{Cluster: cluster})
	case hook.BeforeClusterUpgrade.Name:
		return hookcall.All(ctx, c.Hooks, hook.BeforeClusterUpgrade, from.Namespace, about, &hooks.BeforeClusterUpgradeRequest{
			Cluster: cluster, FromKubernetesVersion: call.From, ToKubernetesVersion: call.To, ControlPlaneUpgrades: controlPlane, WorkersUpgrades: workers})
	case hook.BeforeControlPlaneUpgrade.Name:
		return hookcall.All(ctx, c.Hooks, hook.BeforeControlPlaneUpgrade, from.Namespace, about, &hooks.BeforeControlPlaneUpgradeRequest{
			Cluster: cluster, FromKubernetesVersion: call.From, ToKubernetesVersion: call.To, ControlPlaneUpgrades: controlPlane, WorkersUpgrades: workers})
	case hook.AfterControlPlaneUpgrade.Name:
		return hookcall.All(ctx, c.Hooks, hook.AfterControlPlaneUpgrade, from.Namespace, about, &hooks.AfterControlPlaneUpgradeRequest{
			Cluster: cluster, KubernetesVersion: call.To, ControlPlaneUpgrades: controlPlane, WorkersUpgrades: workers})
	case hook.BeforeWorkersUpgrade.Name:
		return hookcall.All(ctx, c.Hooks, hook.BeforeWorkersUpgrade, from.Namespace, about, &hooks.BeforeWorkersUpgradeRequest{
			Cluster: cluster, FromKubernetesVersion: call.From, ToKubernetesVersion: call.To, ControlPlaneUpgrades: controlPlane, WorkersUpgrades: workers})
	case hook.AfterWorkersUpgrade.Name:
		return hookcall.All(ctx, c.Hooks, hook.AfterWorkersUpgrade, from.Namespace, about, &hooks.AfterWorkersUpgradeRequest{
			Cluster: cluster, KubernetesVersion: call.To, ControlPlaneUpgrades: controlPlane, WorkersUpgrades: workers})
	case hook.AfterClusterUpgrade.Name:
		return hookcall.All(ctx, c.Hooks, hook.AfterClusterUpgrade, from.Namespace, about, &hooks.AfterClusterUpgradeRequest{Cluster: cluster, KubernetesVersion: call.To})
	case hook.BeforeClusterDelete.Name:
		return hookcall.All(ctx, c.Hooks, hook.BeforeClusterDelete, from.Namespace, about, &hooks.BeforeClusterDeleteRequest{Cluster: cluster})
	}
	return answers.Wait{}, fmt.Errorf("hook %s is none of the life of a cluster", call.Hook)
}

func steps(versions []string) []hooks.UpgradeStepInfo {
	var out []hooks.UpgradeStepInfo
	for _, v := range versions {
		out = append(out, hooks.UpgradeStepInfo{Version: v})
	}
	return out
}

// blocked reports the hooks that make the Cluster wait, and when they are to be asked again.
func (d *Decision) blocked(l lifecycle.Decision) {
	var messages []string
	for _, w := range l.Waits {
		messages = append(messages, w.String())
	}
	d.Condition = condition(metav1.ConditionFalse, clusterv1.ClusterTopologyReconciledHookBlockingReason, strings.Join(messages, "\n"))
	d.After = time.Duration(l.AfterSeconds) * time.Second
}

// note has the Cluster remember what must still be told, before anything else is done.
func (d *Decision) note(w World) {
	n := Note{Pending: pending.Join(w.Lifecycle.Pending), Step: w.Lifecycle.Step}
	if n.Pending != pending.Join(pending.List(w.Cluster.Annotations[runtimev1.PendingHooksAnnotation])) || n.Step != w.Cluster.Annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation] {
		d.Actions = slices.Insert(d.Actions, 0, Action(n))
	}
}

// extensions are those behind the external patches of a Cluster.
type extensions struct {
	hooks     *hookcall.Client
	namespace string
}

// compute asks the extensions of the Cluster's namespace.
func (c *Controller) compute(ctx context.Context, w *World) error {
	if c.Hooks == nil {
		return w.compute(ctx, nil)
	}
	return w.compute(ctx, extensions{c.Hooks, w.Cluster.Namespace})
}

// GeneratePatches asks the extension of a patch for its changes.
func (e extensions) GeneratePatches(ctx context.Context, extension string, request *hooks.GeneratePatchesRequest) (*hooks.GeneratePatchesResponse, error) {
	return hookcall.One(ctx, e.hooks, hook.GeneratePatches, extension, e.namespace, request)
}

// ValidateTopology asks the extension of a patch whether the templates are good.
func (e extensions) ValidateTopology(ctx context.Context, extension string, request *hooks.ValidateTopologyRequest) error {
	_, err := hookcall.One(ctx, e.hooks, hook.ValidateTopology, extension, e.namespace, request)
	return err
}

// ofExtension finds all Clusters with a topology: any of them may wait for an extension that has come, gone or changed.
func (c *Controller) ofExtension(ctx context.Context, _ client.Object) []reconcile.Request {
	list := &clusterv1.ClusterList{}
	if err := c.Client.List(ctx, list); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Spec.Topology.ClassRef.Name != "" {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}
