package external_test

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/testenv"
)

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: PLURAL.example.org
  labels: {LABELS}
spec:
  group: example.org
  names: {kind: KIND, listKind: KINDList, plural: PLURAL, singular: SINGULAR}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

func definition(kind, labels string) *fstest.MapFile {
	lower := strings.ToLower(kind)
	return &fstest.MapFile{Data: []byte(strings.NewReplacer("PLURAL", lower+"s", "SINGULAR", lower, "KIND", kind, "LABELS", labels).Replace(crd))}
}

var env *testenv.Environment

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{Files: []fs.FS{fstest.MapFS{
		"boats.yaml": definition("Boat", "cluster.x-k8s.io/v1beta2: v1alpha1_v1"),
		"rafts.yaml": definition("Raft", ""),
	}}}))
}

func object(namespace, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: kind})
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func ref(kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: "example.org", Kind: kind, Name: name}
}

// Conformance: SH-20, SH-22
func TestGet(t *testing.T) {
	ctx, namespace := context.Background(), env.Namespace(t)
	require.NoError(t, env.Client.Create(ctx, object(namespace, "Boat", "ferry")))
	require.NoError(t, env.Client.Create(ctx, object(namespace, "Raft", "log")))
	resolver := external.NewResolver(env.Client)

	got, err := external.Get(ctx, env.Client, resolver, ref("Boat", "ferry"), namespace)
	require.NoError(t, err)
	assert.Equal(t, "example.org/v1 v1beta2", got.GetAPIVersion()+" "+got.Contract, "the highest version of the label, not the last")
	assert.Equal(t, ref("Boat", "ferry"), external.Reference(got.Unstructured))

	_, err = external.Get(ctx, env.Client, resolver, ref("Boat", "gone"), namespace)
	assert.True(t, external.IsNotFound(err), "%v", err)
	_, err = external.Get(ctx, env.Client, resolver, ref("Canoe", "ferry"), namespace)
	require.ErrorIs(t, err, contractversion.ErrNoCRD)
	assert.False(t, external.IsNotFound(err), "a missing definition must not look like a missing object")
	_, err = external.Get(ctx, env.Client, resolver, ref("Raft", "log"), namespace)
	require.ErrorIs(t, err, contractversion.ErrNoContract)
}

// Conformance: SH-23
func TestWatchStartsOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	namespace, seen := env.Namespace(t), make(chan string, 100)
	var watcher *external.Watcher
	_, err := env.StartManager(ctx, func(_ context.Context, mgr ctrl.Manager) error {
		c, err := controller.New("boats", mgr, controller.Options{Reconciler: reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			if r.Namespace == namespace { // other tests' objects are seen too
				seen <- r.String()
			}
			return reconcile.Result{}, nil
		})})
		watcher = external.NewWatcher(c, mgr.GetCache())
		return err
	})
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, watcher.Watch(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Boat"}, &handler.EnqueueRequestForObject{}))
	}
	require.NoError(t, env.Client.Create(ctx, object(namespace, "Boat", "canoe")))
	require.Eventually(t, func() bool { return len(seen) > 0 }, time.Minute, 10*time.Millisecond)
	time.Sleep(100 * time.Millisecond)
	assert.Len(t, seen, 1, "one watch, so one event")
}
