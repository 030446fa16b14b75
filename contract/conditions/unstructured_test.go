package conditions_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-capi/slipway/contract/conditions"
)

func provider(t testing.TB, status string) *unstructured.Unstructured {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{"kind":"DevMachine","metadata":{"name":"m"},"status":`+status+`}`), &fields))
	return &unstructured.Unstructured{Object: fields}
}

// Conformance: SH-33
func TestFromUnstructured(t *testing.T) {
	for _, c := range []struct {
		name, status string
		want         *metav1.Condition
	}{
		{"none", `{}`, nil},
		{"null", `{"conditions":null}`, nil},
		{"good", `{"conditions":[{"type":"Ready","status":"True","reason":"Up","message":"m"}]}`, &metav1.Condition{Type: "Ready", Status: "True", Reason: "Up", Message: "m"}},
		{"no reason, as in old conditions", `{"conditions":[{"type":"Ready","status":"False","severity":"Info"}]}`, &metav1.Condition{Type: "Ready", Status: "False", Reason: "NoReasonReported"}},
		{"the newer list wins", `{"conditions":[{"type":"Ready","status":"False"}],"v1beta2":{"conditions":[{"type":"Ready","status":"True","reason":"Up"}]}}`, &metav1.Condition{Type: "Ready", Status: "True", Reason: "Up"}},
		{"status of another kind", `{"conditions":[{"type":"Ready","status":true}]}`, broken("status must be a string")},
		{"status that is none", `{"conditions":[{"type":"Ready","status":"Perhaps"}]}`, broken(`status must be True, False or Unknown, but is "Perhaps"`)},
		{"status is missing", `{"conditions":[{"type":"Ready"}]}`, broken(`status must be True, False or Unknown, but is ""`)},
		{"reason is a number", `{"conditions":[{"type":"Ready","status":"True","reason":7}]}`, broken("reason must be a string")},
		{"message is a list", `{"conditions":[{"type":"Ready","status":"True","message":[]}]}`, broken("message must be a string")},
		{"time is none", `{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"now"}]}`, broken("lastTransitionTime must be a time in RFC 3339")},
		{"list is a map", `{"conditions":{"Ready":"True"}}`, &metav1.Condition{Type: "Ready", Status: "Unknown", Reason: "InvalidConditionReported", Message: "The reported condition Ready is invalid: status.conditions must be a list"}},
		{"entries that are none are passed over", `{"conditions":[1,{"status":"True"},{"type":5},{"type":"Ready","status":"True","reason":"Up"},{"type":"Ready","status":"False"}]}`, &metav1.Condition{Type: "Ready", Status: "True", Reason: "Up"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, conditions.FromUnstructuredOne(provider(t, c.status), "Ready"))
		})
	}
	_, err := conditions.FromUnstructured(provider(t, `{"conditions":"none"}`))
	require.ErrorIs(t, err, conditions.ErrNotAList)
	list, err := conditions.FromUnstructured(provider(t, `{"conditions":[{"type":"Paused","status":"False","reason":"NotPaused"},{"type":"Ready","status":"True","reason":"Up","observedGeneration":3}]}`))
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, "Ready", list[0].Type)
	assert.EqualValues(t, 3, list[0].ObservedGeneration)
}

func broken(problem string) *metav1.Condition {
	return &metav1.Condition{Type: "Ready", Status: metav1.ConditionUnknown, Reason: conditions.InvalidConditionReportedReason, Message: "The reported condition Ready is invalid: " + problem}
}

// FuzzFromUnstructured feeds any JSON: nothing that a provider writes may make a reader fail, and what comes out can be stored.
//
// Conformance: SH-33
func FuzzFromUnstructured(f *testing.F) {
	for _, seed := range []string{`{}`, `[]`, `{"conditions":[{"type":"Ready","status":"True"}]}`, `{"v1beta2":[],"conditions":[null,[],{}]}`, `{"conditions":[{"type":{},"status":[]}]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, status string) {
		var value any
		if json.Unmarshal([]byte(status), &value) != nil {
			return
		}
		obj := &unstructured.Unstructured{Object: map[string]any{"status": value}}
		list, err := conditions.FromUnstructured(obj)
		if err != nil {
			require.ErrorIs(t, err, conditions.ErrNotAList)
		}
		for _, c := range list {
			assert.NotEmpty(t, c.Type)
			assert.NotEmpty(t, c.Reason)
			assert.Contains(t, []metav1.ConditionStatus{"True", "False", "Unknown"}, c.Status)
		}
		conditions.FromUnstructuredOne(obj, "Ready")
	})
}
