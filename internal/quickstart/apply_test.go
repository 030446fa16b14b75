package quickstart

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/internal/manifests"
)

// prepared are the objects of a manifest of the quick start, in a namespace of their own.
func prepared(t *testing.T, file, namespace string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := load([]string{folder + "/" + file}, namespace)
	require.NoError(t, err)
	return objects
}

func makeNamespace(t *testing.T, name string) {
	t.Helper()
	objects, err := manifests.Parse([]byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n"))
	require.NoError(t, err)
	require.NoError(t, env.Client.Create(t.Context(), objects[0]))
}

func workers(t *testing.T, namespace string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment"}}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "quickstart-workers"}, o))
	return o
}

func replicasOf(t *testing.T, o *unstructured.Unstructured) int64 {
	t.Helper()
	n, _, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	require.NoError(t, err)
	return n
}

func TestApplyingAgainLeavesWhatOthersHaveChanged(t *testing.T) {
	ctx, namespace := t.Context(), "again"
	makeNamespace(t, namespace)
	objects := prepared(t, "in-memory.yaml", namespace)
	kept, err := applier{client: env.Client}.apply(ctx, objects)
	require.NoError(t, err)
	assert.Empty(t, kept)
	before := workers(t, namespace)
	kept, err = applier{client: env.Client}.apply(ctx, objects)
	require.NoError(t, err)
	assert.Empty(t, kept)
	assert.Equal(t, before.GetResourceVersion(), workers(t, namespace).GetResourceVersion(), "doing it again changes nothing")

	scaled := before.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(scaled.Object, int64(3), "spec", "replicas"))
	require.NoError(t, env.Client.Patch(ctx, scaled, client.MergeFrom(before), client.FieldOwner("kubectl")))
	kept, err = applier{client: env.Client}.apply(ctx, objects)
	require.NoError(t, err)
	require.Len(t, kept, 1)
	assert.Equal(t, "MachineDeployment again/quickstart-workers spec.replicas is 3, not 1 (set by kubectl)", kept[0].String())
	assert.EqualValues(t, 3, replicasOf(t, workers(t, namespace)))
	wanted, _, _ := unstructured.NestedFieldNoCopy(objects[4].Object, "spec", "replicas")
	assert.EqualValues(t, 1, wanted, "what was loaded stays as it is")

	kept, err = applier{client: env.Client, overwrite: true}.apply(ctx, objects)
	require.NoError(t, err)
	assert.Empty(t, kept)
	assert.EqualValues(t, 1, replicasOf(t, workers(t, namespace)))
}

func TestManifestsThatDoNotFitAreRefusedAsAWhole(t *testing.T) {
	ctx, namespace := t.Context(), "refused"
	makeNamespace(t, namespace)
	_, err := applier{client: env.Client}.apply(ctx, prepared(t, "in-memory.yaml", namespace))
	require.NoError(t, err)

	objects := prepared(t, "in-memory-clusterclass.yaml", namespace)
	_, err = applier{client: env.Client}.apply(ctx, objects)
	require.ErrorContains(t, err, "nothing was applied: Cluster refused/quickstart: the Cluster that exists was made without a ClusterClass, and that of the manifests has one; delete it first")
	err = env.Client.Get(ctx, client.ObjectKeyFromObject(objects[0]), objects[0].DeepCopy())
	assert.True(t, apierrors.IsNotFound(err), "the class comes first in the file: %v", err)

	objects = prepared(t, "in-memory.yaml", namespace)
	require.NoError(t, unstructured.SetNestedField(objects[2].Object, int64(5), "spec", "replicas"))
	require.NoError(t, unstructured.SetNestedField(objects[4].Object, "", "spec", "clusterName"))
	_, err = applier{client: env.Client}.apply(ctx, objects)
	require.ErrorContains(t, err, "nothing was applied: MachineDeployment refused/quickstart-workers: ")
	require.NoError(t, env.Client.Get(ctx, client.ObjectKeyFromObject(objects[2]), objects[2]))
	assert.EqualValues(t, 1, replicasOf(t, objects[2]))
}

func TestAClassIsNotTakenAway(t *testing.T) {
	ofClass := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "spec": map[string]any{"topology": map[string]any{}}}}
	plain := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster"}}
	require.NoError(t, sameSort(ofClass, ofClass))
	require.NoError(t, sameSort(plain, plain))
	assert.ErrorContains(t, sameSort(ofClass, plain), "was made from a ClusterClass, and that of the manifests has none")
}

func TestFieldsOfConflictsAreFound(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a.b/c": "1", "a": "2"}},
		"spec": map[string]any{"workers": []any{
			map[string]any{"name": "x,]", "port": int64(1), "replicas": int64(1)},
			map[string]any{"name": "y", "port": int64(2), "replicas": int64(2), "set": []any{"v"}},
		}},
	}
	for path, want := range map[string]any{
		".metadata.labels.a.b/c":                      "1",
		".metadata.labels.a":                          "2",
		`.spec.workers[name="y"].replicas`:            int64(2),
		`.spec.workers[name="x,]",port=1].replicas`:   int64(1),
		`.spec.workers[name="z"].replicas`:            nil,
		`.spec.workers[name="y"]`:                     nil,
		`.spec.workers[0].replicas`:                   nil,
		`.spec.workers[name="y"].set[="v"]`:           nil,
		`.spec.other`:                                 nil,
		`spec`:                                        nil,
		`.spec.workers[name="y",port=9].replicas`:     nil,
		`.spec.workers[name="y",port=2].replicas.few`: nil,
	} {
		parent, key, ok := find(object, path)
		require.Equal(t, want != nil, ok, path)
		if ok {
			assert.Equal(t, want, parent[key], path)
		}
	}
}

func TestKeptSaysNoSecrets(t *testing.T) {
	assert.Equal(t, "Secret a/b data.x (set by kubectl)", Kept{Object: "Secret a/b", Field: "data.x", By: "kubectl"}.String())
	assert.Equal(t, "kubectl", managerOf(`conflict with "kubectl" with subresource "scale" using cluster.x-k8s.io/v1beta2 at 2026`))
	assert.Empty(t, scalar([]any{"a"}))
	assert.Equal(t, "2000000", scalar(2e6), "numbers of YAML files are floating")
}
