package rules

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// DefaultReplicas says how many replicas an object gets whose user leaves the number open. It keeps the number it has, within the limits that the
// cluster autoscaler's annotations set; a new one starts with the smaller limit, or 1 without limits.
func DefaultReplicas(wanted, before *int32, annotations map[string]string) *int32 {
	if wanted != nil {
		return wanted
	}
	lowest, highest, limited := autoscalerLimits(annotations)
	n := int32(1)
	switch {
	case limited && before == nil:
		n = lowest
	case limited:
		n = min(max(*before, lowest), highest)
	case before != nil:
		n = *before
	}
	return &n
}

func autoscalerLimits(annotations map[string]string) (lowest, highest int32, ok bool) {
	l, err := strconv.ParseInt(annotations[clusterv1.AutoscalerMinSizeAnnotation], 10, 32)
	if err != nil {
		return 0, 0, false
	}
	h, err := strconv.ParseInt(annotations[clusterv1.AutoscalerMaxSizeAnnotation], 10, 32)
	if err != nil {
		return 0, 0, false
	}
	return int32(l), int32(h), true
}

// AutoscalerLimits demands whole numbers in the cluster autoscaler's annotations, the smaller first.
func AutoscalerLimits(annotations map[string]string, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for _, key := range []string{clusterv1.AutoscalerMinSizeAnnotation, clusterv1.AutoscalerMaxSizeAnnotation} {
		value, ok := annotations[key]
		if n, err := strconv.ParseInt(value, 10, 32); ok && (err != nil || n < 0) {
			problems = append(problems, field.Invalid(path.Key(key), value, "must be a whole number that is not negative"))
		}
	}
	if lowest, highest, ok := autoscalerLimits(annotations); ok && len(problems) == 0 && lowest > highest {
		problems = append(problems, field.Invalid(path.Key(clusterv1.AutoscalerMinSizeAnnotation), lowest, fmt.Sprintf("must not be greater than the max size, %d", highest)))
	}
	return problems
}

// NotNegative demands a number of replicas that can exist.
func NotNegative(replicas *int32, path *field.Path) field.ErrorList {
	if replicas != nil && *replicas < 0 {
		return field.ErrorList{field.Invalid(path, *replicas, "must be zero or more")}
	}
	return nil
}
