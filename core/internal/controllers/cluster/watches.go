package cluster

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/labels"
)

const (
	// referenceIndex finds Clusters by the provider objects that they refer to.
	referenceIndex = "spec.references"
	// coalesce is how long changes of a cluster's many members are gathered before its counters are renewed.
	coalesce = 75 * time.Millisecond
)

func byReference(o client.Object) []string {
	spec := o.(*clusterv1.Cluster).Spec
	var keys []string
	for _, ref := range []clusterv1.ContractVersionedObjectReference{spec.InfrastructureRef, spec.ControlPlaneRef} {
		if ref.Name != "" {
			gk := schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}
			keys = append(keys, referenceKey(ref.APIGroup, ref.Kind, ref.Name), contractversion.CRDName(gk))
		}
	}
	return keys
}

func referenceKey(group, kind, name string) string { return group + "/" + kind + "/" + name }

// ofReferred finds the Clusters of a provider object by their references, so that an object that comes into being after
// its Cluster wakes it although it has no owner yet.
func (c *Controller) ofReferred(ctx context.Context, o client.Object) []reconcile.Request {
	gvk := o.GetObjectKind().GroupVersionKind()
	return c.list(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{referenceIndex: referenceKey(gvk.Group, gvk.Kind, o.GetName())})
}

// ofCRD finds the Clusters that wait for a provider to be installed.
func (c *Controller) ofCRD(ctx context.Context, o client.Object) []reconcile.Request {
	return c.list(ctx, client.MatchingFields{referenceIndex: o.GetName()})
}

func (c *Controller) list(ctx context.Context, opts ...client.ListOption) []reconcile.Request {
	list := &clusterv1.ClusterList{}
	if err := c.Client.List(ctx, list, opts...); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// memberHandler wakes the Cluster of a Machine, MachineSet, MachineDeployment or MachinePool, once for many changes.
func memberHandler() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(o client.Object, q queue) {
		if name := labels.ClusterName(o); name != "" {
			q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}, coalesce)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() {
				add(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { add(e.Object, q) },
	}
}
