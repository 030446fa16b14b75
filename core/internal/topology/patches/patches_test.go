package patches

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

func values(t testing.TB, text string) Values {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	var raw map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(encoded, &raw))
	out := Values{}
	for name, value := range raw {
		out[name] = clusterv1.JSON{Raw: value}
	}
	return out
}

func patch(t testing.TB, text string) clusterv1.ClusterClassPatch {
	t.Helper()
	p := clusterv1.ClusterClassPatch{Name: "p"}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &p))
	return p
}

func aTemplate(role Role, class, kind, spec string) Template {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte("spec: {template: {metadata: {labels: {a: b}}, spec: "+spec+"}}"), &object.Object); err != nil {
		panic(err)
	}
	object.SetAPIVersion("example.com/v1")
	object.SetKind(kind)
	object.SetName("template")
	return Template{UID: types.UID(string(role) + class), Role: role, Class: class, Object: object, Holder: hooks.HolderReference{Kind: "MachineDeployment", Name: "md-" + class}}
}

func spec(t testing.TB, tmpl Template) string {
	t.Helper()
	s, found, err := unstructured.NestedFieldNoCopy(tmpl.Object.Object, "spec", "template", "spec")
	require.NoError(t, err)
	if !found {
		return ""
	}
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	return string(raw)
}

// onControlPlane is a patch of the control plane with one operation.
func onControlPlane(operation string) string {
	return `{definitions: [{selector: {apiVersion: example.com/v1, kind: ControlPlaneTemplate, matchResources: {controlPlane: true}}, jsonPatches: [` + operation + `]}]}`
}

