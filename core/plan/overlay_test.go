package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

func aSet(name, version string) *clusterv1.MachineSet {
	s := &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"name": name}}}
	s.Spec.Template.Spec.Version = version
	return s
}

// TestOverlay: what is put over the stored objects is read in their place, by name and in lists, typed or not, and the reader
// below is left alone.
func TestOverlay(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, clusterv1.AddToScheme(scheme))
	below := fake.NewClientBuilder().WithScheme(scheme).WithObjects(aSet("stays", "v1"), aSet("changes", "v1"), aSet("goes", "v1")).Build()
	overlay, err := NewOverlay(below, scheme).With(aSet("changes", "v2"))
	require.NoError(t, err)
	overlay, err = overlay.With(aSet("comes", "v2"))
	require.NoError(t, err)
	kind := clusterv1.GroupVersion.WithKind("MachineSet")
	overlay = overlay.Without(kind.GroupKind(), client.ObjectKey{Namespace: "ns", Name: "goes"})

	versions := func(opts ...client.ListOption) map[string]string {
		typed, untyped := &clusterv1.MachineSetList{}, &unstructured.UnstructuredList{}
		require.NoError(t, overlay.List(t.Context(), typed, opts...))
		untyped.SetGroupVersionKind(kind.GroupVersion().WithKind("MachineSetList"))
		require.NoError(t, overlay.List(t.Context(), untyped, opts...))
		out := map[string]string{}
		for _, s := range typed.Items {
			out[s.Name] = s.Spec.Template.Spec.Version
		}
		assert.Len(t, untyped.Items, len(typed.Items))
		for _, u := range untyped.Items {
			version, _, _ := unstructured.NestedString(u.Object, "spec", "template", "spec", "version")
			assert.Equal(t, out[u.GetName()], version)
		}
		return out
	}
	assert.Equal(t, map[string]string{"stays": "v1", "changes": "v2", "comes": "v2"}, versions(client.InNamespace("ns")))
	assert.Equal(t, map[string]string{"comes": "v2"}, versions(client.MatchingLabels{"name": "comes"}))
	assert.Empty(t, versions(client.InNamespace("elsewhere")))

	for name, want := range map[string]string{"stays": "v1", "changes": "v2", "comes": "v2", "goes": ""} {
		s := &clusterv1.MachineSet{}
		err := overlay.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, s)
		assert.Equal(t, want == "", apierrors.IsNotFound(err), name)
		assert.Equal(t, want, s.Spec.Template.Spec.Version)
	}
	s := &clusterv1.MachineSet{}
	require.NoError(t, below.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "changes"}, s))
	assert.Equal(t, "v1", s.Spec.Template.Spec.Version)
}
