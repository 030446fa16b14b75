package conditions

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fallback is what a mirrored condition says while its source reports nothing.
type Fallback struct {
	// Status of the mirrored condition.
	Status metav1.ConditionStatus
	// Reason in one word.
	Reason string
	// Message in a sentence.
	Message string
}

// FlagFallback derives a fallback from an initialization flag of the source, for example of DevMachine status.initialization.provisioned.
// It is Ready when the flag is set, NotReady while it is not; the message names the flag.
func FlagFallback(kind, path string, value bool) Fallback {
	f := Fallback{Status: metav1.ConditionFalse, Reason: "NotReady", Message: fmt.Sprintf("%s %s is %t", kind, path, value)}
	if value {
		f.Status, f.Reason = metav1.ConditionTrue, "Ready"
	}
	return f
}

// Mirror copies a condition of another object under a type of one's own: same status, reason, message and time. A nil source becomes the
// fallback; a source without reason gets NoReasonReported.
func Mirror(source *metav1.Condition, targetType string, fallback Fallback) metav1.Condition {
	if source == nil {
		return withDefaults(metav1.Condition{Type: targetType, Status: fallback.Status, Reason: fallback.Reason, Message: fallback.Message})
	}
	return withDefaults(metav1.Condition{
		Type:               targetType,
		Status:             source.Status,
		Reason:             source.Reason,
		Message:            source.Message,
		LastTransitionTime: source.LastTransitionTime,
	})
}

func withDefaults(c metav1.Condition) metav1.Condition {
	switch c.Status {
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
	case "":
		c.Status = metav1.ConditionUnknown
	default:
		return invalid(c.Type, fmt.Sprintf("status must be True, False or Unknown, but is %q", string(c.Status)))
	}
	if c.Reason == "" {
		c.Reason = NoReasonReportedReason
	}
	c.Message = truncate(c.Message)
	return c
}
