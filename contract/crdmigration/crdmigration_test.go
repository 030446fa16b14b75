package crdmigration_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/crdmigration"
	"github.com/slipway-capi/slipway/contract/testenv"
)

var env *testenv.Environment

const name = "ships.example.org"

const shipCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.example.org}
spec:
  group: example.org
  names: {kind: Ship, listKind: ShipList, plural: ships, singular: ship}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{Files: []fs.FS{fstest.MapFS{"crd.yaml": {Data: []byte(shipCRD)}}}}))
}

func crd(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	out := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Name: name}, out))
	return out
}

func ship(version, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"name": name}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.org", Version: version, Kind: "Ship"})
	o.SetNamespace("default")
	o.SetName(name)
	return o
}

// Conformance: MG-40, MG-41, MG-42
func TestMigration(t *testing.T) {
	ctx := t.Context()
	for i := range 3 {
		o := ship("v1", fmt.Sprint("ship-", i))
		require.NoError(t, env.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("old")))
	}
	definition := crd(t)
	v2 := definition.Spec.Versions[0]
	v2.Name = "v2"
	definition.Spec.Versions[0].Storage = false
	definition.Spec.Versions = append(definition.Spec.Versions, v2)
	require.NoError(t, env.Client.Update(ctx, definition))
	definition.Spec.Versions[0].Served = false
	require.NoError(t, env.Client.Update(ctx, definition))
	require.Eventually(t, func() bool { return len(crd(t).Status.StoredVersions) == 2 }, time.Minute, 20*time.Millisecond, "both versions may be stored")

	_, err := env.StartManager(ctx, func(ctx context.Context, mgr ctrl.Manager) error {
		return (&crdmigration.Migrator{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Kinds: []string{name}}).SetupWithManager(ctx, mgr)
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		c := crd(t)
		return c.Annotations[crdmigration.ObservedGenerationAnnotation] == fmt.Sprint(c.Generation)
	}, time.Minute, 20*time.Millisecond, "the CRD is marked")
	assert.Equal(t, []string{"v2"}, crd(t).Status.StoredVersions)
	for i := range 3 {
		o := ship("v2", fmt.Sprint("ship-", i))
		require.NoError(t, env.Client.Get(ctx, client.ObjectKeyFromObject(o), o))
		for _, entry := range o.GetManagedFields() {
			assert.Equal(t, "example.org/v2", entry.APIVersion)
		}
	}
	definition = crd(t)
	definition.Spec.Versions = definition.Spec.Versions[1:]
	require.NoError(t, env.Client.Update(ctx, definition), "the old version can be taken out now")
}

// Conformance: MG-42, MG-43
func TestDecide(t *testing.T) {
	definition := func(change func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
		c := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
		c.Spec.Group = "g"
		c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v2", Served: true, Storage: true}, {Name: "v0"}}
		c.Status.StoredVersions = []string{"v1", "v2"}
		if change != nil {
			change(c)
		}
		return c
	}
	d := crdmigration.Decide(definition(nil), nil)
	assert.True(t, d.Rewrite && d.Cleanup && !d.Done)
	assert.Equal(t, []string{"g/v1", "g/v2"}, d.Served)
	d = crdmigration.Decide(definition(func(c *apiextensionsv1.CustomResourceDefinition) { c.Status.StoredVersions = []string{"v2"} }), nil)
	assert.False(t, d.Rewrite, "nothing old is stored")
	assert.True(t, crdmigration.Decide(definition(func(c *apiextensionsv1.CustomResourceDefinition) {
		c.Annotations = map[string]string{crdmigration.ObservedGenerationAnnotation: "3"}
	}), nil).Done)
	assert.False(t, crdmigration.Decide(definition(func(c *apiextensionsv1.CustomResourceDefinition) {
		c.Annotations = map[string]string{crdmigration.ObservedGenerationAnnotation: "2"}
	}), nil).Done, "the CRD has changed since")
	d = crdmigration.Decide(definition(nil), []crdmigration.Phase{crdmigration.StorageVersionMigration})
	assert.True(t, !d.Rewrite && d.Cleanup)
	d = crdmigration.Decide(definition(nil), []crdmigration.Phase{crdmigration.All})
	assert.True(t, !d.Rewrite && !d.Cleanup)
}
