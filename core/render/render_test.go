package render

import (
	"io/fs"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-capi/slipway/core/config"
)

const boats = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boattemplates.infra.io}
spec:
  group: infra.io
  names: {kind: BoatTemplate, listKind: BoatTemplateList, plural: boattemplates, singular: boattemplate}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {template: {type: object, properties: {spec: {type: object, properties: {
      length: {type: integer, minimum: 1}, sail: {type: string, default: white}}}}}}}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: fleet}
spec:
  infrastructure: {templateRef: {apiVersion: infra.io/v1, kind: HarbourTemplate, name: a}}
  controlPlane: {templateRef: {apiVersion: cp.io/v1, kind: BridgeTemplate, name: a}}
  workers:
    machineDeployments:
    - class: linux
      bootstrap: {templateRef: {apiVersion: boot.io/v1, kind: CrewTemplate, name: a}}
      infrastructure: {templateRef: {apiVersion: infra.io/v1, kind: BoatTemplate, name: a}}
  variables:
  - {name: length, required: true, schema: {openAPIV3Schema: {type: integer}}}
  - {name: flag, required: false, schema: {openAPIV3Schema: {type: string, default: blue}}}
  patches:
  - name: boats
    definitions:
    - selector: {apiVersion: infra.io/v1, kind: BoatTemplate, matchResources: {machineDeploymentClass: {names: ["*"]}}}
      jsonPatches:
      - {op: replace, path: /spec/template/spec/length, valueFrom: {variable: length}}
  - name: flags
    definitions:
    - selector: {apiVersion: cp.io/v1, kind: BridgeTemplate, matchResources: {controlPlane: true}}
      jsonPatches:
      - {op: add, path: /spec/template/spec/flag, valueFrom: {template: "{{ .flag }} of {{ .builtin.controlPlane.name }}"}}
