package plane

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func preparedFor(t *testing.T) *prepared {
	t.Helper()
	p, err := prepare(Folder(t.TempDir()), Config{})
	require.NoError(t, err)
	return p
}

const generatedRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: x-manager-role}
`

const generatedWebhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating-webhook-configuration}
webhooks:
- name: v.example.com
  clientConfig: {service: {name: webhook-service, namespace: system, path: /validate}}
`

func TestAManagerIsBoundToItsOwnRole(t *testing.T) {
	p := preparedFor(t)
	var all installed
	files := fstest.MapFS{"rbac/role.yaml": {Data: []byte(generatedRole)}, "webhook/manifests.yaml": {Data: []byte(generatedWebhook)}}
	require.NoError(t, p.collectOne(Component{Name: "core", Prefix: "capi-", Files: files}, &all))

	require.Len(t, all.access, 2)
	binding := all.access[1]
	role, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
	subjects, _, _ := unstructured.NestedSlice(binding.Object, "subjects")
	assert.Equal(t, "x-manager-role", role)
	assert.Equal(t, []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "slipway:core"}}, subjects)

	require.Len(t, all.webhooks, 1)
	assert.Equal(t, "capi-validating-webhook-configuration", all.webhooks[0].GetName())
	assert.Equal(t, "core", all.webhooks[0].GetLabels()[componentLabel])
}

func TestManifestsThatCannotBeInstalled(t *testing.T) {
	tests := []struct {
		name  string
		files fstest.MapFS
		want  string
	}{
		{name: "no role", files: fstest.MapFS{}, want: "no ClusterRole"},
		{name: "something else", files: fstest.MapFS{"a.yaml": {Data: []byte("kind: Deployment\napiVersion: apps/v1\nmetadata: {name: d}\n")}},
			want: "Deployment d is nothing that a plane installs"},
		{name: "broken", files: fstest.MapFS{"a.yaml": {Data: []byte("kind: [")}}, want: "a.yaml: document 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := preparedFor(t).collectOne(Component{Name: "core", Files: tt.files}, &installed{})
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestEveryComponentCanBeInstalled(t *testing.T) {
	for _, c := range Components() {
		t.Run(c.Name, func(t *testing.T) {
			var all installed
			require.NoError(t, preparedFor(t).collectOne(c, &all))
			assert.NotEmpty(t, all.definitions)
		})
	}
}

func TestConfigurationsThatCannotRun(t *testing.T) {
	err := Config{Without: append(componentNames(), "nonsense")}.Validate()
	assert.ErrorContains(t, err, `there is no manager "nonsense"; there are core, bootstrap-kubeadm,`)
	err = Config{ManagerDir: t.TempDir(), Without: componentNames()[1:]}.Validate()
	assert.ErrorContains(t, err, "--without core")
	assert.NoError(t, Config{Without: componentNames()}.Validate())
}

func TestDownWithoutAPlane(t *testing.T) {
	found, err := Down(t.Context(), Folder(t.TempDir()))
	require.NoError(t, err)
	assert.False(t, found)
}
