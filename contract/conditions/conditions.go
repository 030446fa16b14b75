package conditions

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// NotYetReportedReason is the reason of a condition that its owner has not written yet.
	NotYetReportedReason = "NotYetReported"
	// NoReasonReportedReason stands in for the reason that a provider left out.
	NoReasonReportedReason = "NoReasonReported"
	// InvalidConditionReportedReason is the reason of a condition whose source breaks the rules for conditions.
	InvalidConditionReportedReason = "InvalidConditionReported"
)

// maxMessage is the longest message that the schema of metav1.Condition accepts.
const maxMessage = 32768

// Getter is an object that has conditions.
type Getter interface {
	// GetConditions returns the conditions in the status of the object.
	GetConditions() []metav1.Condition
}

// Setter is an object whose conditions can be replaced.
type Setter interface {
	Getter
	// SetConditions replaces the conditions in the status of the object.
	SetConditions(conditions []metav1.Condition)
}

// Get returns a copy of the condition of the given type, or nil.
func Get(g Getter, conditionType string) *metav1.Condition {
	for _, c := range g.GetConditions() {
		if c.Type == conditionType {
			return &c
		}
	}
	return nil
}

// Has says whether a condition of the type is there, in whatever status.
func Has(g Getter, conditionType string) bool { return Get(g, conditionType) != nil }

// IsTrue says whether the condition is there and True.
func IsTrue(g Getter, conditionType string) bool { return is(g, conditionType, metav1.ConditionTrue) }

// IsFalse says whether the condition is there and False.
func IsFalse(g Getter, conditionType string) bool {
	return is(g, conditionType, metav1.ConditionFalse)
}

// IsUnknown says whether the condition is absent or Unknown: in both cases nothing is known.
func IsUnknown(g Getter, conditionType string) bool {
	c := Get(g, conditionType)
	return c == nil || c.Status == metav1.ConditionUnknown
}

// Reason returns the reason of the condition, or "" when it is absent.
func Reason(g Getter, conditionType string) string {
	if c := Get(g, conditionType); c != nil {
		return c.Reason
	}
	return ""
}

// Message returns the message of the condition, or "" when it is absent.
func Message(g Getter, conditionType string) string {
	if c := Get(g, conditionType); c != nil {
		return c.Message
	}
	return ""
}

func is(g Getter, conditionType string, status metav1.ConditionStatus) bool {
	c := Get(g, conditionType)
	return c != nil && c.Status == status
}

// Set writes one condition. While its status stays the same the transition time stays too, whatever time c carries; otherwise the time of c
// counts. A condition without time gets it from [Stamp] when it is written, so that decisions need no clock; see [Since]. An observedGeneration
// of zero becomes the generation of the object. The list is kept in canonical order.
func Set(s Setter, c metav1.Condition) {
	if o, ok := s.(metav1.Object); ok && c.ObservedGeneration == 0 {
		c.ObservedGeneration = o.GetGeneration()
	}
	list := slices.Clone(s.GetConditions())
	at := slices.IndexFunc(list, func(o metav1.Condition) bool { return o.Type == c.Type })
	if at >= 0 {
		c = settle(c, &list[at])
		if list[at] == c && slices.IsSortedFunc(list, Compare) {
			return
		}
		list[at] = c
	} else {
		list = append(list, settle(c, nil))
	}
	slices.SortStableFunc(list, Compare)
	s.SetConditions(list)
}

// SetAll writes several conditions, each as Set does.
func SetAll(s Setter, list ...metav1.Condition) {
	for _, c := range list {
		Set(s, c)
	}
}

// Delete removes the condition of the given type, if it is there.
func Delete(s Setter, conditionType string) {
	list := s.GetConditions()
	if !slices.ContainsFunc(list, func(c metav1.Condition) bool { return c.Type == conditionType }) {
		return
	}
	s.SetConditions(slices.DeleteFunc(slices.Clone(list), func(c metav1.Condition) bool { return c.Type == conditionType }))
}

// settle fills what the API server insists on, and keeps the earlier transition time while the status is the same.
func settle(c metav1.Condition, earlier *metav1.Condition) metav1.Condition {
	if earlier != nil && earlier.Status == c.Status && !earlier.LastTransitionTime.IsZero() {
		c.LastTransitionTime = earlier.LastTransitionTime
	}
	c.LastTransitionTime = metav1.NewTime(c.LastTransitionTime.Truncate(time.Second))
	if c.Reason == "" {
		c.Reason = NoReasonReportedReason
	}
	c.Message = truncate(c.Message)
	return c
}

func truncate(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-3], "") + "..."
}

// Same says whether two conditions agree in everything that a reader cares about: type, status, reason and message, but not time.
func Same(a, b metav1.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
}
