package plane

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/internal/binaries"
	"github.com/slipway-capi/slipway/internal/manifests"
)

// testConfig is a plane without managers, from the programs that `make binaries` has built.
func testConfig(t *testing.T) Config {
	t.Helper()
	root, err := binaries.FindRoot("..")
	require.NoError(t, err)
	sets, err := binaries.Discover(root)
	require.NoError(t, err)
	cache, err := binaries.DefaultCache()
	require.NoError(t, err)
	kubernetes, err := binaries.Pick(sets, binaries.Kubernetes, "")
	require.NoError(t, err)
	etcd, err := binaries.Pick(sets, binaries.Etcd, "")
	require.NoError(t, err)
	for set, names := range map[*binaries.Set][]string{&kubernetes: KubernetesPrograms, &etcd: nil} {
		missing, err := cache.Missing(*set, names...)
		require.NoError(t, err)
		require.Empty(t, missing, "run `make binaries` first")
	}
	return Config{Programs: ProgramsFrom(cache, kubernetes, etcd), Without: componentNames(), Verbosity: 2}
}

// start runs a plane until the returned function is called.
func start(t *testing.T, folder Folder) (Status, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Supervise(ctx, folder, nil) }()
	stop := func() {
		cancel()
		if done != nil {
			assert.NoError(t, <-done)
			done = nil
		}
	}
	t.Cleanup(stop)
	require.Eventually(t, func() bool {
		status, err := Read(folder)
		return err == nil && status.Supervisor != 0
	}, time.Minute, 5*time.Millisecond)
	status, err := follow(ctx, folder, func(Step) {})
	require.NoError(t, err)
	return status, stop
}

func connect(t *testing.T, folder Folder) client.Client {
	t.Helper()
	config, err := restConfig(folder.Kubeconfig())
	require.NoError(t, err)
	c, err := newClient(config)
	require.NoError(t, err)
	return c
}

const shipCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ships.example.com
spec:
  group: example.com
  names: {kind: Ship, plural: ships, singular: ship, listKind: ShipList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func ship(name, owner string, uid any) *unstructured.Unstructured {
	metadata := map[string]any{"name": name, "namespace": "default"}
	if owner != "" {
		metadata["ownerReferences"] = []any{map[string]any{"apiVersion": "example.com/v1", "kind": "Ship", "name": owner, "uid": uid}}
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Ship", "metadata": metadata}}
}

func TestAPlaneKeepsItsDataAndCollectsGarbage(t *testing.T) {
	ctx := t.Context()
	folder := Folder(filepath.Join(t.TempDir(), "state"))
	require.NoError(t, Configure(folder, testConfig(t)))
	first, stop := start(t, folder)
	c := connect(t, folder)
	crd, err := manifests.Load(fstest.MapFS{"crd.yaml": {Data: []byte(shipCRD)}})
	require.NoError(t, err)
	require.NoError(t, manifests.Applier{Client: c, Owner: "test"}.Apply(ctx, crd))
	require.NoError(t, manifests.WaitEstablished(ctx, c, crd))
	parent := ship("parent", "", nil)
	require.NoError(t, c.Create(ctx, parent))
	require.NoError(t, c.Create(ctx, ship("child", "parent", string(parent.GetUID()))))
	_, err = Read(folder)
	require.NoError(t, err)
	assert.ErrorContains(t, Supervise(ctx, folder, nil), "a plane runs already")
	stop()
	stopped, err := Read(folder)
	require.NoError(t, err)
	assert.Equal(t, Status{Phase: Stopped}, stopped)

	second, _ := start(t, folder)
	assert.Equal(t, first.Server, second.Server, "the address is remembered, so kubeconfigs stay good")
	c = connect(t, folder)
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(parent), parent))
	require.NoError(t, c.Delete(ctx, parent))
	require.Eventually(t, func() bool {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "child"}, ship("child", "", nil)))
	}, time.Minute, 50*time.Millisecond, "the garbage collector works for kinds that were there at the start")

	assertKilledServerComesBack(t, folder, c)
}

// assertKilledServerComesBack kills the API server under a running plane.
func assertKilledServerComesBack(t *testing.T, folder Folder, c client.Client) {
	t.Helper()
	before := process(t, folder, apiServer)
	require.NoError(t, syscall.Kill(before.PID, syscall.SIGKILL))
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "ShipList"})
	require.Eventually(t, func() bool {
		now := process(t, folder, apiServer)
		return now.PID != before.PID && now.Restarts == 1 && c.List(t.Context(), list) == nil
	}, time.Minute, 100*time.Millisecond)
}

type processState struct{ PID, Restarts int }

func process(t *testing.T, folder Folder, name string) processState {
	t.Helper()
	status, err := Read(folder)
	require.NoError(t, err)
	for _, p := range status.Processes {
		if p.Name == name {
			return processState{p.PID, p.Restarts}
		}
	}
	return processState{}
}

func TestAProcessThatKeepsDyingFailsTheStart(t *testing.T) {
	config := testConfig(t)
	folder := Folder(filepath.Join(t.TempDir(), "state"))
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, []byte("#!/bin/sh\necho it is out of order\nexit 7\n"), 0o755))
	config.Programs[apiServer] = broken
	require.NoError(t, Configure(folder, config))
	err := Supervise(t.Context(), folder, nil)
	assert.ErrorContains(t, err, "kube-apiserver died 3 times (exit status 7)")
	assert.ErrorContains(t, err, "it is out of order")
	status, err := Read(folder)
	require.NoError(t, err)
	assert.Equal(t, Failed, status.Phase)
	assert.Contains(t, status.Failure, "out of order")
	assert.Empty(t, status.Processes)
}
