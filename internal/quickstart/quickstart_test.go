package quickstart

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/slipway-capi/slipway/internal/manifests"
)

var cluster = types.NamespacedName{Namespace: "default", Name: "quickstart"}

func TestTheQuickstartManifestsHoldOneCluster(t *testing.T) {
	files, err := filepath.Glob("../../docs/quickstart/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.HasSuffix(file, ".test.yaml") || filepath.Base(file) == "pod-network.yaml" { // tests of classes, and what is for all Clusters
			continue
		}
		objects, err := load([]string{file}, "default")
		require.NoError(t, err)
		found, err := clusterOf(objects)
		require.NoError(t, err, file)
		assert.Equal(t, cluster, found, file)
	}
}

func TestWhichCluster(t *testing.T) {
	cluster := func(name string) *unstructured.Unstructured {
		objects, err := manifests.Parse([]byte("apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {namespace: default, name: " + name + "}\n"))
		require.NoError(t, err)
		return objects[0]
	}
	_, err := clusterOf(nil)
	assert.ErrorContains(t, err, "must hold one Cluster, not 0")
	_, err = clusterOf([]*unstructured.Unstructured{cluster("a"), cluster("b")})
	assert.ErrorContains(t, err, "must hold one Cluster, not 2")
}

func TestLoadKeepsNamespaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(file, []byte("kind: A\napiVersion: v1\nmetadata: {namespace: own}\n---\nkind: B\napiVersion: v1\n"), 0o600))
	objects, err := load([]string{file}, "default")
	require.NoError(t, err)
	assert.Equal(t, "own", objects[0].GetNamespace())
	assert.Equal(t, "default", objects[1].GetNamespace())
	_, err = load([]string{file + ".missing"}, "")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestKubeconfig(t *testing.T) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quickstart-kubeconfig"},
		Data:       map[string][]byte{"value": []byte("content")},
	}
	content, err := Kubeconfig(t.Context(), fake.NewClientBuilder().WithObjects(secret).Build(), cluster)
	require.NoError(t, err)
	assert.Equal(t, "content", string(content))

	_, err = Kubeconfig(t.Context(), fake.NewClientBuilder().Build(), cluster)
	assert.ErrorContains(t, err, "reading the kubeconfig of cluster default/quickstart")
	secret.Data = nil
	_, err = Kubeconfig(t.Context(), fake.NewClientBuilder().WithObjects(secret).Build(), cluster)
	assert.ErrorContains(t, err, "holds no kubeconfig")
}

func TestAddonsWaitForTheCluster(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	_, err := applyAddons(t.Context(), c, cluster, nil, false)
	require.NoError(t, err, "nothing to apply, nothing to wait for")
	ctx, cancel := context.WithTimeout(t.Context(), 2*retry)
	defer cancel()
	_, err = applyAddons(ctx, c, cluster, []*unstructured.Unstructured{{}}, false)
	assert.ErrorContains(t, err, "reading the kubeconfig", "the reason is told, not only that time is up")
}
