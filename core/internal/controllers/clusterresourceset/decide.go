package clusterresourceset

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	"github.com/slipway-capi/slipway/contract/paused"
)

func labelSet(m map[string]string) labels.Set { return m }

// Decide says what to deliver to a Cluster. It is pure: same world, same decision.
func Decide(w World) Decision {
	leaves := w.Gone || !w.Cluster.DeletionTimestamp.IsZero()
	if w.Binding != nil && (leaves || w.foreign()) {
		// Sets own the binding, too, so nothing else would take it away; and a new Cluster of the name has received nothing.
		return Decision{Unbind: true}
	}
	if leaves {
		return Decision{}
	}
	d := Decision{}
	d.clean(w)
	if paused.Is(w.Cluster, w.Cluster) {
		return d
	}
	for _, set := range w.Sets {
		if !set.DeletionTimestamp.IsZero() || !matches(set, w.Cluster.Labels) || !w.mine(set) {
			continue
		}
		for _, resource := range set.Spec.Resources {
			d.consider(w, set, resource)
		}
	}
	return d
}

// clean lists what the binding holds of sets that are gone or do not pick the Cluster any more, and of resources that have left
// their sets. The objects that were delivered stay.
func (d *Decision) clean(w World) {
	if w.Binding == nil {
		return
	}
	for _, b := range w.Binding.Spec.Bindings {
		i := slices.IndexFunc(w.Sets, func(s *addonsv1.ClusterResourceSet) bool { return s.Name == b.ClusterResourceSetName })
		if i < 0 {
			d.Forget = append(d.Forget, b.ClusterResourceSetName)
			continue
		}
		set := w.Sets[i]
		if !w.mine(set) {
			continue
		}
		if !set.DeletionTimestamp.IsZero() || !matches(set, w.Cluster.Labels) {
			d.Forget = append(d.Forget, set.Name)
			continue
		}
		for _, r := range b.Resources {
			if ref := (addonsv1.ResourceReference{Kind: r.Kind, Name: r.Name}); !slices.Contains(set.Spec.Resources, ref) {
				d.Drop = append(d.Drop, Delivery{Set: set.Name, Resource: ref})
			}
		}
	}
}

// consider decides about one resource of one set.
func (d *Decision) consider(w World, set *addonsv1.ClusterResourceSet, resource addonsv1.ResourceReference) {
	delivery := Delivery{Set: set.Name, Resource: resource}
	before := entry(w.Binding, delivery)
	once := set.Spec.Strategy != addonsv1.ClusterResourceSetStrategyReconcile
	applied := before != nil && before.Applied
	if applied && once {
		return
	}
	version, exists := w.Versions[resource]
	if !exists {
		d.Missing = append(d.Missing, delivery)
		return
	}
	if applied && w.Seen[delivery] == version {
		return
	}
	d.Deliver = append(d.Deliver, Order{Delivery: delivery, Once: once, Before: before})
}

// entry is what a binding says of a delivery; nil if nothing.
func entry(binding *addonsv1.ClusterResourceSetBinding, d Delivery) *addonsv1.ResourceBinding {
	if binding == nil {
		return nil
	}
	for _, b := range binding.Spec.Bindings {
		if b.ClusterResourceSetName != d.Set {
			continue
		}
		for i := range b.Resources {
			if b.Resources[i].Kind == d.Resource.Kind && b.Resources[i].Name == d.Resource.Name {
				return &b.Resources[i]
			}
		}
	}
	return nil
}