// Conformance: TP-07, TP-21
func TestInlinePatches(t *testing.T) {
	const vars = `{text: hello, list: [a, {b: 1}], map: {x: {n1: [5, 6]}}, big: 9007199254740993, yes1: true, no1: false, builtin: {cluster: {name: c}}}`
	for _, c := range []struct{ name, patch, before, want, err string }{
		{name: "add", patch: onControlPlane(`{op: add, path: /spec/template/spec/a, value: 1}`), before: `{}`, want: `{"a":1}`},
		{name: "replace", patch: onControlPlane(`{op: replace, path: /spec/template/spec/a, value: {b: [1]}}`), before: `{a: 0}`, want: `{"a":{"b":[1]}}`},
		{name: "remove", patch: onControlPlane(`{op: remove, path: /spec/template/spec/a}`), before: `{a: 0, b: 1}`, want: `{"b":1}`},
		{name: "all of it at once", patch: onControlPlane(`{op: replace, path: /spec/template/spec, value: {z: 1}}`), before: `{a: 0}`, want: `{"z":1}`},
		{name: "at the beginning and the end of a list", patch: onControlPlane(`{op: add, path: /spec/template/spec/l/0, value: x}, {op: add, path: /spec/template/spec/l/-, value: z}`), before: `{l: [m]}`, want: `{"l":["x","m","z"]}`},
		{name: "a key with a slash", patch: onControlPlane(`{op: add, path: "/spec/template/spec/a~1b", value: 1}`), before: `{}`, want: `{"a/b":1}`},
		{name: "a variable", patch: onControlPlane(`{op: add, path: /spec/template/spec/a, valueFrom: {variable: text}}`), before: `{}`, want: `{"a":"hello"}`},
		{name: "a field and an element", patch: onControlPlane(`{op: add, path: /spec/template/spec/a, valueFrom: {variable: "map.x.n1[1]"}}, {op: add, path: /spec/template/spec/b, valueFrom: {variable: "list[1].b"}}`), before: `{}`, want: `{"a":6,"b":1}`},
		{name: "a variable that every cluster has", patch: onControlPlane(`{op: add, path: /spec/template/spec/a, valueFrom: {variable: builtin.cluster.name}}`), before: `{}`, want: `{"a":"c"}`},
		{name: "large numbers stay exact", patch: onControlPlane(`{op: add, path: /spec/template/spec/a, valueFrom: {variable: big}}, {op: add, path: /spec/template/spec/b, valueFrom: {template: "{{ .big }}"}}`), before: `{}`, want: `{"a":9007199254740993,"b":9007199254740993}`},
		{name: "a template that gives text", patch: onControlPlane(`{op: add, path: /spec/template/spec/a, valueFrom: {template: "{{ .text }}-{{ .builtin.cluster.name | upper }}"}}`), before: `{}`, want: `{"a":"hello-C"}`},
		{name: "a template that gives an object", patch: onControlPlane(`{op: add, path: /spec/template/spec/a, valueFrom: {template: "k: {{ .text | quote }}\nl: {{ .list | toJson }}\n"}}`), before: `{}`, want: `{"a":{"k":"hello","l":["a",{"b":1}]}}`},
		{name: "switched on", patch: `{enabledIf: "{{ .yes1 }}", ` + onControlPlane(`{op: add, path: /spec/template/spec/a, value: 1}`)[1:], before: `{}`, want: `{"a":1}`},
		{name: "switched off", patch: `{enabledIf: "{{ .no1 }}", ` + onControlPlane(`{op: add, path: /spec/template/spec/a, value: 1}`)[1:], before: `{}`, want: `{}`},
		{name: "a switch that is not set", patch: `{enabledIf: "{{ if .unset }}true{{ end }}", ` + onControlPlane(`{op: add, path: /spec/template/spec/a, value: 1}`)[1:], before: `{}`, want: `{}`},

		{name: "metadata is out of reach", patch: onControlPlane(`{op: add, path: /spec/template/metadata/labels/x, value: y}`), before: `{}`, err: "only /spec/template/spec and what is below it can be changed"},
		{name: "a name that only begins like it", patch: onControlPlane(`{op: add, path: /spec/template/specification, value: y}`), before: `{}`, err: "only /spec/template/spec and what is below it can be changed"},
		{name: "BC-09: a field that is not there", patch: onControlPlane(`{op: remove, path: /spec/template/spec/x}`), before: `{}`, err: "patch p: ControlPlane ControlPlaneTemplate: definitions[0].jsonPatches[0] (remove /spec/template/spec/x): "},
		{name: "no parent", patch: onControlPlane(`{op: add, path: /spec/template/spec/x/y, value: 1}`), before: `{}`, err: "(add /spec/template/spec/x/y): "},
		{name: "a variable without value", patch: onControlPlane(`{op: add, path: /spec/template/spec/x, valueFrom: {variable: unset}}`), before: `{}`, err: "variable unset has no value"},
		{name: "a field of a text", patch: onControlPlane(`{op: add, path: /spec/template/spec/x, valueFrom: {variable: text.field}}`), before: `{}`, err: "variable text.field cannot be used: .field follows what is no object"},
		{name: "beyond the end of a list", patch: onControlPlane(`{op: add, path: /spec/template/spec/x, valueFrom: {variable: "list[2]"}}`), before: `{}`, err: "variable list[2] has no value"},
		{name: "a template over nothing", patch: onControlPlane(`{op: add, path: /spec/template/spec/x, valueFrom: {template: "{{ .unset }}"}}`), before: `{}`, err: "the template prints {{ .unset }}, which has no value; if that"},
		{name: "a template that is none", patch: onControlPlane(`{op: add, path: /spec/template/spec/x, valueFrom: {template: "{{ .text"}}`), before: `{}`, err: "unclosed action"},
		{name: "a template that gives no YAML", patch: onControlPlane(`{op: add, path: /spec/template/spec/x, valueFrom: {template: "a: b: c"}}`), before: `{}`, err: "the output of the template is no YAML"},
		{name: "no environment", patch: onControlPlane(`{op: add, path: /spec/template/spec/x, valueFrom: {template: "{{ env \"HOME\" }}"}}`), before: `{}`, err: `function "env" not defined`},
		{name: "no endless text", patch: onControlPlane(`{op: add, path: /spec/template/spec/x, valueFrom: {template: "{{ repeat 1000000000 \"x\" }}"}}`), before: `{}`, err: "repeat makes more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := []Template{aTemplate(ControlPlane, "", "ControlPlaneTemplate", c.before)}
			p := []clusterv1.ClusterClassPatch{patch(t, c.patch)}
			out, err := Apply(t.Context(), p, values(t, vars), in, nil)
			assert.Equal(t, spec(t, aTemplate(ControlPlane, "", "", c.before)), spec(t, in[0]), "the input stays as it is")
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				for range 20 {
					_, again := Apply(t.Context(), p, values(t, vars), in, nil)
					require.EqualError(t, again, err.Error(), "the same error each time")
				}
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, spec(t, out[0]))
			assert.Equal(t, map[string]any{"a": "b"}, out[0].Object.Object["spec"].(map[string]any)["template"].(map[string]any)["metadata"].(map[string]any)["labels"])
		})
	}
}

