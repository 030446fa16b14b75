package variables

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

func schemaOf(t testing.TB, text string) clusterv1.JSONSchemaProps {
	t.Helper()
	var props clusterv1.JSONSchemaProps
	require.NoError(t, yaml.Unmarshal([]byte(text), &props))
	return props
}

func jsonOf(t testing.TB, text string) clusterv1.JSON {
	t.Helper()
	if text == "" {
		return clusterv1.JSON{}
	}
	raw, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	return clusterv1.JSON{Raw: raw}
}

func messages(errs field.ErrorList) []string {
	out := []string{}
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}

// Conformance: TP-18
func TestValidateSchema(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		// want are parts of the messages; none means that the schema is good.
		want []string
	}{
		{name: "every type", schema: `{type: object, properties: {s: {type: string, pattern: "^a+$", minLength: 1, enum: [a, aa]}, i: {type: integer, minimum: 1, maximum: 5}, n: {type: number}, b: {type: boolean, default: true}, l: {type: array, items: {type: string}, maxItems: 3}, m: {type: object, additionalProperties: {type: integer}}}, required: [s]}`},
		{name: "anything goes in", schema: `{type: object, x-kubernetes-preserve-unknown-fields: true}`},
		{name: "number or text", schema: `{x-kubernetes-int-or-string: true}`},
		{name: "metadata of the schema and of a field", schema: `{type: object, x-metadata: {labels: {a: b}}, properties: {x-metadata: {type: string, x-metadata: {annotations: {a: b}}}}}`},
		{name: "a rule", schema: `{type: integer, x-kubernetes-validations: [{rule: "self % 2 == 1", message: "must be odd", fieldPath: ""}]}`},
		{name: "a rule that compares", schema: `{type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}`},
		{name: "a bounded choice", schema: `{type: string, anyOf: [{maxLength: 3}, {pattern: "^x"}]}`},

		{name: "no type", schema: `{minimum: 3}`, want: []string{`schema.type: Required value: must be one of object, array, string, integer, number, boolean`}},
		{name: "an unknown type", schema: `{type: text}`, want: []string{`schema.type: Unsupported value: "text"`}},
		{name: "an unknown type further down", schema: `{type: object, properties: {a: {type: text}}}`, want: []string{`schema.properties[a].type: Unsupported value: "text"`}},
		{name: "a list of nothing", schema: `{type: array}`, want: []string{`schema.items: Required value`}},
		{name: "a default of another type", schema: `{type: integer, default: x}`, want: []string{`schema.default: Invalid value`}},
		{name: "a default outside of the bounds", schema: `{type: integer, maximum: 3, default: 4}`, want: []string{`schema.default: Invalid value`}},
		{name: "a default that is no field", schema: `{type: object, properties: {a: {type: string}}, default: {b: x}}`, want: []string{`schema.default: Invalid value`}},
		{name: "a pattern that is none", schema: `{type: string, pattern: "("}`, want: []string{`schema.pattern`}},
		{name: "a rule that does not compile", schema: `{type: string, x-kubernetes-validations: [{rule: "self.foo > 1"}]}`, want: []string{`schema.x-kubernetes-validations[0].rule: Invalid value`, "compilation failed"}},
		{name: "a rule that may cost too much", schema: `{type: array, items: {type: array, items: {type: array, items: {type: string}}}, x-kubernetes-validations: [{rule: "self.all(a, a.all(b, b.all(c, c.contains('x'))))"}]}`, want: []string{"estimated rule cost exceeds budget"}},
		{name: "a word that is not in the language", schema: `{type: object, properties: {a: {type: string, minimun: 3}}}`, want: []string{`schema: Invalid value`, `unknown field`}},
		{name: "fields and free fields at once", schema: `{type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}`, want: []string{`schema.additionalProperties: Forbidden`}},
		{name: "types inside of a choice", schema: `{type: string, anyOf: [{type: string}]}`, want: []string{`schema.anyOf[0].type: Forbidden`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := messages(ValidateSchema(t.Context(), schemaOf(t, c.schema), field.NewPath("schema")))
			if len(c.want) == 0 {
				assert.Empty(t, got)
				_, err := Compile(schemaOf(t, c.schema))
				require.NoError(t, err)
				return
			}
			require.NotEmpty(t, got)
			for _, want := range c.want {
				assert.Contains(t, got[0], want)
			}
		})
	}
}

