package clusterresourceset

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// clustersOfSet finds the Clusters of a set, and those whose bindings still name it, even if they are gone.
func (c *Controller) clustersOfSet(ctx context.Context, o client.Object) []reconcile.Request {
	set := o.(*addonsv1.ClusterResourceSet)
	clusters, bindings := &clusterv1.ClusterList{}, &addonsv1.ClusterResourceSetBindingList{}
	if c.Client.List(ctx, clusters, client.InNamespace(set.Namespace)) != nil || c.Client.List(ctx, bindings, client.InNamespace(set.Namespace)) != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range clusters.Items {
		if matches(set, clusters.Items[i].Labels) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&clusters.Items[i])})
		}
	}
	for i := range bindings.Items {
		if names(&bindings.Items[i], set.Name) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&bindings.Items[i])})
		}
	}
	return out
}

// setsOfCluster finds the sets of the namespace of a Cluster or a binding.
func (c *Controller) setsOfCluster(ctx context.Context, o client.Object) []reconcile.Request {
	return c.sets(ctx, o.GetNamespace(), func(*addonsv1.ClusterResourceSet) bool { return true })
}

func (c *Controller) sets(ctx context.Context, namespace string, want func(*addonsv1.ClusterResourceSet) bool) []reconcile.Request {
	list := &addonsv1.ClusterResourceSetList{}
	if c.Client.List(ctx, list, client.InNamespace(namespace)) != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if want(&list.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

// setsOfResource finds the sets that a ConfigMap or Secret belongs to.
func (c *Controller) setsOfResource(kind string) func(context.Context, *metav1.PartialObjectMetadata) []reconcile.Request {
	return func(ctx context.Context, o *metav1.PartialObjectMetadata) []reconcile.Request {
		ref := addonsv1.ResourceReference{Kind: kind, Name: o.Name}
		return c.sets(ctx, o.Namespace, func(s *addonsv1.ClusterResourceSet) bool { return slices.Contains(s.Spec.Resources, ref) })
	}
}

// clustersOfResource finds the Clusters that a ConfigMap or Secret is delivered to.
func (c *Controller) clustersOfResource(kind string) func(context.Context, *metav1.PartialObjectMetadata) []reconcile.Request {
	sets := c.setsOfResource(kind)
	return func(ctx context.Context, o *metav1.PartialObjectMetadata) []reconcile.Request {
		var out []reconcile.Request
		for _, r := range sets(ctx, o) {
			set := &addonsv1.ClusterResourceSet{}
			if c.Client.Get(ctx, r.NamespacedName, set) == nil {
				out = append(out, c.clustersOfSet(ctx, set)...)
			}
		}
		return out
	}
}
