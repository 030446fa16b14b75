package machine

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/outdated"
)

func byProviderID(o client.Object) []string {
	if id := o.(*clusterv1.Machine).Spec.ProviderID; id != "" {
		return []string{id}
	}
	return nil
}

func byReference(o client.Object) []string {
	spec := o.(*clusterv1.Machine).Spec
	var keys []string
	for _, ref := range []clusterv1.ContractVersionedObjectReference{spec.Bootstrap.ConfigRef, spec.InfrastructureRef} {
		if ref.Name != "" {
			gk := schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}
			keys = append(keys, referenceKey(ref.APIGroup, ref.Kind, ref.Name), contractversion.CRDName(gk))
		}
	}
	return keys
}

func referenceKey(group, kind, name string) string { return group + "/" + kind + "/" + name }

// ofReferred finds the Machines of a provider object by their references, so that an object that comes into being
// after its Machine wakes it although it has no owner yet.
func (c *Controller) ofReferred(ctx context.Context, o client.Object) []reconcile.Request {
	gvk := o.GetObjectKind().GroupVersionKind()
	return c.list(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{referenceIndex: referenceKey(gvk.Group, gvk.Kind, o.GetName())})
}

// ofCRD finds the Machines that wait for a provider to be installed.
func (c *Controller) ofCRD(ctx context.Context, o client.Object) []reconcile.Request {
	return c.list(ctx, client.MatchingFields{referenceIndex: o.GetName()})
}

// clusterMatters passes what a Machine needs to know of its Cluster; its counters and most conditions are not among it.
func clusterMatters() predicate.Predicate {
	view := func(o client.Object) []any {
		cluster := o.(*clusterv1.Cluster)
		return []any{cluster.Spec.Paused, cluster.Spec.ControlPlaneRef, cluster.DeletionTimestamp, cluster.Status.Initialization,
			conditions.IsTrue(cluster, clusterv1.ClusterControlPlaneInitializedCondition)}
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !reflect.DeepEqual(view(e.ObjectOld), view(e.ObjectNew))
	}}
}

func (c *Controller) ofCluster(ctx context.Context, cluster client.Object) []reconcile.Request {
	return c.list(ctx, client.InNamespace(cluster.GetNamespace()), client.MatchingLabels(labels.OfCluster(cluster.GetName())))
}

func (c *Controller) ofDeployment(ctx context.Context, md client.Object) []reconcile.Request {
	return c.list(ctx, client.InNamespace(md.GetNamespace()), client.MatchingLabels{clusterv1.MachineDeploymentNameLabel: labels.Value(md.GetName())})
}

func (c *Controller) ofSet(ctx context.Context, set client.Object) []reconcile.Request {
	return c.list(ctx, client.InNamespace(set.GetNamespace()), client.MatchingLabels{clusterv1.MachineSetNameLabel: labels.Value(set.GetName())})
}

// revisionMatters passes what of a MachineDeployment or MachineSet decides whether its Machines are up to date. Scaling,
// for one, is no concern of theirs.
func revisionMatters() predicate.Predicate {
	view := func(o client.Object) (clusterv1.MachineSpec, metav1.Time) {
		if md, ok := o.(*clusterv1.MachineDeployment); ok {
			return md.Spec.Template.Spec, md.Spec.Rollout.After
		}
		return o.(*clusterv1.MachineSet).Spec.Template.Spec, metav1.Time{}
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := view(e.ObjectOld)
		now, then := view(e.ObjectNew)
		return len(outdated.Differences(before, now)) > 0 || !after.Equal(&then)
	}}
}

func (c *Controller) list(ctx context.Context, opts ...client.ListOption) []reconcile.Request {
	list := &clusterv1.MachineList{}
	if err := c.Client.List(ctx, list, opts...); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// watchNodes makes Nodes of a workload cluster wake their Machines.
func (c *Controller) watchNodes(ctx context.Context, cluster client.ObjectKey) error {
	return c.ClusterCache.Watch(ctx, cluster, clustercache.WatchSpec{
		Name: "machine-nodes", Object: &corev1.Node{}, Watcher: c.self,
		Handler: handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return c.ofNode(ctx, cluster, o.(*corev1.Node))
		}),
	})
}

// ofNode finds the Machine of a Node: by the annotations that lead back, else by provider ID.
func (c *Controller) ofNode(ctx context.Context, cluster client.ObjectKey, n *corev1.Node) []reconcile.Request {
	a := n.Annotations
	if name := a[clusterv1.MachineAnnotation]; name != "" && a[clusterv1.ClusterNameAnnotation] == cluster.Name && a[clusterv1.ClusterNamespaceAnnotation] == cluster.Namespace {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: cluster.Namespace, Name: name}}}
	}
	if n.Spec.ProviderID == "" {
		return nil
	}
	return c.list(ctx, client.InNamespace(cluster.Namespace), client.MatchingLabels(labels.OfCluster(cluster.Name)), client.MatchingFields{providerIDIndex: n.Spec.ProviderID})
}
