package kubeadmconfig

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// Conformance: KB-71
func TestTemplatesOfFiles(t *testing.T) {
	s := newScene(t)
	cp := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"version": "v1.37.2", "replicas": int64(1), "kubeadmConfigSpec": map[string]any{"verbosity": int64(2)},
		"machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachineTemplate", "name": "x"}}},
	}}}
	cp.SetGroupVersionKind(schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "KubeadmControlPlane"})
	cp.SetNamespace(s.namespace)
	cp.SetName("cp")

	require.NoError(t, env.Client.Create(t.Context(), cp))
	c := &Controller{Client: env.Client, Live: env.Client, Resolver: external.NewResolver(env.Client)}
	with := func(ref string) World {
		w := World{Cluster: s.cluster.DeepCopy(), Config: &bootstrapv1.KubeadmConfig{}}
		w.Cluster.Spec.ControlPlaneRef.APIGroup, w.Cluster.Spec.ControlPlaneRef.Kind, w.Cluster.Spec.ControlPlaneRef.Name = "controlplane.cluster.x-k8s.io", "KubeadmControlPlane", ref
		return w
	}
	for _, row := range []struct{ name, text, ref, want, err string }{
		{"version", "{{ .controlPlane.version }}", "cp", "v1.37.2", ""},
		{"guarded", "{{ if .controlPlane }}x{{ else }}none{{ end }}", "", "none", ""},
		{"not guarded", "{{ .controlPlane.version }}", "", "", "file /f: template"},
		{"misspelt", "{{ .controlplane }}", "cp", "", "file /f: template"},
		{"unreadable", "{{ .open", "cp", "", "file /f: template"},
		{"no such control plane", "x", "other", "", "reading the control plane"},
		{"too large", `{{ printf "%2000000d" 1 }}`, "", "", "larger than"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := c.fill(t.Context(), with(row.ref), bootstrapv1.File{Path: "/f", Content: row.text})
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

// Conformance: KB-72
func TestOnlyTemplatesNeedTheControlPlane(t *testing.T) {
	w := World{Config: &bootstrapv1.KubeadmConfig{}, Cluster: &clusterv1.Cluster{}}
	w.Cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io", Kind: "Unknown", Name: "cp"}
	w.Config.Spec.Files = []bootstrapv1.File{{Path: "/f", Content: "{{ plain }}"}, {Path: "/g", Content: "{{ plain }}", ContentFormat: bootstrapv1.FileContentFormatRaw}}
	got := (&Controller{}).sources(t.Context(), w) // with nothing to read from
	require.NoError(t, got.FileErr)
	assert.Equal(t, w.Config.Spec.Files, got.Files)

	w.Config.Spec.Files[1].ContentFormat = bootstrapv1.FileContentFormatTemplate
	w.Config.Spec.Files[1].Content = "x"
	got = (&Controller{Client: env.Client, Resolver: external.NewResolver(env.Client)}).sources(t.Context(), w)
	require.ErrorContains(t, got.FileErr, "file /g: reading the control plane")
	d := Decide(world(func(to *World) { to.Sources = got }))
	assert.Contains(t, conditions.Message(d.Config, bootstrapv1.KubeadmConfigDataSecretAvailableCondition), "file /g: reading the control plane", "a condition says what is in the way")
}

// Conformance: KB-71
func TestAControlPlaneWithoutAVersion(t *testing.T) {
	for text, object := range map[string]map[string]any{"v1.37.2": {"spec": map[string]any{"version": "v1.37.2"}}, "": {"spec": map[string]any{}}} {
		assert.Equal(t, text, controlPlaneVersion(&unstructured.Unstructured{Object: object}, "v1beta2"))
	}
}

// Conformance: KB-70
func TestSourcesLeaveTheSpecAlone(t *testing.T) {
	s := newScene(t)
	c := &Controller{Client: env.Client, Live: env.Client}
	config := &bootstrapv1.KubeadmConfig{}
	config.Namespace = s.namespace
	config.Spec.Files = []bootstrapv1.File{{Path: "/f", ContentFrom: bootstrapv1.FileSource{Secret: bootstrapv1.SecretKeySource{Name: "absent", Key: "k"}}}}
	config.Spec.Users = []bootstrapv1.User{{Name: "u", PasswdFrom: bootstrapv1.FileSource{Secret: bootstrapv1.SecretKeySource{Name: "c1-ca", Key: "nothing"}}}}
	s.withCertificates()
	before := config.DeepCopy()
	got := c.sources(t.Context(), World{Config: config, Cluster: s.cluster})
	require.ErrorContains(t, got.FileErr, "file /f: reading Secret absent")
	require.ErrorContains(t, got.UserErr, "password of user u: secret c1-ca has no key nothing")
	assert.Equal(t, before, config)
}
