package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/internal/manifests"
)

const dockerClass = "../../docs/quickstart/docker-clusterclass.yaml"

func TestClassRender(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	out, said, err := run(t, "class", "render", "-f", dockerClass, "--state-dir", t.TempDir())
	require.NoError(t, err)
	assert.Empty(t, said, "the quick start gives no warnings")
	objects, err := manifests.Parse([]byte(out))
	require.NoError(t, err)
	var kinds []string
	for _, o := range objects {
		kinds = append(kinds, o.GetKind())
	}
	assert.Equal(t, "Cluster DevCluster DevMachineTemplate KubeadmControlPlane KubeadmConfigTemplate DevMachineTemplate MachineDeployment", strings.Join(kinds, " "))

	out, _, err = run(t, "class", "render", "-f", dockerClass, "-o", "json")
	require.NoError(t, err)
	var list struct {
		Kind  string
		Items []any
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	assert.Equal(t, "List", list.Kind)
	assert.Len(t, list.Items, len(objects))
}

func TestClassTestEndsWithAnError(t *testing.T) {
	class, err := os.ReadFile(dockerClass)
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	write("class.yaml", string(class))
	test := write("class.test.yaml", `{apiVersion: slipway.dev/v1alpha1, kind: ClassTest, metadata: {name: t}, files: [class.yaml], cases: [
		{name: good, expected: [{kind: KubeadmControlPlane, spec: {replicas: 1}}]}, {name: bad, expected: [{kind: KubeadmControlPlane, spec: {replicas: 3}}]}]}`)
	out, _, err := run(t, "class", "test", dir)
	require.EqualError(t, err, "1 of 2 cases failed")
	assert.Contains(t, out, "PASS  "+test+"  t: good\n")
	assert.Contains(t, out, "FAIL  "+test+"  t: bad\n")
	assert.Contains(t, out, "-  replicas: 3\n")
	assert.NotContains(t, out, "\x1b", "no colours where there is no terminal")

	out, _, err = run(t, "class", "test", test, "-o", "json")
	require.EqualError(t, err, "1 of 2 cases failed")
	var report struct{ Passed, Failed int }
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.Equal(t, 1, report.Passed)
	assert.Equal(t, 1, report.Failed)
}

func TestWrongArgumentsOfClass(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.yaml")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for want, args := range map[string][]string{
		`required flag(s) "filename"`:       {"class", "render"},
		"--output must be yaml or json":     {"class", "render", "-f", dockerClass, "-o", "text"},
		"the files are empty":               {"class", "render", "-f", empty},
		"there must be one Cluster, not 2":  {"class", "render", "-f", dockerClass, "-f", dockerClass},
		"requires at least 1 arg(s)":        {"class", "test"},
		"holds no ClassTest (apiVersion: ":  {"class", "test", empty},
		"--output must be text or json, no": {"class", "test", empty, "-o", "yaml"},
	} {
		_, _, err := run(t, args...)
		assert.ErrorContains(t, err, want)
	}
}
