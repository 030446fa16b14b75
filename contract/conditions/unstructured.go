package conditions

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ErrNotAList says that the field for conditions holds something that is not a list.
var ErrNotAList = errors.New("conditions are not a list")

// paths are the places where a provider may keep its conditions, the one that wins first: during a transition between API versions the new
// conditions sit beside the old ones.
var paths = [][]string{
	{"status", "v1beta2", "conditions"},
	{"status", "conditions"},
}

// FromUnstructured reads the conditions of a provider object of any kind. It is tolerant: an entry that breaks the rules becomes Unknown with
// reason InvalidConditionReported, one without reason gets NoReasonReported, one without a type is left out because nothing can ask for it.
// An error means that the field is not a list at all. An object without conditions gives an empty list.
func FromUnstructured(obj *unstructured.Unstructured) ([]metav1.Condition, error) {
	for _, path := range paths {
		value, found := lookup(obj.Object, path)
		if !found || value == nil {
			continue
		}
		list, ok := value.([]any)
		if !ok {
			return nil, fmt.Errorf("%s %s of kind %s: %w", fieldPath(path), obj.GetName(), obj.GetKind(), ErrNotAList)
		}
		return parseList(list), nil
	}
	return nil, nil
}

// FromUnstructuredOne reads one condition of a provider object; nil means that it is not reported. A conditions field that is not a list counts
// as an invalid report of that condition.
func FromUnstructuredOne(obj *unstructured.Unstructured, conditionType string) *metav1.Condition {
	list, err := FromUnstructured(obj)
	if err != nil {
		c := invalid(conditionType, "status.conditions must be a list")
		return &c
	}
	for _, c := range list {
		if c.Type == conditionType {
			return &c
		}
	}
	return nil
}

func lookup(fields map[string]any, path []string) (any, bool) {
	var value any = fields
	for _, name := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = m[name]; !ok {
			return nil, false
		}
	}
	return value, true
}

func fieldPath(path []string) string {
	s := path[0]
	for _, p := range path[1:] {
		s += "." + p
	}
	return s
}

func parseList(list []any) []metav1.Condition {
	result := make([]metav1.Condition, 0, len(list))
	seen := map[string]bool{}
	for _, entry := range list {
		fields, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		conditionType, ok := fields["type"].(string)
		if !ok || conditionType == "" || seen[conditionType] {
			continue
		}
		seen[conditionType] = true
		result = append(result, parse(conditionType, fields))
	}
	slices.SortStableFunc(result, Compare)
	return result
}

func parse(conditionType string, fields map[string]any) metav1.Condition {
	c := metav1.Condition{Type: conditionType}
	status, err := text(fields, "status")
	if err != nil {
		return invalid(conditionType, err.Error())
	}
	c.Status = metav1.ConditionStatus(status)
	if c.Status != metav1.ConditionTrue && c.Status != metav1.ConditionFalse && c.Status != metav1.ConditionUnknown {
		return invalid(conditionType, fmt.Sprintf("status must be True, False or Unknown, but is %q", status))
	}
	if c.Reason, err = text(fields, "reason"); err != nil {
		return invalid(conditionType, err.Error())
	}
	if c.Message, err = text(fields, "message"); err != nil {
		return invalid(conditionType, err.Error())
	}
	changed, err := text(fields, "lastTransitionTime")
	if err != nil {
		return invalid(conditionType, err.Error())
	}
	if changed != "" {
		at, err := time.Parse(time.RFC3339, changed)
		if err != nil {
			return invalid(conditionType, "lastTransitionTime must be a time in RFC 3339")
		}
		c.LastTransitionTime = metav1.NewTime(at)
	}
	c.ObservedGeneration = number(fields["observedGeneration"])
	return withDefaults(c)
}

// text reads an optional string field; null counts as absent.
func text(fields map[string]any, name string) (string, error) {
	switch v := fields[name].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("%s must be a string", name)
	}
}

func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	default:
		return 0
	}
}

func invalid(conditionType, problem string) metav1.Condition {
	return metav1.Condition{
		Type:    conditionType,
		Status:  metav1.ConditionUnknown,
		Reason:  InvalidConditionReportedReason,
		Message: truncate(fmt.Sprintf("The reported condition %s is invalid: %s", conditionType, problem)),
	}
}
