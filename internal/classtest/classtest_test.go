package classtest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/slipway-capi/slipway/internal/terminal"
)

const class = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: fleet}
spec:
  infrastructure: {templateRef: {apiVersion: infra.io/v1, kind: HarbourTemplate, name: a}}
  controlPlane: {templateRef: {apiVersion: cp.io/v1, kind: BridgeTemplate, name: a}}
  variables:
  - {name: depth, required: true, schema: {openAPIV3Schema: {type: integer}}}
  patches:
  - name: depth
    definitions:
    - selector: {apiVersion: infra.io/v1, kind: HarbourTemplate, matchResources: {infrastructureCluster: true}}
      jsonPatches:
      - {op: add, path: /spec/template/spec/depth, valueFrom: {variable: depth}}
---
{apiVersion: infra.io/v1, kind: HarbourTemplate, metadata: {name: a}, spec: {template: {spec: {cranes: [{id: 1, colour: red}, {id: 2}]}}}}
---
{apiVersion: cp.io/v1, kind: BridgeTemplate, metadata: {name: a}, spec: {template: {spec: {}}}}
`

const cluster = `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: c}, spec: {topology: {classRef: {name: fleet}, version: v1.37.2, variables: [{name: depth, value: 3}]}}}
`

// folder holds the class, a Cluster and a test of cases.
func folder(t testing.TB, cases string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"class.yaml": class, "cluster.yaml": cluster, "fleet.test.yaml": "apiVersion: slipway.dev/v1alpha1\nkind: ClassTest\nmetadata: {name: fleet}\nfiles: [class.yaml]\ncases:\n" + cases,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func run(t testing.TB, dir string, update bool) []Outcome {
	t.Helper()
	tests, err := Find([]string{dir})
	require.NoError(t, err)
	outcomes, err := Runner{Update: update}.Run(t.Context(), tests)
	require.NoError(t, err)
	return outcomes
}

// Conformance: TP-37
func TestCases(t *testing.T) {
	const name = "- name: x\n  "
	for _, c := range []struct{ name, text, want, diff string }{
		{name: "it renders", text: `clusterFile: cluster.yaml`},
		{name: "a part of an object", text: `{clusterFile: cluster.yaml, expected: [{kind: Harbour, spec: {depth: 3, cranes: [{id: 1}, {id: 2, colour: null}]}}]}`},
		{name: "a changed Cluster", text: `{clusterFile: cluster.yaml, changes: {metadata: {name: d}, spec: {topology: {variables: [{name: depth, value: 4}]}}}, expected: [{kind: Harbour, metadata: {name: d-xxxxx}, spec: {depth: 4}}]}`},
		{name: "a Cluster of its own", text: `{cluster: {apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: e}, spec: {topology: {classRef: {name: fleet}, version: v1.37.2, variables: [{name: depth, value: 5}]}}}, expected: [{kind: Cluster, metadata: {name: e}}, {kind: Harbour, spec: {depth: 5}}]}`},
		{name: "an error", text: `{clusterFile: cluster.yaml, changes: {spec: {topology: {variables: null}}}, expectError: "spec.topology.variables[depth]: Required value"}`},

		{name: "another value", text: `{clusterFile: cluster.yaml, expected: [{kind: Harbour, spec: {depth: 4}}]}`, want: "Harbour c-xxxxx is not as expected", diff: "-  depth: 4\n+  depth: 3\n"},
		{name: "a field that should not be there", text: `{clusterFile: cluster.yaml, expected: [{kind: Harbour, spec: {depth: null}}]}`, want: "is not as expected", diff: "-  depth: null\n+  depth: 3\n"},
		{name: "a field that should be there", text: `{clusterFile: cluster.yaml, expected: [{kind: Harbour, spec: {width: 4}}]}`, want: "is not as expected", diff: "-  width: 4\n"},
		{name: "a list of another length", text: `{clusterFile: cluster.yaml, expected: [{kind: Harbour, spec: {cranes: [{id: 1}]}}]}`, want: "is not as expected", diff: "+  - id: 2\n"},
		{name: "an object that is not made", text: `{clusterFile: cluster.yaml, expected: [{kind: Harbour, metadata: {name: x}}]}`, want: "no Harbour x is made; there are Cluster c, Harbour c-xxxxx, Bridge c-xxxxx"},
		{name: "an object that is made", text: `{clusterFile: cluster.yaml, unexpected: [{kind: Harbour, name: x}, {kind: Bridge}]}`, want: "Bridge c-xxxxx is made, which must not be"},
		{name: "no error", text: `{clusterFile: cluster.yaml, expectError: depth}`, want: `the Cluster is accepted; an error with "depth" was expected`},
		{name: "another error", text: `{clusterFile: cluster.yaml, changes: {spec: {topology: {variables: null}}}, expectError: width}`, want: "refused for another reason", diff: "-width\n+Cluster c: spec.topology.variables[depth]: Required value"},
		{name: "an error that is not expected", text: `{clusterFile: cluster.yaml, changes: {spec: {topology: {variables: null}}}}`, want: "the Cluster cannot be rendered: Cluster c: spec.topology.variables[depth]: Required value"},
		{name: "no Cluster", text: `expected: []`, want: "there must be one Cluster, not 0"},
		{name: "no such file", text: `clusterFile: none.yaml`, want: "the Cluster of the case cannot be read"},
		{name: "no golden file", text: `{clusterFile: cluster.yaml, golden: none.yaml}`, want: "the golden file cannot be read (--update writes it)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var one map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(c.text), &one))
			text, err := yaml.Marshal(one)
			require.NoError(t, err)
			outcomes := run(t, folder(t, name+strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  ")+"\n"), false)
			require.Len(t, outcomes, 1)
			if c.want == "" {
				assert.Empty(t, outcomes[0].Problems)
				assert.True(t, outcomes[0].Passed)
				return
			}
			assert.False(t, outcomes[0].Passed)
			require.Len(t, outcomes[0].Problems, 1)
			assert.Contains(t, outcomes[0].Problems[0].What, c.want)
			assert.Contains(t, outcomes[0].Problems[0].Diff, c.diff)
			assert.NotContains(t, outcomes[0].Problems[0].Diff, "\n \n", "no line that is empty")
		})
	}
}

// Conformance: TP-37
func TestGoldenFiles(t *testing.T) {
	dir := folder(t, "- {name: x, clusterFile: cluster.yaml, golden: testdata/x.yaml}\n")
	golden := filepath.Join(dir, "testdata", "x.yaml")
	outcomes := run(t, dir, true)
	assert.True(t, outcomes[0].Passed)
	assert.Equal(t, golden, outcomes[0].Updated)
	outcomes = run(t, dir, true)
	assert.Empty(t, outcomes[0].Updated, "nothing to write")

	content, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(golden, bytes.ReplaceAll(content, []byte("depth: 3"), []byte("depth: 2")), 0o600))
	outcomes = run(t, dir, false)
	require.Len(t, outcomes[0].Problems, 1)
	assert.Contains(t, outcomes[0].Problems[0].Diff, "-  depth: 2\n+  depth: 3\n")
}

func TestTestsThatMeanNothingAreRefused(t *testing.T) {
	for want, cases := range map[string]string{
		"needs files":                  "",
		"cases[0] needs a name":        "- {clusterFile: x}\n",
		`two cases "x"`:                "- {name: x}\n- {name: x}\n",
		"both cluster and clusterFile": "- {name: x, clusterFile: x, cluster: {kind: Cluster}}\n",
		"expects an error and objects": "- {name: x, expectError: x, golden: y}\n",
		"expected[0] needs a kind":     "- {name: x, expected: [{metadata: {name: y}}]}\n",
		`unknown field "expc"`:         "- {name: x, expc: []}\n",
	} {
		_, err := Find([]string{folder(t, cases)})
		assert.ErrorContains(t, err, want)
	}
	dir := folder(t, "- {name: x}\n")
	_, err := Find([]string{filepath.Join(dir, "class.yaml")})
	assert.ErrorContains(t, err, "holds no ClassTest")
	_, err = Find([]string{filepath.Join(dir, "none")})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestReports(t *testing.T) {
	outcomes := []Outcome{
		{File: "a.yaml", Test: "t", Case: "good", Passed: true, Updated: "g.yaml", Warnings: []string{"w"}},
		{File: "a.yaml", Test: "t", Case: "bad", Problems: []Problem{{"A b is not as expected", "--- expected\n+++ made\n@@ -1 +1 @@\n-x: 1\n+x: 2\n"}}},
	}
	assert.Equal(t, 1, Failed(outcomes))
	var out bytes.Buffer
	require.NoError(t, Print(&out, outcomes))
	assert.Equal(t, `PASS  a.yaml  t: good
      g.yaml is written
      warning: w
FAIL  a.yaml  t: bad
      A b is not as expected
        --- expected
        +++ made
        @@ -1 +1 @@
        -x: 1
        +x: 2
`, out.String(), "no colours where there is no terminal")
	assert.Equal(t, []terminal.Style{terminal.Strong, terminal.Strong, terminal.Faint, terminal.Bad, terminal.Good, terminal.Plain},
		[]terminal.Style{style("--- a"), style("+++ a"), style("@@ a"), style("-a"), style("+a"), style(" a")})

	out.Reset()
	require.NoError(t, Print(&out, outcomes[:1]))
	assert.Contains(t, out.String(), "All cases passed: 1\n")

	out.Reset()
	require.NoError(t, PrintJSON(&out, outcomes))
	var report map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &report))
	assert.EqualValues(t, 1, report["passed"])
	assert.EqualValues(t, 1, report["failed"])
	assert.Len(t, report["cases"], 2)
}