---
{apiVersion: infra.io/v1, kind: HarbourTemplate, metadata: {name: a}, spec: {template: {spec: {depth: 3}}}}
---
{apiVersion: cp.io/v1, kind: BridgeTemplate, metadata: {name: a}, spec: {template: {spec: {}}}}
---
{apiVersion: boot.io/v1, kind: CrewTemplate, metadata: {name: a}, spec: {template: {spec: {}}}}
---
{apiVersion: infra.io/v1, kind: BoatTemplate, metadata: {name: a}, spec: {template: {spec: {length: 1}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec:
  topology:
    classRef: {name: fleet}
    version: 1.37.2
    variables: [{name: length, value: 7}]
    workers:
      machineDeployments:
      - {class: linux, name: one, replicas: 2}
      - {class: linux, name: two, replicas: 1, variables: {overrides: [{name: length, value: 9}]}}
`

func parse(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for document := range strings.SplitSeq(text, "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(document))
		require.NoError(t, err)
		o := &unstructured.Unstructured{}
		require.NoError(t, o.UnmarshalJSON(raw))
		out = append(out, o)
	}
	return out
}

// core are the definitions of the core's kinds.
func core(t testing.TB) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	require.NoError(t, fs.WalkDir(config.CRDs, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(config.CRDs, path)
		require.NoError(t, err)
		out = append(out, parse(t, strings.TrimPrefix(string(raw), "---\n"))...)
		return nil
	}))
	return out
}

// request is the fleet with changes to one of its documents.
func request(t testing.TB, kind, changes string) Request {
	t.Helper()
	r := Request{Objects: parse(t, boats)}
	for _, o := range r.Objects {
		if o.GetKind() == kind {
			document, err := yaml.YAMLToJSON([]byte("[" + changes + "]"))
			require.NoError(t, err)
			patch, err := jsonpatch.DecodePatch(document)
			require.NoError(t, err)
			raw, err := o.MarshalJSON()
			require.NoError(t, err)
			raw, err = patch.Apply(raw)
			require.NoError(t, err)
			require.NoError(t, o.UnmarshalJSON(raw))
		}
		if o.GetKind() == "Cluster" {
			r.Cluster = o
		}
	}
	return r
}

func renderer(t testing.TB) *Renderer {
	t.Helper()
	r, err := New(append(core(t), parse(t, boats)...)...)
	require.NoError(t, err)
	return r
}

func names(result *Result) []string {
	var out []string
	for _, o := range result.Objects {
		out = append(out, o.GetKind()+" "+o.GetName())
	}
	return out
}

func at(t testing.TB, o *unstructured.Unstructured, path ...string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	require.NoError(t, err)
	return value
}

// Conformance: TP-36
func TestRender(t *testing.T) {
	r := renderer(t)
	result, err := r.Render(t.Context(), request(t, "", ""))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"Cluster c", "Harbour c-xxxxx", "Bridge c-xxxxx",
		"CrewTemplate c-one-xxxxx-xxxxx", "BoatTemplate c-one-xxxxx-xxxxx", "MachineDeployment c-one-xxxxx",
		"CrewTemplate c-two-xxxxx-xxxxx", "BoatTemplate c-two-xxxxx-xxxxx", "MachineDeployment c-two-xxxxx",
	}, names(result))
	assert.Equal(t, []string{"patches are not compared with their templates: there is no CustomResourceDefinition of BridgeTemplate (cp.io/v1)"}, result.Warnings)

	cluster := result.Objects[0]
	assert.Equal(t, "v1.37.2", at(t, cluster, "spec", "topology", "version"), "what admission fills in")
	assert.Equal(t, []any{map[string]any{"name": "length", "value": int64(7)}, map[string]any{"name": "flag", "value": "blue"}}, at(t, cluster, "spec", "topology", "variables"))
	assert.Equal(t, "c-xxxxx", at(t, cluster, "spec", "controlPlaneRef", "name"))
	assert.Equal(t, "blue of c-xxxxx", at(t, result.Objects[2], "spec", "flag"))
	for i, length := range map[int]int64{4: 7, 7: 9} {
		assert.Equal(t, map[string]any{"length": length, "sail": "white"}, at(t, result.Objects[i], "spec", "template", "spec"), "with the defaults of templates, and overrides")
	}
	again, err := r.Render(t.Context(), request(t, "", ""))
	require.NoError(t, err)
	assert.Equal(t, result, again)

	floats := request(t, "", "")
	for _, o := range floats.Objects {
		if o.GetKind() == "BoatTemplate" {
			require.NoError(t, unstructured.SetNestedField(o.Object, 1.0, "spec", "template", "spec", "length"))
		}
	}
	again, err = r.Render(t.Context(), floats)
	require.NoError(t, err)
	assert.Equal(t, result, again, "numbers that were read as floats")
}

// Conformance: TP-36
func TestWhatCannotBeRenderedIsNamed(t *testing.T) {
	r := renderer(t)
	for _, c := range []struct{ name, kind, change, want string }{
		{"a variable that is missing", "Cluster", `{op: remove, path: /spec/topology/variables}`, "Cluster c: spec.topology.variables[length]: Required value: class fleet requires a value"},
		{"a variable of another type", "Cluster", `{op: replace, path: /spec/topology/variables/0/value, value: x}`, "Cluster c: spec.topology.variables[length].value: Invalid value"},
		{"a variable that is unknown", "Cluster", `{op: replace, path: /spec/topology/variables/0/name, value: lenght}`, "class fleet has no variable of this name; it has length, flag"},
		{"a worker class that is unknown", "Cluster", `{op: replace, path: /spec/topology/workers/machineDeployments/0/class, value: x}`, "class fleet has no such worker class; it has linux"},
		{"a version that is none", "Cluster", `{op: replace, path: /spec/topology/version, value: new}`, "Cluster c: spec.topology.version: Invalid value"},
		{"a field that does not exist", "Cluster", `{op: add, path: /spec/topology/wrokers, value: {}}`, "Cluster c: spec.topology.wrokers: Forbidden: the kind has no such field"},
		{"another class", "Cluster", `{op: replace, path: /spec/topology/classRef/name, value: x}`, "there is no ClusterClass default/x, to which Cluster c refers; there is default/fleet"},
		{"no class", "Cluster", `{op: remove, path: /spec/topology}, {op: add, path: /spec/infrastructureRef, value: {apiGroup: a.io, kind: A, name: a}}`, "Cluster c: spec.topology.classRef: Required value"},
		{"an old version of the API", "Cluster", `{op: replace, path: /apiVersion, value: cluster.x-k8s.io/v1beta1}`, "Cluster c: apiVersion must be cluster.x-k8s.io/v1beta2"},

		{"a class that admission refuses", "ClusterClass", `{op: replace, path: /spec/patches/0/definitions/0/jsonPatches/0/valueFrom/variable, value: x}`, "ClusterClass fleet: spec.patches[0].definitions[0].jsonPatches[0].valueFrom.variable: Unsupported value"},
		{"a path that the template does not have", "ClusterClass", `{op: replace, path: /spec/patches/0/definitions/0/jsonPatches/0/path, value: /spec/template/spec/lenght}`, "ClusterClass fleet: spec.patches[0].definitions[0].jsonPatches[0].path: Invalid value: \"/spec/template/spec/lenght\": BoatTemplate has no field spec.template.spec.lenght; did you mean length?"},
		{"a patch that fails", "ClusterClass", `{op: replace, path: /spec/patches/1/definitions/0/jsonPatches/0/op, value: replace}`, "ClusterClass fleet: patch flags: ControlPlane BridgeTemplate: definitions[0].jsonPatches[0] (replace /spec/template/spec/flag)"},
		{"a template that is not there", "ClusterClass", `{op: replace, path: /spec/infrastructure/templateRef/name, value: x}`, "ClusterClass fleet: there is no HarbourTemplate x (infra.io/v1) in namespace default, to which the class refers"},
		{"a patch that breaks a rule of the kind", "Cluster", `{op: replace, path: /spec/topology/variables/0/value, value: -1}`, "BoatTemplate c-one-xxxxx-xxxxx, which the class makes: spec.template.spec.length: Invalid value: -1"},
		{"a template that breaks a rule of its kind", "BoatTemplate", `{op: replace, path: /spec/template/spec/length, value: 0}`, "BoatTemplate a, a template of the class: spec.template.spec.length: Invalid value: 0"},
		{"an extension", "ClusterClass", `{op: add, path: /spec/patches/-, value: {name: ext, external: {generatePatchesExtension: e}}}`, "ClusterClass fleet: patch ext: it is external"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := r.Render(t.Context(), request(t, c.kind, c.change))
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := r.Render(t.Context(), Request{})
	require.ErrorContains(t, err, "there is no Cluster")
	_, err = New(&unstructured.Unstructured{Object: map[string]any{"kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "x"}, "spec": 1}})
	require.ErrorContains(t, err, "CustomResourceDefinition x")
}

func TestExtensionsCanBeLeftOut(t *testing.T) {
	r := request(t, "ClusterClass", `{op: add, path: /spec/patches/-, value: {name: ext, external: {generatePatchesExtension: e, validateTopologyExtension: v}}}`)
	r.SkipExternal = true
	result, err := renderer(t).Render(t.Context(), r)
	require.NoError(t, err)
	assert.Contains(t, result.Warnings, "extension e was not asked: what it would change or refuse is not shown")
	assert.Contains(t, result.Warnings, "extension v was not asked: what it would change or refuse is not shown")
}

// What was read from a management cluster renders like what was written by hand.
func TestStoredObjectsRender(t *testing.T) {
	want, err := renderer(t).Render(t.Context(), request(t, "", ""))
	require.NoError(t, err)
	stored := request(t, "", "")
	for _, o := range stored.Objects {
		o.SetNamespace("default")
		o.SetResourceVersion("7")
		o.SetUID("u")
		o.SetGeneration(3)
		o.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"})
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: "Apply"}})
	}
	require.NoError(t, unstructured.SetNestedField(stored.Cluster.Object, "Provisioned", "status", "phase"))
	have, err := renderer(t).Render(t.Context(), stored)
	require.NoError(t, err)
	assert.Equal(t, want.Objects, have.Objects)
}

func TestEverythingIsInTheNamespaceOfTheCluster(t *testing.T) {
	result, err := renderer(t).Render(t.Context(), request(t, "Cluster", `{op: add, path: /metadata/namespace, value: team}`))
	require.NoError(t, err)
	for _, o := range result.Objects {
		assert.Equal(t, "team", o.GetNamespace(), o.GetKind())
	}
	_, err = renderer(t).Render(t.Context(), request(t, "ClusterClass", `{op: add, path: /metadata/namespace, value: team}`))
	require.ErrorContains(t, err, "there is no ClusterClass default/fleet, to which Cluster c refers; there is team/fleet")
}

// Without the name of the group in their names, two groups would be taken for one.
func TestNamesThatWouldBeTheSameDiffer(t *testing.T) {
	r := request(t, "ClusterClass", `{op: add, path: /spec/workers/machineDeployments/0/naming, value: {template: "{{ .cluster.name }}-w-{{ .random }}"}}`)
	result, err := renderer(t).Render(t.Context(), r)
	require.NoError(t, err)
	assert.False(t, twice(result.Objects))
	require.Len(t, result.Objects, 9)
	assert.Equal(t, int64(7), at(t, result.Objects[4], "spec", "template", "spec", "length"))
	assert.Equal(t, int64(9), at(t, result.Objects[7], "spec", "template", "spec", "length"))
	again, err := renderer(t).Render(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, names(result), names(again))
}