// Conformance: TP-20
func TestSelectors(t *testing.T) {
	all := func() []Template {
		return []Template{
			aTemplate(InfrastructureCluster, "", "A", "{}"), aTemplate(ControlPlane, "", "B", "{}"), aTemplate(ControlPlaneMachine, "", "M", "{}"),
			aTemplate(MachineDeploymentBootstrap, "linux-big", "K", "{}"), aTemplate(MachineDeploymentInfrastructure, "linux-big", "M", "{}"),
			aTemplate(MachineDeploymentInfrastructure, "windows", "M", "{}"), aTemplate(MachinePoolInfrastructure, "linux-big", "M", "{}"),
		}
	}
	for _, c := range []struct {
		name, kind, match string
		want              []int
	}{
		{"the infrastructure cluster", "A", "{infrastructureCluster: true}", []int{0}},
		{"the control plane", "B", "{controlPlane: true}", []int{1}},
		{"its machines", "M", "{controlPlane: true}", []int{2}},
		{"not the control plane", "M", "{controlPlane: false}", nil},
		{"a worker class by name", "M", "{machineDeploymentClass: {names: [windows]}}", []int{5}},
		{"worker classes by their beginning", "M", "{machineDeploymentClass: {names: ['linux-*']}}", []int{4}},
		{"worker classes by their end", "M", "{machineDeploymentClass: {names: ['*-big']}}", []int{4}},
		{"all worker classes", "M", "{machineDeploymentClass: {names: ['*']}}", []int{4, 5}},
		{"their bootstrap templates", "K", "{machineDeploymentClass: {names: ['*']}}", []int{3}},
		{"pools", "M", "{machinePoolClass: {names: ['*']}}", []int{6}},
		{"several roles", "M", "{controlPlane: true, machineDeploymentClass: {names: [windows]}, machinePoolClass: {names: [linux-big]}}", []int{2, 5, 6}},
		{"another kind", "Z", "{controlPlane: true}", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := patch(t, `{definitions: [{selector: {apiVersion: example.com/v1, kind: `+c.kind+`, matchResources: `+c.match+`}, jsonPatches: [{op: add, path: /spec/template/spec/x, value: 1}]}]}`)
			out, err := Apply(t.Context(), []clusterv1.ClusterClassPatch{p}, nil, all(), nil)
			require.NoError(t, err)
			var got []int
			for i, o := range out {
				if spec(t, o) == `{"x":1}` {
					got = append(got, i)
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// Conformance: TP-23
func TestEachTemplateHasItsOwnValues(t *testing.T) {
	one, two := aTemplate(MachineDeploymentInfrastructure, "a", "M", "{}"), aTemplate(MachineDeploymentInfrastructure, "b", "M", "{}")
	one.Values = values(t, `{size: big, builtin: {machineDeployment: {topologyName: one}}}`)
	two.Values = values(t, `{builtin: {machineDeployment: {topologyName: two}}}`)
	p := patch(t, `{definitions: [{selector: {apiVersion: example.com/v1, kind: M, matchResources: {machineDeploymentClass: {names: ['*']}}}, jsonPatches: [{op: add, path: /spec/template/spec/x, valueFrom: {template: "{{ .size }} {{ .builtin.cluster.name }} {{ .builtin.machineDeployment.topologyName }}"}}]}]}`)
	out, err := Apply(t.Context(), []clusterv1.ClusterClassPatch{p}, values(t, `{size: small, builtin: {cluster: {name: c}}}`), []Template{one, two}, nil)
	require.NoError(t, err)
	assert.Equal(t, `{"x":"big c one"}`, spec(t, out[0]))
	assert.Equal(t, `{"x":"small c two"}`, spec(t, out[1]))
}

// extension answers each request with the same items.
type extension struct {
	items   []hooks.GeneratePatchesResponseItem
	refuse  error
	seen    *hooks.GeneratePatchesRequest
	checked *hooks.ValidateTopologyRequest
}

func (e *extension) GeneratePatches(_ context.Context, _ string, r *hooks.GeneratePatchesRequest) (*hooks.GeneratePatchesResponse, error) {
	e.seen = r
	return &hooks.GeneratePatchesResponse{Items: e.items}, e.refuse
}

func (e *extension) ValidateTopology(_ context.Context, _ string, r *hooks.ValidateTopologyRequest) error {
	e.checked = r
	return e.refuse
}

// Conformance: TP-24
func TestExternalPatches(t *testing.T) {
	p := []clusterv1.ClusterClassPatch{patch(t, `{external: {generatePatchesExtension: e, validateTopologyExtension: v, settings: {k: v}}}`)}
	in := []Template{aTemplate(ControlPlane, "", "B", "{a: 1}")}
	item := func(kind hooks.PatchType, text string) []hooks.GeneratePatchesResponseItem {
		return []hooks.GeneratePatchesResponseItem{{UID: in[0].UID, PatchType: kind, Patch: []byte(text)}}
	}
	e := &extension{items: item(hooks.JSONMergePatchType, `{"metadata":{"labels":{"x":"y"}},"spec":{"template":{"spec":{"b":2}}}}`)}
	out, err := Apply(t.Context(), p, values(t, "{v: 1, a: 2}"), in, e)
	require.NoError(t, err)
	assert.Equal(t, `{"a":1,"b":2}`, spec(t, out[0]))
	assert.Empty(t, out[0].Object.GetLabels(), "only the spec of the template changes")
	assert.Equal(t, map[string]string{"k": "v"}, e.seen.Settings)
	assert.Equal(t, "a", e.seen.Variables[0].Name, "variables come in order")
	assert.Equal(t, out[0].Object, e.checked.Items[0].Object.Object, "what is judged is the result")

	e = &extension{items: item(hooks.JSONPatchType, `[{"op":"remove","path":"/spec/template/spec/a"}]`)}
	out, err = Apply(t.Context(), p, nil, in, e)
	require.NoError(t, err)
	assert.Equal(t, `{}`, spec(t, out[0]))

	for want, bad := range map[string]*extension{
		"unknown type of patches": {items: item("Other", `{}`)},
		"not asked about":         {items: []hooks.GeneratePatchesResponseItem{{UID: "other", PatchType: hooks.JSONPatchType, Patch: []byte("[]")}}},
		"reading the JSON patch":  {items: item(hooks.JSONPatchType, `{`)},
		"it is full moon":         {refuse: errors.New("it is full moon")},
	} {
		_, err := Apply(t.Context(), p, nil, in, bad)
		require.ErrorContains(t, err, want)
	}
	_, err = Apply(t.Context(), p, nil, in, nil)
	require.ErrorContains(t, err, "feature gate RuntimeSDK")
}

// Conformance: TP-22
func TestFunctionsGiveTheSameEachTime(t *testing.T) {
	for _, name := range []string{"env", "expandenv", "getHostByName", "now", "date", "ago", "randAlpha", "randInt", "uuidv4", "shuffle", "genPrivateKey", "bcrypt", "encryptAES", "toDate"} {
		assert.NotContains(t, Functions(), name)
	}
	vars, err := decode(values(t, `{m: {z: 1, a: 2, q: 3, b: 4, w: 5}}`))
	require.NoError(t, err)
	const text = `{{ keys .m | join "," }} {{ values .m | join "," }} {{ until 3 }} {{ untilStep 5 0 -2 }} {{ seq 1 3 }} {{ "a\nb" | nindent 2 }}`
	first, err := render(text, vars)
	require.NoError(t, err)
	assert.Equal(t, "a,b,q,w,z 2,4,3,5,1 [0 1 2] [5 3 1] 1 2 3 \n  a\n  b", first)
	for range 50 {
		again, err := render(text, vars)
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	for _, greedy := range []string{`{{ until 100000000 }}`, `{{ untilStep 0 100000000 1 }}`, `{{ untilStep 0 5 0 }}`, `{{ seq 1 100000000 }}`, `{{ indent 100000000 "x" }}`, `{{ range until 10000 }}{{ repeat 1000 "x" }}{{ end }}`} {
		_, err := render(greedy, nil)
		require.Error(t, err, greedy)
	}
}

// A misspelt variable is named, with those it may be meant for.
func TestMisspeltVariables(t *testing.T) {
	vars, err := decode(values(t, `{imageRepository: r, zones: [{name: a}], builtin: {cluster: {name: c}}, users: {list: [1]}, "10": x}`))
	require.NoError(t, err)
	for text, want := range map[string]string{
		`image: "{{ .imageRepositry }}/x"`:                                                 "{{ .imageRepositry }}, which has no value (did you mean imageRepository?)",
		`{{ if .imageRepositry }}{{ .imageRepositry }}{{ end }}{{ .builtin.cluster.nam }}`: "{{ .builtin.cluster.nam }}, which has no value (did you mean builtin.cluster.name?)",
		`{{ range .zones }}{{ .nane }}{{ end }}`:                                           "{{ .nane }}, which has no value (did you mean name?)",
		`{{ range .zones }}{{ $.zonez }}{{ end }}`:                                         "{{ $.zonez }}, which has no value (did you mean $.zones?)",
		`{{ with .builtin }}{{ .cluster.nme }}{{ else }}{{ end }}`:                         "{{ .cluster.nme }}, which has no value (did you mean cluster.name?)",
		`{{ define "x" }}{{ .usrs }}{{ end }}{{ template "x" . }}`:                         "{{ .usrs }}, which has no value (did you mean users?)",
		`{{ index .users "nothing" }}`:                                                     `{{ index .users "nothing" }}, which has no value; if`,
		`{{ .entirelyDifferent }}`:                                                         "{{ .entirelyDifferent }}, which has no value; if",
		`{{ $x := .zonez }}{{ $x }}`:                                                       "{{ $x }}, which has no value; if",
	} {
		_, err := renderValue(text, vars)
		assert.ErrorContains(t, err, "the template prints "+want, text)
	}
	path, err := ParsePath("builtin.clutser.name")
	require.NoError(t, err)
	_, err = lookup(vars, path)
	require.ErrorIs(t, err, ErrNoValue)
	assert.EqualError(t, err, "variable builtin.clutser.name has no value (did you mean cluster?)")
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"a", "a.b", "a[0].b", "a[0][1]", "a[", "[0]", "a..b", "a[-1]", "a[00]", "builtin.cluster.name"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			return
		}
		require.NotEmpty(t, p.Variable())
		_, err = lookup(map[string]any{p.Variable(): []any{map[string]any{"b": 1}}}, p)
		_ = err // it must only not panic
	})
}

func FuzzTemplatesDoNotPanic(f *testing.F) {
	for _, seed := range []string{`{{ .a }}`, `{{ until 5 }}`, `{{ repeat -1 "x" }}`, `{{ substr 5 1 "abc" }}`, `{{ index .l 7 }}`, `{{ slice .l 3 9 }}`, `{{ trunc -5 "abc" }}`, `{{ dig "a" "b" 1 . }}`} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = renderValue(text, map[string]any{"a": "b", "l": []any{int64(1)}})
	})
}
