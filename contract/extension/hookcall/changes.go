package hookcall

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
)

// Noticeable passes those changes of ExtensionConfigs that callers notice: of how an extension is called, or of what it has discovered.
func Noticeable() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*runtimev1.ExtensionConfig), e.ObjectNew.(*runtimev1.ExtensionConfig)
		return before.Generation != after.Generation || !equality.Semantic.DeepEqual(before.Status, after.Status)
	}}
}
