package machinepool

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

const (
	// referenceIndex finds MachinePools by the provider objects that they refer to.
	referenceIndex = "spec.references"
	// providerIDIndex finds MachinePools by the provider IDs of their members.
	providerIDIndex = "spec.providerIDList"
)

func byReference(o client.Object) []string {
	spec := o.(*clusterv1.MachinePool).Spec.Template.Spec
	return referred.Keys(spec.Bootstrap.ConfigRef, spec.InfrastructureRef)
}

func byProviderID(o client.Object) []string { return o.(*clusterv1.MachinePool).Spec.ProviderIDList }

// ofReferred finds the pools of a provider object by their references, so that an object that comes into being after its
// pool wakes it although it has no owner yet.
func (c *Controller) ofReferred(ctx context.Context, o client.Object) []reconcile.Request {
	return c.list(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{referenceIndex: referred.Key(o.GetObjectKind().GroupVersionKind().GroupKind(), o.GetName())})
}

// ofCRD finds the pools that wait for a provider to be installed.
func (c *Controller) ofCRD(ctx context.Context, o client.Object) []reconcile.Request {
	return c.list(ctx, client.MatchingFields{referenceIndex: o.GetName()})
}

func (c *Controller) ofCluster(ctx context.Context, o client.Object) []reconcile.Request {
	return c.list(ctx, client.InNamespace(o.GetNamespace()), client.MatchingLabels(labels.OfCluster(o.GetName())))
}

// ofMember finds the pool of an infrastructure machine by its labels; the name in them may be hashed.
func (c *Controller) ofMember(ctx context.Context, o client.Object) []reconcile.Request {
	pool, cluster := o.GetLabels()[clusterv1.MachinePoolNameLabel], labels.ClusterName(o)
	if pool == "" || cluster == "" {
		return nil
	}
	var out []reconcile.Request
	for _, r := range c.list(ctx, client.InNamespace(o.GetNamespace()), client.MatchingLabels(labels.OfCluster(cluster))) {
		if labels.Matches(pool, r.Name) {
			out = append(out, r)
		}
	}
	return out
}

func (c *Controller) list(ctx context.Context, opts ...client.ListOption) []reconcile.Request {
	list := &clusterv1.MachinePoolList{}
	if err := c.Client.List(ctx, list, opts...); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// clusterMatters passes what a pool needs to know of its Cluster; its counters and conditions are not among it.
func clusterMatters() predicate.Predicate {
	return changed(func(o client.Object) []any {
		cluster := o.(*clusterv1.Cluster)
		return []any{cluster.Spec.Paused, cluster.DeletionTimestamp, cluster.Status.Initialization}
	})
}

// nodeMatters passes what a pool reads of a Node; heartbeats are not among it.
func nodeMatters() predicate.Predicate {
	return changed(func(o client.Object) []any {
		n := o.(*corev1.Node)
		view := []any{n.Spec.ProviderID, n.Spec.Taints, n.Annotations, n.DeletionTimestamp, n.Status.NodeInfo.KubeletVersion}
		if ready := readyCondition(n); ready != nil {
			view = append(view, ready.Status)
		}
		return view
	})
}

func changed(view func(client.Object) []any) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return !reflect.DeepEqual(view(e.ObjectOld), view(e.ObjectNew)) }}
}

// watchNodes makes Nodes of a workload cluster wake their pools: by provider ID, and by the annotations of a Node that has
// lost its place in the list.
func (c *Controller) watchNodes(ctx context.Context, cluster client.ObjectKey) error {
	return c.ClusterCache.Watch(ctx, cluster, clustercache.WatchSpec{
		Name: "machinepool-nodes", Object: &corev1.Node{}, Watcher: c.self, Predicates: []predicate.Predicate{nodeMatters()},
		Handler: handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return c.ofNode(ctx, cluster, o.(*corev1.Node))
		}),
	})
}

func (c *Controller) ofNode(ctx context.Context, cluster client.ObjectKey, n *corev1.Node) []reconcile.Request {
	a := n.Annotations
	if a[clusterv1.OwnerKindAnnotation] == poolKind && a[clusterv1.ClusterNameAnnotation] == cluster.Name && a[clusterv1.ClusterNamespaceAnnotation] == cluster.Namespace {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: cluster.Namespace, Name: a[clusterv1.OwnerNameAnnotation]}}}
	}
	if n.Spec.ProviderID == "" {
		return nil
	}
	return c.list(ctx, client.InNamespace(cluster.Namespace), client.MatchingLabels(labels.OfCluster(cluster.Name)), client.MatchingFields{providerIDIndex: n.Spec.ProviderID})
}
