package clusterresourceset

import (
	"context"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/ownership"
)

// recorded is the binding after a decision was carried out with these results; without entries it is not to exist.
func recorded(w World, d Decision, results []Result) *addonsv1.ClusterResourceSetBinding {
	binding := &addonsv1.ClusterResourceSetBinding{}
	if w.Binding != nil {
		binding = w.Binding.DeepCopy()
	}
	binding.Namespace, binding.Name = w.Cluster.Namespace, w.Cluster.Name
	binding.Spec.ClusterName = w.Cluster.Name
	record(binding, d, results)
	own(binding, w)
	return binding
}

// record makes of the entries of a binding what they are after results.
func record(binding *addonsv1.ClusterResourceSetBinding, d Decision, results []Result) {
	bindings := slices.DeleteFunc(slices.Clone(binding.Spec.Bindings), func(b addonsv1.ResourceSetBinding) bool {
		return slices.Contains(d.Forget, b.ClusterResourceSetName)
	})
	for i, b := range bindings {
		bindings[i].Resources = slices.DeleteFunc(slices.Clone(b.Resources), func(r addonsv1.ResourceBinding) bool {
			return slices.Contains(d.Drop, Delivery{b.ClusterResourceSetName, addonsv1.ResourceReference{Kind: r.Kind, Name: r.Name}})
		})
	}
	for _, r := range results {
		if r.Binding.Name == "" {
			continue // nothing was read, so there is nothing to say
		}
		i := slices.IndexFunc(bindings, func(b addonsv1.ResourceSetBinding) bool { return b.ClusterResourceSetName == r.Set })
		if i < 0 {
			bindings = append(bindings, addonsv1.ResourceSetBinding{ClusterResourceSetName: r.Set})
			i = len(bindings) - 1
		}
		resources := bindings[i].Resources
		j := slices.IndexFunc(resources, func(b addonsv1.ResourceBinding) bool { return b.Kind == r.Resource.Kind && b.Name == r.Resource.Name })
		if j < 0 {
			resources = append(resources, r.Binding)
		} else if !sameEntry(resources[j], r.Binding) {
			resources[j] = r.Binding
		}
		bindings[i].Resources = resources
	}
	binding.Spec.Bindings = bindings
}

// sameEntry says whether two entries tell the same, but for the time: a delivery that changed nothing is not written down.
func sameEntry(a, b addonsv1.ResourceBinding) bool {
	return a.Applied == b.Applied && a.Hash == b.Hash
}

// own makes the Cluster and exactly those sets that have an entry owners of the binding.
func own(binding *addonsv1.ClusterResourceSetBinding, w World) {
	kind := addonsv1.GroupVersion.WithKind("ClusterResourceSet")
	refs := slices.DeleteFunc(slices.Clone(binding.OwnerReferences), func(r metav1.OwnerReference) bool {
		gv, err := schema.ParseGroupVersion(r.APIVersion)
		return err == nil && gv.Group == kind.Group && r.Kind == kind.Kind && !names(binding, r.Name)
	})
	binding.SetOwnerReferences(refs)
	ownership.Ensure(binding, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
	for _, set := range w.Sets {
		if names(binding, set.Name) {
			ownership.Ensure(binding, ownership.Reference(set, kind))
		}
	}
}

func names(b *addonsv1.ClusterResourceSetBinding, set string) bool {
	return slices.ContainsFunc(b.Spec.Bindings, func(b addonsv1.ResourceSetBinding) bool { return b.ClusterResourceSetName == set })
}

// store writes the binding, if it says anything new. A conflict means that the cache was stale; the event of the write that it
// has missed brings the next look.
func (c *Controller) store(ctx context.Context, before, after *addonsv1.ClusterResourceSetBinding) error {
	switch {
	case len(after.Spec.Bindings) == 0:
		return c.unbind(ctx, before)
	case before == nil:
		err := c.Client.Create(ctx, after, client.FieldOwner(FieldOwner))
		if apierrors.IsAlreadyExists(err) {
			return apierrors.NewConflict(addonsv1.GroupVersion.WithResource("clusterresourcesetbindings").GroupResource(), after.Name, err)
		}
		return err
	case reflect.DeepEqual(before.Spec, after.Spec) && reflect.DeepEqual(before.OwnerReferences, after.OwnerReferences):
		return nil
	}
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Client.Patch(ctx, after, lock, client.FieldOwner(FieldOwner)); err != nil {
		return client.IgnoreNotFound(err)
	}
	c.writes.Wrote(after, time.Now())
	return nil
}

func (c *Controller) unbind(ctx context.Context, binding *addonsv1.ClusterResourceSetBinding) error {
	if binding == nil {
		return nil
	}
	err := c.Client.Delete(ctx, binding, client.Preconditions{UID: &binding.UID, ResourceVersion: &binding.ResourceVersion})
	return client.IgnoreNotFound(err)
}
