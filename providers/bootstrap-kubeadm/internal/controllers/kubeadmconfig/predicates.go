package kubeadmconfig

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// onUpdate lets only updates pass in which something changed that a decision depends on: Clusters and Machines report
// much about themselves, and each report would otherwise cost a look at the workload cluster.
func onUpdate[T client.Object](matters func(before, after T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(T)
		after, same := e.ObjectNew.(T)
		return ok && same && matters(before, after)
	}}
}

func machineMatters(before, after *clusterv1.Machine) bool {
	return before.Generation != after.Generation || before.Status.NodeRef != after.Status.NodeRef ||
		!equality.Semantic.DeepEqual(before.Labels, after.Labels) || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
}

func clusterMatters(before, after *clusterv1.Cluster) bool {
	return before.Generation != after.Generation || !equality.Semantic.DeepEqual(before.Status.Initialization, after.Status.Initialization) ||
		!equality.Semantic.DeepEqual(before.Annotations, after.Annotations)
}
