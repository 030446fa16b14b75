package clusterresourceset

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
)

// World is all that is known when a decision about the deliveries to one Cluster is taken.
type World struct {
	// Cluster is only its name and namespace if it is gone.
	Cluster *clusterv1.Cluster
	// Gone says that the Cluster does not exist any more.
	Gone bool
	// Sets are all of the namespace, by name.
	Sets []*addonsv1.ClusterResourceSet
	// WatchFilter is the value of the label of those sets that are delivered here; empty means all.
	WatchFilter string
	// Binding is nil if nothing was ever delivered.
	Binding *addonsv1.ClusterResourceSetBinding
	// Versions are the resource versions of the ConfigMaps and Secrets that exist.
	Versions map[addonsv1.ResourceReference]string
	// Seen are the versions that were delivered last, by set and resource, as far as this process knows.
	Seen map[Delivery]string
}

// Delivery is one resource of one set.
type Delivery struct {
	Set      string
	Resource addonsv1.ResourceReference
}

// Decision is what to do for a Cluster.
type Decision struct {
	// Deliver lists what to apply, in order.
	Deliver []Order
	// Missing lists resources that do not exist; a watch tells when they do.
	Missing []Delivery
	// Forget lists sets whose entry in the binding goes, Drop resources that have left their sets.
	Forget []string
	Drop   []Delivery
	// Unbind says that the binding as a whole goes: its Cluster does.
	Unbind bool
}

// Order is one delivery and how it is made.
type Order struct {
	Delivery
	// Once leaves objects alone that exist.
	Once bool
	// Before is the entry of the binding; its hash tells whether the payload changed.
	Before *addonsv1.ResourceBinding
}

// Result is how a delivery went.
type Result struct {
	Delivery
	Binding addonsv1.ResourceBinding
	// Version is that of the ConfigMap or Secret that was read.
	Version string
	// Trouble is what went wrong; nil after a complete delivery.
	Trouble *trouble
}

// mine says whether a set is delivered here, and not stood still.
func (w World) mine(set *addonsv1.ClusterResourceSet) bool {
	return (w.WatchFilter == "" || set.Labels[clusterv1.WatchLabel] == w.WatchFilter) && !paused.HasAnnotation(set)
}

// foreign says whether the binding belongs to an earlier Cluster of the same name.
func (w World) foreign() bool {
	owner := ownership.Of(w.Binding, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind).GroupKind())
	return owner != nil && owner.UID != w.Cluster.UID
}

// matches says whether a set picks a Cluster with these labels. An empty selector picks none.
func matches(set *addonsv1.ClusterResourceSet, labels map[string]string) bool {
	if len(set.Spec.ClusterSelector.MatchLabels) == 0 && len(set.Spec.ClusterSelector.MatchExpressions) == 0 {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(&set.Spec.ClusterSelector)
	return err == nil && selector.Matches(labelSet(labels))
}
