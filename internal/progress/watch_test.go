package progress

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
)

var (
	watched  = types.NamespacedName{Namespace: "ns", Name: "c"}
	clusters = schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "clusters"}
	kindsOf  = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// management is a management cluster with one Cluster, which is available or not.
func management(t *testing.T, status metav1.ConditionStatus) *fake.FakeDynamicClient {
	t.Helper()
	kind := crd("cluster.x-k8s.io", "Cluster", "Namespaced", "v1beta2")
	kind.SetAPIVersion("apiextensions.k8s.io/v1")
	kind.SetKind("CustomResourceDefinition")
	kind.SetName("clusters.cluster.x-k8s.io")
	require.NoError(t, unstructured.SetNestedField(kind.Object, "clusters", "spec", "names", "plural"))
	cluster := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": map[string]any{"namespace": "ns", "name": "c", "uid": "1"},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": string(status), "reason": "R", "message": "because"}}},
	}}
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{clusters: "ClusterList", kindsOf: "CustomResourceDefinitionList"}, kind, cluster)
}

func TestWatchEndsWithTheCluster(t *testing.T) {
	for _, untilReady := range []bool{false, true} {
		client := management(t, metav1.ConditionFalse)
		var out bytes.Buffer
		time.AfterFunc(300*time.Millisecond, func() {
			_ = client.Resource(clusters).Namespace("ns").Delete(context.Background(), "c", metav1.DeleteOptions{})
		})
		end, err := Watch(t.Context(), client, watched, NewDisplay(&out, Text), untilReady)
		if untilReady {
			require.EqualError(t, err, "cluster ns/c was deleted before it was ready")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, Gone, end)
		assert.Contains(t, out.String(), "Cluster/c is gone")
	}
}

func TestWatchUntilReady(t *testing.T) {
	var out bytes.Buffer
	end, err := Watch(t.Context(), management(t, metav1.ConditionTrue), watched, NewDisplay(&out, Text), true)
	require.NoError(t, err)
	assert.Equal(t, Complete, end)

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = Watch(ctx, management(t, metav1.ConditionFalse), watched, NewDisplay(&out, Text), true)
	require.EqualError(t, err, "cluster ns/c is not ready in time: the Cluster is not Available: because", "what is missing is told, not only that time is up")
}

func TestWatchingIsLeftWithoutAnError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	end, err := Watch(ctx, management(t, metav1.ConditionTrue), watched, NewDisplay(&out, Text), false)
	require.NoError(t, err)
	assert.Equal(t, Left, end)
}

func TestProbeHasPatience(t *testing.T) {
	refused := errors.New("connection refused")
	err := probe(t.Context(), func(context.Context) error { return refused }, time.Millisecond, 20*time.Millisecond)
	require.ErrorIs(t, err, ErrSilent)
	require.ErrorIs(t, err, refused)

	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	n := 0
	err = probe(ctx, func(context.Context) error {
		if n++; n%2 == 0 {
			return apierrors.NewNotFound(clusters.GroupResource(), "c") // an answer, though not a good one
		}
		return refused
	}, time.Millisecond, 10*time.Second)
	assert.ErrorIs(t, err, context.DeadlineExceeded, "somebody who answers now and then is there")
}
