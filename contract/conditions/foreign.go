package conditions

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// ReasonNoReasonReported stands in where a provider's condition has no reason.
	ReasonNoReasonReported = "NoReasonReported"
	// ReasonInvalidReported says that a provider's condition cannot be understood.
	ReasonInvalidReported = "InvalidConditionReported"
	// ReasonNotYetReported says that a condition is not there yet.
	ReasonNotYetReported = "NotYetReported"
)

// FromUnstructured finds the condition of a type in any object, in status.v1beta2.conditions or status.conditions.
// It returns nil if there is none. A malformed one becomes Unknown with reason InvalidConditionReported: what a
// provider writes must never make its readers fail.
func FromUnstructured(obj *unstructured.Unstructured, conditionType string) *metav1.Condition {
	for _, path := range [][]string{{"status", "v1beta2", "conditions"}, {"status", "conditions"}} {
		value, found, err := unstructured.NestedFieldNoCopy(obj.Object, path...)
		if err != nil || !found {
			continue
		}
		list, ok := value.([]any)
		if !ok {
			c := invalid(conditionType, "the list of conditions is not a list")
			return &c
		}
		for _, item := range list {
			m, ok := item.(map[string]any)
			if ok && m["type"] == conditionType {
				c := parse(m, conditionType)
				return &c
			}
		}
	}
	return nil
}

func parse(m map[string]any, conditionType string) metav1.Condition {
	c := metav1.Condition{Type: conditionType}
	text := func(key string) (string, bool) {
		v, found := m[key]
		if !found || v == nil {
			return "", true
		}
		s, ok := v.(string)
		return s, ok
	}
	status, ok1 := text("status")
	reason, ok2 := text("reason")
	message, ok3 := text("message")
	at, ok4 := text("lastTransitionTime")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return invalid(conditionType, "a field of the condition is not a string")
	}
	switch metav1.ConditionStatus(status) {
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
	default:
		return invalid(conditionType, fmt.Sprintf("status %q is none of True, False, Unknown", status))
	}
	c.Status, c.Reason, c.Message = metav1.ConditionStatus(status), reason, message
	if c.Reason == "" {
		c.Reason = ReasonNoReasonReported
	}
	if at != "" {
		if err := c.LastTransitionTime.UnmarshalQueryParameter(at); err != nil {
			c.LastTransitionTime = metav1.Time{}
		}
	}
	return c
}

func invalid(conditionType, why string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionUnknown, Reason: ReasonInvalidReported,
		Message: fmt.Sprintf("Condition %s reported by the provider is invalid: %s", conditionType, why)}
}

// Fallback is what to say when the mirrored object has no such condition.
type Fallback struct {
	// Good is the state of the flag that stands for the condition, such as status.initialization.provisioned.
	Good bool
	// TrueReason and FalseReason are the reasons for the two states of Good.
	TrueReason, FalseReason string
	// Message explains a false flag.
	Message string
}

// Mirror makes a condition of type targetType from a source condition, or from the fallback if there is no source.
func Mirror(source *metav1.Condition, targetType string, fallback Fallback) metav1.Condition {
	if source != nil {
		c := *source
		c.Type, c.ObservedGeneration = targetType, 0
		return c
	}
	if fallback.Good {
		return metav1.Condition{Type: targetType, Status: metav1.ConditionTrue, Reason: fallback.TrueReason}
	}
	return metav1.Condition{Type: targetType, Status: metav1.ConditionFalse, Reason: fallback.FalseReason, Message: fallback.Message}
}
