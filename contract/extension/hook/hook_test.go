package hook

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// Conformance: RT-01
func TestPaths(t *testing.T) {
	assert.Equal(t, "/hooks.runtime.cluster.x-k8s.io/v1alpha1/beforeclustercreate/first", BeforeClusterCreate.Path("first"))
	assert.Equal(t, "/hooks.runtime.cluster.x-k8s.io/v1alpha1/discovery", Discovery.Path(""))
}

func TestCatalogKnowsEveryType(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, hooks.AddToScheme(scheme))
	for _, d := range append(All(), Discovery.Definition) {
		for _, o := range []runtime.Object{d.NewRequest(), d.NewResponse()} {
			kinds, _, err := scheme.ObjectKinds(o)
			require.NoError(t, err)
			assert.Equal(t, o.GetObjectKind().GroupVersionKind(), kinds[0], "%s: name and types belong together", d.Name)
		}
	}
	types := 0
	for name := range scheme.KnownTypes(hooks.GroupVersion) {
		if len(name) > 8 && name[len(name)-8:] == "Response" {
			types++
		}
	}
	assert.Len(t, All(), types-1, "all but discovery can have handlers")
}

func TestFind(t *testing.T) {
	d, ok := Find(hooks.GroupVersionHook{APIVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", Hook: "GeneratePatches"})
	require.True(t, ok)
	assert.Equal(t, "GeneratePatches", d.Name)
	assert.False(t, d.CanWait())
	assert.True(t, BeforeClusterDelete.CanWait())
	assert.False(t, AfterControlPlaneInitialized.CanWait())
	for _, unknown := range []hooks.GroupVersionHook{{APIVersion: "hooks.runtime.cluster.x-k8s.io/v1", Hook: "GeneratePatches"}, {APIVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", Hook: "Discovery"}, {}} {
		_, ok := Find(unknown)
		assert.False(t, ok, "%v", unknown)
	}
}

func TestHandlerNames(t *testing.T) {
	assert.Empty(t, HandlerNameProblems("before-create"))
	for _, bad := range []string{"", "Before", "a.b", "a/b", "-a", "a_b"} {
		assert.NotEmpty(t, HandlerNameProblems(bad), bad)
	}
}
