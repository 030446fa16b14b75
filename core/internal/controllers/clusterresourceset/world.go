package clusterresourceset

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// World is all that is known when a decision about the deliveries to one Cluster is taken.
type World struct {
	Now     time.Time
	Cluster *clusterv1.Cluster
	// Sets are all of the namespace, by name.
	Sets []*addonsv1.ClusterResourceSet
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
	// Forget lists sets whose entry in the binding goes.
	Forget []string
	// Idle says that nothing can be delivered to this Cluster now.
	Idle bool
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
	// Err is what went wrong; nil after a complete delivery.
	Err error
}

func matches(set *addonsv1.ClusterResourceSet, labels map[string]string) bool {
	if len(set.Spec.ClusterSelector.MatchLabels) == 0 && len(set.Spec.ClusterSelector.MatchExpressions) == 0 {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(&set.Spec.ClusterSelector)
	return err == nil && selector.Matches(labelSet(labels))
}
