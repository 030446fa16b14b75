package topology

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
)

// classIndex finds Clusters by namespace and name of their class.
const classIndex = "spec.topology.class"

func byClass(o client.Object) []string {
	key := classref.Key(o.(*clusterv1.Cluster))
	if key.Name == "" {
		return nil
	}
	return []string{key.String()}
}

func (c *Controller) ofClass(ctx context.Context, o client.Object) []reconcile.Request {
	list := &clusterv1.ClusterList{}
	if err := c.Client.List(ctx, list, client.MatchingFields{classIndex: client.ObjectKeyFromObject(o).String()}); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// ofMember finds the Cluster of an object that was made for a topology, or that belongs to one.
func ofMember(_ context.Context, o client.Object) []reconcile.Request {
	name := labels.ClusterName(o)
	if _, owned := o.GetLabels()[clusterv1.ClusterTopologyOwnedLabel]; name == "" || !owned {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}
