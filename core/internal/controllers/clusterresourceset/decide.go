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
	d := Decision{Forget: gone(w)}
	if !w.Cluster.DeletionTimestamp.IsZero() || paused.Is(w.Cluster, w.Cluster) {
		d.Idle = true
		return d
	}
	for _, set := range w.Sets {
		if !set.DeletionTimestamp.IsZero() || !matches(set, w.Cluster.Labels) || paused.HasAnnotation(set) {
			continue
		}
		for _, resource := range set.Spec.Resources {
			d.consider(w, set, resource)
		}
	}
	return d
}

// gone lists the sets in the binding that no longer exist.
func gone(w World) []string {
	if w.Binding == nil {
		return nil
	}
	var out []string
	for _, b := range w.Binding.Spec.Bindings {
		if !slices.ContainsFunc(w.Sets, func(s *addonsv1.ClusterResourceSet) bool {
			return s.Name == b.ClusterResourceSetName && s.DeletionTimestamp.IsZero()
		}) {
			out = append(out, b.ClusterResourceSetName)
		}
	}
	return out
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

// record makes of a binding what it says after results.
func record(binding *addonsv1.ClusterResourceSetBinding, forget []string, results []Result) {
	bindings := slices.DeleteFunc(slices.Clone(binding.Spec.Bindings), func(b addonsv1.ResourceSetBinding) bool {
		return slices.Contains(forget, b.ClusterResourceSetName)
	})
	for _, r := range results {
		if r.Binding.Name == "" {
			continue // nothing was read, so there is nothing to say
		}
		i := slices.IndexFunc(bindings, func(b addonsv1.ResourceSetBinding) bool { return b.ClusterResourceSetName == r.Set })
		if i < 0 {
			bindings = append(bindings, addonsv1.ResourceSetBinding{ClusterResourceSetName: r.Set})
			i = len(bindings) - 1
		}
		resources := slices.Clone(bindings[i].Resources)
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
