package paths

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
)

const definition = `
metadata: {name: boattemplates.infra.io}
spec:
  versions:
  - {name: v0, served: false, storage: false}
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
            properties:
              template:
                type: object
                properties:
                  spec:
                    type: object
                    properties:
                      length: {type: integer}
                      price: {type: number}
                      name: {type: string}
                      colour: {type: string, enum: [red, blue]}
                      steam: {type: boolean}
                      draught: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
                      flags: {type: array, items: {type: object, properties: {signal: {type: string}}}}
                      ports: {type: array, items: {type: string}}
                      labels: {type: object, additionalProperties: {type: string}}
                      anything: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: integer}}}
                      hull:
                        type: object
                        properties:
                          material: {type: string}
                          mast: {type: object, properties: {height: {type: integer}}}
`

var boats = schema.GroupVersionKind{Group: "infra.io", Version: "v1", Kind: "BoatTemplate"}

func read(t testing.TB, text string, into any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(text), into))
}

func boat(t testing.TB) *structuralschema.Structural {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	read(t, definition, &crd)
	s, err := Of(&crd, "v1")
	require.NoError(t, err)
	return s
}

// of is a class with one patch of boats.
func of(t testing.TB, operation string) []clusterv1.ClusterClassPatch {
	t.Helper()
	d := clusterv1.PatchDefinition{Selector: clusterv1.PatchSelector{APIVersion: "infra.io/v1", Kind: "BoatTemplate"}}
	d.JSONPatches = []clusterv1.JSONPatch{{}}
	read(t, operation, &d.JSONPatches[0])
	return []clusterv1.ClusterClassPatch{{Name: "p", Definitions: []clusterv1.PatchDefinition{d}}}
}

