package clusterclass

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
)

// templateIndex finds classes by the templates that they refer to, and by the CRDs of these.
const templateIndex = "spec.templates"

func byTemplate(o client.Object) []string {
	class := o.(*clusterv1.ClusterClass)
	var keys []string
	for _, ref := range Templates(class) {
		gk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		keys = append(keys, gk.String()+"/"+ref.Name, contractversion.CRDName(gk))
	}
	return keys
}

func (c *Controller) ofTemplate(ctx context.Context, o client.Object) []reconcile.Request {
	gk := o.GetObjectKind().GroupVersionKind().GroupKind()
	return c.list(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{templateIndex: gk.String() + "/" + o.GetName()})
}

// ofCRD finds the classes that wait for a provider, or whose versions get old with it.
func (c *Controller) ofCRD(ctx context.Context, o client.Object) []reconcile.Request {
	return c.list(ctx, client.MatchingFields{templateIndex: o.GetName()})
}

func (c *Controller) list(ctx context.Context, opts ...client.ListOption) []reconcile.Request {
	list := &clusterv1.ClusterClassList{}
	if err := c.Client.List(ctx, list, opts...); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}