// Conformance: TP-19
func TestDefault(t *testing.T) {
	const nested = `{type: object, default: {}, properties: {a: {type: string, default: x}, l: {type: array, items: {type: object, properties: {num: {type: integer, default: 7}}}}}}`
	for _, c := range []struct{ name, schema, value, want string }{
		{"a missing value", `{type: integer, default: 3}`, "", "3"},
		{"a value that is there", `{type: integer, default: 3}`, "4", "4"},
		{"no default", `{type: integer}`, "", ""},
		{"an object from nothing", nested, "", `{"a":"x"}`},
		{"inside of objects and lists", nested, `{l: [{}, {num: 1}]}`, `{"a":"x","l":[{"num":7},{"num":1}]}`},
		{"large numbers stay exact", `{type: object, properties: {num: {type: integer}}}`, `{num: 9007199254740993}`, `{"num":9007199254740993}`},
		{"values of a map", `{type: object, additionalProperties: {type: object, properties: {e: {type: boolean, default: true}}}}`, `{k: {}}`, `{"k":{"e":true}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			schema, err := Compile(schemaOf(t, c.schema))
			require.NoError(t, err)
			got, err := schema.Default(jsonOf(t, c.value))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got.Raw))
			again, err := schema.Default(got)
			require.NoError(t, err)
			assert.Equal(t, string(got.Raw), string(again.Raw), "a second time changes nothing")
		})
	}
}

// Conformance: TP-19
func TestValidate(t *testing.T) {
	const object = `{type: object, required: [a], properties: {a: {type: string, maxLength: 3, enum: [x, yy]}, num: {type: integer, minimum: 1}}}`
	for _, c := range []struct{ name, schema, value, old, want string }{
		{name: "good", schema: object, value: `{a: x, num: 1}`},
		{name: "missing", schema: object, value: `{num: 1}`, want: `value.a: Required value`},
		{name: "too small", schema: object, value: `{a: x, num: 0}`, want: `value.num: Invalid value: 0: num in body should be greater than or equal to 1`},
		{name: "not in the list", schema: object, value: `{a: z}`, want: `value.a: Unsupported value: "z": supported values: "x", "yy"`},
		{name: "another type", schema: object, value: `text`, want: `value: Invalid value: "string":  in body must be of type object: "string"`},
		{name: "a field that is not in the schema", schema: object, value: `{a: x, b: 1}`, want: `value: Invalid value: "b": the schema of the variable has no such field`},
		{name: "unknown fields where they may be", schema: `{type: object, x-kubernetes-preserve-unknown-fields: true}`, value: `{b: 1}`},
		{name: "number or text, a number", schema: `{x-kubernetes-int-or-string: true}`, value: `1`},
		{name: "number or text, neither", schema: `{x-kubernetes-int-or-string: true}`, value: `true`, want: "value"},
		{name: "a rule", schema: `{type: integer, x-kubernetes-validations: [{rule: "self % 2 == 1", message: "must be odd"}]}`, value: "2", want: `value: Invalid value: 2: must be odd`},
		{name: "a rule with a computed message", schema: `{type: string, maxLength: 9, x-kubernetes-validations: [{rule: "self != 'x'", messageExpression: "self + ' is taken'"}]}`, value: "x", want: `x is taken`},
		{name: "a rule about a field", schema: `{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a != 'x'", fieldPath: ".a"}]}`, value: `{a: x}`, want: `value.a: Invalid value`},
		{name: "no change allowed, first value", schema: `{type: string, x-kubernetes-validations: [{rule: "self == oldSelf", message: "cannot change"}]}`, value: "a"},
		{name: "no change allowed, same value", schema: `{type: string, x-kubernetes-validations: [{rule: "self == oldSelf", message: "cannot change"}]}`, value: "a", old: "a"},
		{name: "no change allowed, another value", schema: `{type: string, x-kubernetes-validations: [{rule: "self == oldSelf", message: "cannot change"}]}`, value: "b", old: "a", want: "cannot change"},
		{name: "a format", schema: `{type: string, format: ipv4}`, value: "fe80::1", want: `value: Invalid value: "fe80::1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Empty(t, ValidateSchema(t.Context(), schemaOf(t, c.schema), field.NewPath("schema")))
			schema, err := Compile(schemaOf(t, c.schema))
			require.NoError(t, err)
			got := messages(schema.Validate(t.Context(), jsonOf(t, c.value), jsonOf(t, c.old), field.NewPath("value")))
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			require.NotEmpty(t, got)
			assert.Contains(t, got[0], c.want)
		})
	}
}

func FuzzNoSchemaPanics(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string","default":"x"}}}`, `{"a":1}`)
	f.Add(`{"type":"array","items":{"type":"integer"},"x-kubernetes-validations":[{"rule":"self.size() > 1"}]}`, `[1]`)
	f.Add(`{"type":"object","properties":{"x-metadata":3}}`, `null`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		var props clusterv1.JSONSchemaProps
		if json.Unmarshal([]byte(schema), &props) != nil || len(ValidateSchema(t.Context(), props, field.NewPath("schema"))) > 0 {
			return
		}
		compiled, err := Compile(props)
		require.NoError(t, err, "a schema that was accepted compiles")
		defaulted, err := compiled.Default(clusterv1.JSON{Raw: []byte(value)})
		if err != nil {
			return
		}
		compiled.Validate(t.Context(), defaulted, clusterv1.JSON{}, field.NewPath("value"))
	})
}
