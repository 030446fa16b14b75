package rules

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/inplace"
)

// InPlaceUpdates demands a policy that is known.
func InPlaceUpdates(annotations map[string]string, path *field.Path) field.ErrorList {
	value, ok := annotations[clusterv1.InPlaceUpdatesAnnotation]
	if !ok || slices.Contains(inplace.Policies, inplace.Policy(value)) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path.Key(clusterv1.InPlaceUpdatesAnnotation), inplace.Policy(value), inplace.Policies)}
}
