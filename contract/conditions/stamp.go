package conditions

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stamp fills what the API server insists on in conditions that were put into the list by hand: the time of transition, to the second, and a
// reason; and it puts the list in canonical order. Conditions that are complete stay as they are.
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

// Sort puts the list in canonical order.
func Sort(s Setter) {
	list := slices.Clone(s.GetConditions())
	slices.SortStableFunc(list, Compare)
	s.SetConditions(list)
}
