package cloning_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-capi/slipway/contract/cloning"
)

func template(t *testing.T, kind, spec string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON([]byte(`{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2","kind":"`+kind+`",
		"metadata":{"name":"t","namespace":"ns","uid":"1","resourceVersion":"7","finalizers":["f"],"labels":{"of":"template"}},
		"status":{"capacity":{}},"spec":`+spec+`}`)))
	return obj
}

// Conformance: SH-25
func TestClone(t *testing.T) {
	owner := metav1.OwnerReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Machine", Name: "m", UID: "2"}
	from := template(t, "DevMachineTemplate", `{"template":{"metadata":{"labels":{"a":"b","cluster.x-k8s.io/cluster-name":"wrong"},"annotations":{"c":"d"}},"spec":{"size":[1,2]}}}`)
	before := from.DeepCopy()
	got, err := cloning.FromTemplate(cloning.Request{Template: from, Name: "m", ClusterName: "c", Owner: &owner,
		Labels: map[string]string{"a": "e"}, Annotations: map[string]string{"f": "g"}})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
		"kind":       "DevMachine",
		"metadata": map[string]any{
			"name": "m", "namespace": "ns",
			"labels": map[string]any{"a": "e", "cluster.x-k8s.io/cluster-name": "c"},
			"annotations": map[string]any{"c": "d", "f": "g", "cluster.x-k8s.io/cloned-from-name": "t",
				"cluster.x-k8s.io/cloned-from-groupkind": "DevMachineTemplate.infrastructure.cluster.x-k8s.io"},
			"ownerReferences": []any{map[string]any{"apiVersion": owner.APIVersion, "kind": "Machine", "name": "m", "uid": "2"}},
		},
		"spec": map[string]any{"size": []any{int64(1), int64(2)}},
	}, got.Object)
	got.Object["spec"].(map[string]any)["size"].([]any)[0] = int64(9)
	assert.Equal(t, before, from, "the template is not changed through its clone")
}

// Conformance: SH-26
func TestEmptyTemplate(t *testing.T) {
	for _, spec := range []string{`{}`, `{"template":{}}`, `{"template":{"spec":{}}}`} {
		got, err := cloning.FromTemplate(cloning.Request{Template: template(t, "DevMachineTemplate", spec), Name: "m", ClusterName: "c"})
		require.NoError(t, err)
		assert.Equal(t, map[string]any{}, got.Object["spec"])
		assert.Empty(t, got.GetOwnerReferences())
	}
}

// Conformance: SH-26
func TestBadTemplates(t *testing.T) {
	for _, c := range []struct{ kind, spec, want string }{
		{"DevMachine", `{}`, "does not end in Template"},
		{"Template", `{}`, "does not end in Template"},
		{"DevMachineTemplate", `{"template":"x"}`, "is no object"},
		{"DevMachineTemplate", `{"template":{"spec":[]}}`, "is no object"},
		{"DevMachineTemplate", `{"template":{"metadata":{"labels":{"a":1}}}}`, "is no map of strings"},
		{"DevMachineTemplate", `{"template":{"metadata":{"annotations":[]}}}`, "is no map of strings"},
	} {
		_, err := cloning.FromTemplate(cloning.Request{Template: template(t, c.kind, c.spec), Name: "m", ClusterName: "c"})
		assert.ErrorContains(t, err, c.want, "%v", c)
	}
}
