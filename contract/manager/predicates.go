package manager

import (
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// WatchFilter lets only objects pass whose label cluster.x-k8s.io/watch-filter has the value; an empty value lets all pass.
func WatchFilter(value string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool {
		return value == "" || obj.GetLabels()[clusterv1.WatchLabel] == value
	})
}

// Changed drops the updates of a resync, in which nothing changed; it is meant for secondary watches.
func Changed() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld == nil || e.ObjectNew == nil || e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion()
	}}
}
