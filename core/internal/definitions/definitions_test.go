package definitions

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

const boats = `
metadata: {name: boats.infra.io}
spec:
  group: infra.io
  names: {kind: Boat}
  versions:
  - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [name]
            x-kubernetes-validations: [{rule: "!has(self.sail) || self.sail != self.name", message: "the sail is not the name"}]
            properties:
              name: {type: string, maxLength: 5}
              sail: {type: string, default: white, maxLength: 9}
              crew: {type: array, items: {type: object, properties: {rank: {type: string, default: sailor}}}}
`

func set(t testing.TB) Set {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.Unmarshal([]byte(boats), crd))
	s, err := New([]*apiextensionsv1.CustomResourceDefinition{crd})
	require.NoError(t, err)
	return s
}

func boat(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte("{apiVersion: infra.io/v1, kind: Boat, metadata: {name: b, labels: {a: b}}, spec: " + text + "}"))
	require.NoError(t, err)
	o := &unstructured.Unstructured{}
	require.NoError(t, o.UnmarshalJSON(raw))
	return o
}

func TestDefault(t *testing.T) {
	o := boat(t, `{name: x, crew: [{}, {rank: cook}], sail: null}`)
	got := set(t).Default(o)
	assert.Equal(t, boat(t, `{name: x, crew: [{rank: sailor}, {rank: cook}], sail: white}`).Object, got.Object)
	assert.Nil(t, o.Object["spec"].(map[string]any)["sail"], "the object itself stays")

	other := boat(t, `{}`)
	other.SetKind("Raft")
	assert.Same(t, other, set(t).Default(other))
}

func TestValidate(t *testing.T) {
	for text, want := range map[string]string{
		`{name: x}`:                   "",
		`{}`:                          "spec.name: Required value",
		`{name: 1}`:                   "spec.name: Invalid value",
		`{name: longer}`:              "spec.name: Too long",
		`{name: x, sale: y}`:          "spec.sale: Forbidden: the kind has no such field",
		`{name: x, crew: [{age: 1}]}`: "spec.crew[0].age: Forbidden",
		`{name: x, sail: x}`:          "spec: Invalid value: the sail is not the name",
	} {
		problems := set(t).Validate(t.Context(), boat(t, text))
		if want == "" {
			assert.Empty(t, problems, text)
			continue
		}
		require.Len(t, problems, 1, text)
		assert.Contains(t, problems[0].Error(), want)
	}
	for _, version := range []string{"v0", "v2", "v3"} {
		o := boat(t, `{name: 1}`)
		o.SetAPIVersion("infra.io/" + version)
		assert.Empty(t, set(t).Validate(t.Context(), o), "a version without schema is not judged")
	}
	assert.Contains(t, set(t).Schemas(), schema.GroupVersionKind{Group: "infra.io", Version: "v1", Kind: "Boat"})
}
