// Package paused decides whether the controllers leave an object alone.
package paused

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Is says whether an object is paused, by its cluster or by its own annotation, whatever the annotation's value.
func Is(cluster *clusterv1.Cluster, obj metav1.Object) bool {
	is, _ := Reason(cluster, obj)
	return is
}

// Reason says whether an object is paused, and by what. The cluster may be nil where none is known yet.
func Reason(cluster *clusterv1.Cluster, obj metav1.Object) (paused bool, message string) {
	var by []string
	if cluster != nil && cluster.Spec.Paused != nil && *cluster.Spec.Paused {
		by = append(by, "Cluster spec.paused is set to true")
	}
	if HasAnnotation(obj) {
		by = append(by, "the object has the annotation "+clusterv1.PausedAnnotation)
	}
	return len(by) > 0, strings.Join(by, ", ")
}

// HasAnnotation says whether the object itself asks to be left alone.
func HasAnnotation(obj metav1.Object) bool {
	_, ok := obj.GetAnnotations()[clusterv1.PausedAnnotation]
	return ok
}

// Condition is the Paused condition of an object; cluster may be nil where none is known yet.
func Condition(cluster *clusterv1.Cluster, obj metav1.Object) metav1.Condition {
	c := metav1.Condition{
		Type:               clusterv1.PausedCondition,
		Status:             metav1.ConditionFalse,
		Reason:             clusterv1.NotPausedReason,
		ObservedGeneration: obj.GetGeneration(),
	}
	if is, message := Reason(cluster, obj); is {
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, clusterv1.PausedReason, message
	}
	return c
}