// Conformance: TP-33
func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, operation, want string }{
		{"a field", `{op: add, path: /spec/template/spec/name, value: x}`, ""},
		{"a field below", `{op: replace, path: /spec/template/spec/hull/mast/height, value: 3}`, ""},
		{"all of it", `{op: replace, path: /spec/template/spec, value: {name: x, hull: {mast: {height: 3}}}}`, ""},
		{"the end of a list", `{op: add, path: /spec/template/spec/ports/-, value: x}`, ""},
		{"the beginning of a list", `{op: add, path: /spec/template/spec/flags/0, value: {signal: x}}`, ""},
		{"a key of a map, with a slash", `{op: add, path: /spec/template/spec/labels/a.io~1b, value: x}`, ""},
		{"whatever is preserved", `{op: add, path: /spec/template/spec/anything/a/0/b, value: {c: 1}}`, ""},
		{"a variable has no type", `{op: add, path: /spec/template/spec/length, valueFrom: {variable: name}}`, ""},
		{"a whole number is a number", `{op: add, path: /spec/template/spec/price, value: 3}`, ""},
		{"a whole number, written long", `{op: add, path: /spec/template/spec/length, value: 3.0}`, ""},
		{"either of both", `{op: add, path: /spec/template/spec/draught, value: 10%}`, ""},
		{"null", `{op: add, path: /spec/template/spec/hull, value: {material: null}}`, ""},
		{"not into a template at all, which others refuse", `{op: add, path: /spec/paused, value: 1}`, ""},

		{"a typing error", `{op: add, path: /spec/template/spec/hul/material, value: x}`,
			`spec.patches[0].definitions[0].jsonPatches[0].path: Invalid value: "/spec/template/spec/hul/material": BoatTemplate has no field spec.template.spec.hul; did you mean hull?`},
		{"another case", `{op: add, path: /spec/template/spec/Name, value: x}`, `did you mean name?`},
		{"an abbreviation", `{op: add, path: /spec/template/spec/hull/mate, value: x}`, `did you mean mast or material?`},
		{"a field that is elsewhere", `{op: add, path: /spec/template/spec/height, value: 3}`, `BoatTemplate has no field spec.template.spec.height; there is spec.template.spec.hull.mast.height`},
		{"a field that is nowhere", `{op: remove, path: /spec/template/spec/hull/zzz}`, `BoatTemplate has no field spec.template.spec.hull.zzz; there is mast, material`},
		{"into a list of objects", `{op: add, path: /spec/template/spec/flags/-/sgnal, value: x}`, `BoatTemplate has no field spec.template.spec.flags.-.sgnal; did you mean signal?`},
		{"a field of a list", `{op: add, path: /spec/template/spec/ports/http, value: x}`, `path: Invalid value: "/spec/template/spec/ports/http": BoatTemplate.spec.template.spec.ports is a list, which has no fields`},
		{"an index into an object", `{op: add, path: /spec/template/spec/hull/0, value: x}`, `BoatTemplate has no field spec.template.spec.hull.0; there is mast, material`},
		{"below a scalar", `{op: add, path: /spec/template/spec/name/x, value: x}`, `BoatTemplate.spec.template.spec.name is a string, which has nothing below it`},
		{"below one of both", `{op: add, path: /spec/template/spec/draught/x, value: x}`, `is a number or a string, which has nothing below it`},

		{"a string for a number", `{op: add, path: /spec/template/spec/length, value: "3"}`, `spec.patches[0].definitions[0].jsonPatches[0].value: Invalid value: "3": must be a whole number`},
		{"a part for a whole", `{op: add, path: /spec/template/spec/length, value: 1.5}`, `value: Invalid value: "1.5": must be a whole number`},
		{"an object for a list", `{op: add, path: /spec/template/spec/ports, value: {a: b}}`, `must be a list`},
		{"a list for one of its elements", `{op: add, path: /spec/template/spec/ports/-, value: [a]}`, `must be a string`},
		{"the wrong type inside", `{op: add, path: /spec/template/spec/flags, value: [{signal: a}, {signal: 1}]}`, `jsonPatches[0].value[1].signal: Invalid value: "1": must be a string`},
		{"an unknown field inside", `{op: add, path: /spec/template/spec/hull, value: {mast: {hight: 1}}}`, `jsonPatches[0].value.mast.hight: Invalid value: "1": there is no such field; did you mean height?`},
		{"a known field of what is preserved", `{op: add, path: /spec/template/spec/anything, value: {known: x, other: x}}`, `value.known: Invalid value: "x": must be a whole number`},
		{"a word that is not allowed", `{op: add, path: /spec/template/spec/colour, value: green}`, `value: Unsupported value: "green": supported values: "red", "blue"`},
		{"neither of both", `{op: add, path: /spec/template/spec/draught, value: true}`, `must be a whole number or a string`},
		{"a word for a truth", `{op: add, path: /spec/template/spec/steam, value: "true"}`, `must be true or false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := Check(of(t, c.operation), Schemas{boats: boat(t)}, field.NewPath("spec", "patches"))
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			assert.Contains(t, problems[0].Error(), c.want)
		})
	}
}

func TestKindsWithoutSchemaPass(t *testing.T) {
	wrong := of(t, `{op: add, path: /spec/template/spec/hul, value: x}`)
	assert.Empty(t, Check(wrong, Schemas{}, nil))
	assert.Empty(t, Check(wrong, Schemas{boats: nil}, nil))
	assert.Equal(t, []schema.GroupVersionKind{boats}, Kinds(slices.Concat(wrong, wrong)))
}

func TestOf(t *testing.T) {
	var crd apiextensionsv1.CustomResourceDefinition
	read(t, definition, &crd)
	for _, version := range []string{"v0", "v3"} {
		_, err := Of(&crd, version)
		assert.ErrorContains(t, err, "boattemplates.infra.io serves no version "+version+"; it serves v2, v1")
	}
	s, err := Of(&crd, "v2")
	require.NoError(t, err)
	assert.Nil(t, s, "a version without schema lets everything pass")
	crd.Spec.PreserveUnknownFields = true
	s, err = Of(&crd, "v1")
	require.NoError(t, err)
	assert.Nil(t, s)
}

// every lists all paths that a schema has.
func every(s *structuralschema.Structural, path string) []string {
	out := []string{path}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below := s.Properties[name]
		out = append(out, every(&below, path+"/"+name)...)
	}
	if s.Items != nil {
		out = append(out, every(s.Items, path+"/-")...)
	}
	return out
}

// Any path that the schema has is right; with a letter too many it is wrong, and the right name is told.
func TestEveryPathOfASchema(t *testing.T) {
	root := boat(t)
	all := every(root, "")
	require.Greater(t, len(all), 15)
	for _, path := range all {
		if !patches.Inside(path) {
			continue
		}
		_, problem := follow(root, "BoatTemplate", path)
		assert.Empty(t, problem, path)
		last := path[strings.LastIndex(path, "/")+1:]
		if path == patches.Root || last == "-" || strings.Contains(path, "anything") {
			continue
		}
		_, problem = follow(root, "BoatTemplate", path+"x")
		assert.Contains(t, problem, "did you mean "+last, path)
	}
}

func FuzzCheck(f *testing.F) {
	for _, path := range []string{"/spec/template/spec/hull/mast", "/spec/template/spec/flags/-/signal", "/spec/template/spec//", "/spec/template/spec/labels/~1~0~", "/spec/template/spec/ports/99"} {
		for _, value := range []string{`1`, `"x"`, `{"material":1}`, `[[{}]]`, `null`, `1e300`} {
			f.Add(path, value)
		}
	}
	root := boat(f)
	f.Fuzz(func(t *testing.T, path, value string) {
		class := of(t, `{op: add}`)
		class[0].Definitions[0].JSONPatches[0].Path = path
		class[0].Definitions[0].JSONPatches[0].Value = clusterv1.JSON{Raw: []byte(value)}
		for _, p := range Check(class, Schemas{boats: root}, field.NewPath("spec", "patches")) {
			assert.Contains(t, p.Field, "spec.patches[0].definitions[0].jsonPatches[0].")
			assert.NotEmpty(t, p.Detail)
		}
	})
}
