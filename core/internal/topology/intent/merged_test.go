package intent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestMerged: what an apply makes of an object. Afterwards the same intent finds no difference.
func TestMerged(t *testing.T) {
	have := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "x", "uid": "u", "labels": map[string]any{"old.io/a": "1", "theirs": "2"}, "ownerReferences": []any{map[string]any{"name": "theirs"}}},
		"spec":     map[string]any{"list": []any{"a"}, "map": map[string]any{"theirs": true}, "gone": "soon"},
		"status":   map[string]any{"phase": "Running"},
	}}
	have.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "me", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:old.io/a":{}}},"f:spec":{"f:gone":{},"f:list":{}}}`)}})
	want := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "x", "labels": map[string]any{"b": "3"}, "ownerReferences": []any{map[string]any{"name": "mine"}}},
		"spec":     map[string]any{"list": []any{"b", "c"}, "map": map[string]any{"mine": map[string]any{"deep": int64(1)}}},
		"status":   map[string]any{"phase": "not applied"},
	}}
	got := Merged(have, want, "me")
	assert.Equal(t, map[string]string{"theirs": "2", "b": "3"}, got.GetLabels())
	assert.Equal(t, map[string]any{"list": []any{"b", "c"}, "map": map[string]any{"theirs": true, "mine": map[string]any{"deep": int64(1)}}}, got.Object["spec"])
	assert.Equal(t, map[string]any{"phase": "Running"}, got.Object["status"])
	assert.EqualValues(t, "u", got.GetUID())
	assert.Len(t, got.GetOwnerReferences(), 2)
	got.SetManagedFields(nil)
	assert.Empty(t, Differences(got, want, "me"))
	assert.Equal(t, "soon", have.Object["spec"].(map[string]any)["gone"], "the object itself is left alone")
	assert.NotEmpty(t, Differences(have, want, "me"))
}
