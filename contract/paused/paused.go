// Package paused decides whether the controllers leave an object alone.
package paused

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Is says whether an object is paused, by its cluster or by its own annotation, whatever the annotation's value.
func Is(cluster *clusterv1.Cluster, obj metav1.Object) bool { return Condition(cluster, obj).Status == metav1.ConditionTrue }

// Condition is the Paused condition of an object; cluster may be nil where none is known yet.
func Condition(cluster *clusterv1.Cluster, obj metav1.Object) metav1.Condition {
	var by []string
	if cluster != nil && cluster.Spec.Paused != nil && *cluster.Spec.Paused {
		by = append(by, "Cluster spec.paused is set to true")
	}
	if _, ok := obj.GetAnnotations()[clusterv1.PausedAnnotation]; ok {
		by = append(by, "the object has the annotation "+clusterv1.PausedAnnotation)
	}
	if len(by) == 0 {
		return metav1.Condition{Type: clusterv1.PausedCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotPausedReason}
	}
	return metav1.Condition{Type: clusterv1.PausedCondition, Status: metav1.ConditionTrue, Reason: clusterv1.PausedReason, Message: strings.Join(by, ", ")}
}
