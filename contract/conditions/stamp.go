package conditions

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stamp fills what the API server insists on in conditions that have just been decided or were put into the list by hand: the time of
// transition, to the second, and a reason; and it puts the list in canonical order. Conditions that are complete stay as they are. The patch
// helper calls it before it writes.
func Stamp(s Setter, now time.Time) {
	list := s.GetConditions()
	complete := slices.IsSortedFunc(list, Compare)
	for _, c := range list {
		complete = complete && !c.LastTransitionTime.IsZero() && c.Reason != ""
	}
	if complete {
		return
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].LastTransitionTime.IsZero() {
			list[i].LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		}
		if list[i].Reason == "" {
			list[i].Reason = NoReasonReportedReason
		}
	}
	slices.SortStableFunc(list, Compare)
	s.SetConditions(list)
}

// Since says when a condition got its status. One that was set by the decision at hand has no time yet: that is now.
func Since(c metav1.Condition, now time.Time) time.Time {
	if c.LastTransitionTime.IsZero() {
		return now
	}
	return c.LastTransitionTime.Time
}

// Sort puts the list in canonical order.
func Sort(s Setter) {
	list := slices.Clone(s.GetConditions())
	slices.SortStableFunc(list, Compare)
	s.SetConditions(list)
}
