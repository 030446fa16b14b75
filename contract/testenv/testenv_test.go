package testenv_test

import (
	"context"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/testenv"
)

const boatCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: boats.example.org
spec:
  group: example.org
  names: {kind: Boat, listKind: BoatList, plural: boats, singular: boat}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: passed-over
`

var env *testenv.Environment

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{Files: []fs.FS{
		fstest.MapFS{"crd/bases/boats.yaml": {Data: []byte(boatCRD)}, "README.md": {Data: []byte("no manifest")}},
	}}))
}

func TestCRDsAreInstalled(t *testing.T) {
	boat := &unstructured.Unstructured{}
	boat.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Boat"})
	boat.SetNamespace(env.Namespace(t))
	boat.SetName("ferry")
	require.NoError(t, env.Client.Create(context.Background(), boat))
	assert.NotEmpty(t, boat.GetUID())
}

// Conformance: MG-20
func TestManagerCachesOnlySecretsOfClusters(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	namespace := env.Namespace(t)
	ours := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ours", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}}
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "theirs"}}
	require.NoError(t, env.Client.Create(ctx, ours))
	require.NoError(t, env.Client.Create(ctx, theirs))

	mgr, err := env.StartManager(ctx, func(context.Context, ctrl.Manager) error { return nil })
	require.NoError(t, err)
	found := &corev1.SecretList{}
	require.NoError(t, mgr.GetCache().List(ctx, found, client.InNamespace(namespace)))
	require.Len(t, found.Items, 1)
	assert.Equal(t, "ours", found.Items[0].Name)
	assert.Empty(t, found.Items[0].ManagedFields)
	require.NoError(t, mgr.GetClient().Get(ctx, client.ObjectKeyFromObject(theirs), theirs), "the client reads Secrets live")
}

// TestUpdatesPrevail: a test need not care who else has written; only an object that is gone is an error.
func TestUpdatesPrevail(t *testing.T) {
	ctx := t.Context()
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace(t), Name: "c"}}
	require.NoError(t, env.Client.Create(ctx, c))
	stale := c.DeepCopy()
	c.Data = map[string]string{"by": "another"}
	require.NoError(t, env.Client.Update(ctx, c))
	stale.Data = map[string]string{"by": "the test"}
	require.NoError(t, env.Client.Update(ctx, stale))
	require.NoError(t, env.Client.Get(ctx, client.ObjectKeyFromObject(c), c))
	assert.Equal(t, stale.Data, c.Data)
	require.NoError(t, env.Client.Delete(ctx, c))
	require.True(t, apierrors.IsNotFound(env.Client.Update(ctx, stale)))
}

const sailorRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: sailor}
rules:
- {apiGroups: [example.org], resources: [boats], verbs: [create, get, patch]}
- {apiGroups: [""], resources: [secrets], verbs: [list, watch]}
`

func TestRestrictedManagersAreToldApart(t *testing.T) {
	ctx := t.Context()
	env, err := testenv.Start(ctx, testenv.Options{Restricted: true, Files: []fs.FS{fstest.MapFS{"boats.yaml": {Data: []byte(boatCRD)}, "role.yaml": {Data: []byte(sailorRole)}}}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, env.Stop()) }()
	mgr, err := env.NewManager()
	require.NoError(t, err)
	sailor, err := client.New(mgr.GetConfig(), client.Options{})
	require.NoError(t, err)
	boat := func(name string) *unstructured.Unstructured {
		b := &unstructured.Unstructured{}
		b.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Boat"})
		b.SetNamespace("default")
		b.SetName(name)
		return b
	}
	mother := boat("mother")
	require.NoError(t, sailor.Create(ctx, mother))
	assert.Empty(t, env.Refusals())

	yes := true
	tender := boat("tender")
	owner := metav1.OwnerReference{APIVersion: "example.org/v1", Kind: "Boat", Name: "mother", UID: mother.GetUID(), BlockOwnerDeletion: &yes}
	tender.SetOwnerReferences([]metav1.OwnerReference{owner})
	require.Error(t, sailor.Create(ctx, tender))
	require.Error(t, sailor.Delete(ctx, mother))
	before := mother.DeepCopy()
	owner.BlockOwnerDeletion = nil
	mother.SetOwnerReferences([]metav1.OwnerReference{owner})
	require.Error(t, sailor.Patch(ctx, mother, client.MergeFrom(before)))
	require.Len(t, env.Refusals(), 3)
	assert.Contains(t, env.Refusals()[0], `cannot delete resource "boats"`)
	assert.Contains(t, env.Refusals()[1], "cannot set an ownerRef on a resource you can't delete")
	assert.Contains(t, env.Refusals()[2], "you can't set finalizers on")
}

func TestMissingBinariesAreExplained(t *testing.T) {
	t.Setenv("SLIPWAY_CACHE", t.TempDir())
	_, err := testenv.Start(context.Background(), testenv.Options{})
	require.ErrorIs(t, err, testenv.ErrNoBinaries)
	assert.ErrorContains(t, err, "make binaries")
}
