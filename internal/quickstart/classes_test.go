package quickstart

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-capi/slipway/core/render"
	"github.com/slipway-capi/slipway/internal/classtest"
	"github.com/slipway-capi/slipway/internal/plane"
)

const folder = "../../docs/quickstart"

// TestTheClassesOfTheQuickstart runs the tests that lie beside the classes; `slipway class test docs/quickstart --update` writes
// their golden files.
func TestTheClassesOfTheQuickstart(t *testing.T) {
	tests, err := classtest.Find([]string{folder})
	require.NoError(t, err)
	known, err := plane.Definitions()
	require.NoError(t, err)
	outcomes, err := classtest.Runner{Definitions: known}.Run(t.Context(), tests)
	require.NoError(t, err)
	for _, o := range outcomes {
		assert.Empty(t, o.Problems, o.Case)
		assert.Empty(t, o.Warnings, o.Case)
	}
}

// rendered are the objects that the class of a manifest makes.
func rendered(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := load([]string{folder + "/" + file}, "default")
	require.NoError(t, err)
	cluster, err := classtest.ClusterAmong(objects)
	require.NoError(t, err)
	known, err := plane.Definitions()
	require.NoError(t, err)
	renderer, err := render.New(known...)
	require.NoError(t, err)
	result, err := renderer.Render(t.Context(), render.Request{Cluster: cluster, Objects: objects})
	require.NoError(t, err)
	return result.Objects
}

// TestClassesMakeTheSameMachines compares what decides about machines in the manifests without and with a class: all but names,
// labels and owners, which a topology chooses itself.
func TestClassesMakeTheSameMachines(t *testing.T) {
	for _, pair := range [][2]string{{"docker.yaml", "docker-clusterclass.yaml"}, {"in-memory.yaml", "in-memory-clusterclass.yaml"}} {
		plain, err := load([]string{folder + "/" + pair[0]}, "default")
		require.NoError(t, err)
		want, have := machines(t, plain), machines(t, rendered(t, pair[1]))
		assert.Len(t, want, 7)
		assert.YAMLEq(t, text(t, want), text(t, have), pair[1])
	}
}

func text(t *testing.T, value any) string {
	t.Helper()
	out, err := yaml.Marshal(value)
	require.NoError(t, err)
	return string(out)
}

// machines is what decides about the machines of a cluster. Templates are told by who refers to them.
func machines(t *testing.T, objects []*unstructured.Unstructured) map[string]any {
	t.Helper()
	out := map[string]any{}
	spec := func(o *unstructured.Unstructured, path ...string) any {
		value, found, err := unstructured.NestedFieldCopy(o.Object, append([]string{"spec"}, path...)...)
		require.NoError(t, err)
		require.True(t, found, "%s has no %v", o.GetKind(), path)
		return value
	}
	template := func(ref any) any {
		for _, o := range objects {
			if r := ref.(map[string]any); o.GetKind() == r["kind"] && o.GetName() == r["name"] {
				return spec(o, "template", "spec")
			}
		}
		t.Fatalf("nothing is referred to by %v", ref)
		return nil
	}
	for _, o := range objects {
		switch o.GetKind() {
		case "Cluster":
			out["network"] = spec(o, "clusterNetwork")
		case "DevCluster":
			out["infrastructure"] = spec(o)
		case "KubeadmControlPlane":
			out["control plane"] = []any{spec(o, "replicas"), spec(o, "version")}
			out["control plane's kubeadm"] = spec(o, "kubeadmConfigSpec")
			out["control plane's machines"] = template(spec(o, "machineTemplate", "spec", "infrastructureRef"))
		case "MachineDeployment":
			out["workers"] = []any{spec(o, "replicas"), spec(o, "template", "spec", "version"), template(spec(o, "template", "spec", "bootstrap", "configRef"))}
			out["workers' machines"] = template(spec(o, "template", "spec", "infrastructureRef"))
		}
	}
	return out
}
