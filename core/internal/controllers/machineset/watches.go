package machineset

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
)

// clusterMatters passes what a MachineSet needs to know of its Cluster; its status is not among it.
func clusterMatters() predicate.Predicate {
	view := func(o client.Object) []any {
		cluster := o.(*clusterv1.Cluster)
		return []any{cluster.Spec.Paused, cluster.Spec.ControlPlaneRef, cluster.Spec.Topology.Version, cluster.Annotations}
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !reflect.DeepEqual(view(e.ObjectOld), view(e.ObjectNew))
	}}
}

// remediationMatters passes what of a MachineDeployment decides how many Machines of its sets are remediated at once.
func remediationMatters() predicate.Predicate {
	view := func(o client.Object) []any {
		md := o.(*clusterv1.MachineDeployment)
		return []any{md.Spec.Remediation, md.Spec.Replicas, md.Annotations[clusterv1.RevisionAnnotation]}
	}
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, // its sets are there themselves
		UpdateFunc: func(e event.UpdateEvent) bool { return !reflect.DeepEqual(view(e.ObjectOld), view(e.ObjectNew)) },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// ofDeployment wakes the sets of a MachineDeployment.
func (c *Controller) ofDeployment(ctx context.Context, md client.Object) []reconcile.Request {
	list := &clusterv1.MachineSetList{}
	if err := c.Client.List(ctx, list, client.InNamespace(md.GetNamespace()), client.MatchingLabels{clusterv1.MachineDeploymentNameLabel: labels.Value(md.GetName())}); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// versionsMatter passes the changes of a control plane that preflight checks look at.
func versionsMatter() predicate.Predicate {
	view := func(o client.Object) [3]any {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return [3]any{}
		}
		wanted, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "version")
		one, _, _ := unstructured.NestedFieldNoCopy(u.Object, "status", "version")
		all, _, _ := unstructured.NestedFieldNoCopy(u.Object, "status", "versions")
		return [3]any{wanted, one, all}
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !reflect.DeepEqual(view(e.ObjectOld), view(e.ObjectNew))
	}}
}

func (c *Controller) ofCluster(ctx context.Context, o client.Object) []reconcile.Request {
	return c.list(ctx, o.GetNamespace(), o.GetName())
}

// ofOrphan wakes the sets of a cluster when a Machine without controller shows up, which one of them may adopt.
func (c *Controller) ofOrphan(ctx context.Context, o client.Object) []reconcile.Request {
	for _, r := range o.GetOwnerReferences() {
		if r.Controller != nil && *r.Controller {
			return nil
		}
	}
	return c.list(ctx, o.GetNamespace(), labels.ClusterName(o))
}

func (c *Controller) list(ctx context.Context, namespace, cluster string) []reconcile.Request {
	if cluster == "" {
		return nil
	}
	list := &clusterv1.MachineSetList{}
	if err := c.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels(labels.OfCluster(cluster))); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// usersOfTemplate wakes the sets that refer to a template, which may just have come into being.
func (c *Controller) usersOfTemplate(ctx context.Context, o client.Object) []reconcile.Request {
	kind := o.GetObjectKind().GroupVersionKind().GroupKind()
	list := &clusterv1.MachineSetList{}
	if err := c.Client.List(ctx, list, client.InNamespace(o.GetNamespace())); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		spec := list.Items[i].Spec.Template.Spec
		for _, r := range []clusterv1.ContractVersionedObjectReference{spec.Bootstrap.ConfigRef, spec.InfrastructureRef} {
			if r.Name == o.GetName() && r.Kind == kind.Kind && r.APIGroup == kind.Group {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
				break
			}
		}
	}
	return out
}
