package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/controllers/cluster"
	"github.com/slipway-capi/slipway/core/internal/controllers/machine"
)

var (
	env *testenv.Environment
	ctx = context.Background()
)

// The provider of these tests: kinds without a controller, whose part the tests play.
var (
	fakeCluster      = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "FakeCluster"}
	fakeMachine      = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "FakeMachine"}
	fakeBootstrap    = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1", Kind: "FakeBootstrap"}
	fakeControlPlane = schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1", Kind: "FakeControlPlane"}
)

const fakeCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[2]ss.%[3]s
  labels: {cluster.x-k8s.io/v1beta2: v1}
spec:
  group: %[3]s
  names: {kind: %[1]s, listKind: %[1]sList, plural: %[2]ss, singular: %[2]s}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// BC-36: the manager has the rights of its role and no others, and owners are protected.
//
// Conformance: MG-33
func TestMain(m *testing.M) {
	files := fstest.MapFS{}
	for _, gvk := range []schema.GroupVersionKind{fakeCluster, fakeMachine, fakeBootstrap, fakeControlPlane} {
		crd := fmt.Sprintf(fakeCRD, gvk.Kind, strings.ToLower(gvk.Kind), gvk.Group)
		files[gvk.Kind+".yaml"] = &fstest.MapFile{Data: []byte(crd)}
	}
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.CRDs, config.Roles, files},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme},
		Manager:     setup,
	}))
}

func setup(ctx context.Context, mgr ctrl.Manager) error {
	clusters, err := clustercache.New(mgr, clustercache.Options{})
	if err != nil {
		return err
	}
	resolver := external.NewResolver(mgr.GetClient())
	err = (&cluster.Controller{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Secrets: mgr.GetCache(), Resolver: resolver, ClusterCache: clusters,
		Recorder: mgr.GetEventRecorder("cluster"), ConnectionGrace: time.Minute,
	}).SetupWithManager(ctx, mgr, 2)
	if err != nil {
		return err
	}
	return (&machine.Controller{
		Client: mgr.GetClient(), Resolver: resolver, ClusterCache: clusters,
		Recorder: mgr.GetEventRecorder("machine"), ConditionsGrace: 2 * time.Minute,
	}).SetupWithManager(ctx, mgr, 2)
}

// eventually waits for what controllers do on their own; nothing here takes more than moments unless an event was missed.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	start := time.Now()
	require.Eventually(t, done, time.Minute, 10*time.Millisecond, what)
	t.Logf("%s after %d ms", what, time.Since(start).Milliseconds())
}

// fake makes an object of the provider, held by a finalizer so that the test decides when it is gone.
func fake(t *testing.T, gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetFinalizers([]string{"test.example.org/held"})
	require.NoError(t, env.Client.Create(ctx, o))
	return o
}

// report changes spec and status of a provider object, as its controller would.
func report(t *testing.T, o *unstructured.Unstructured, spec, status map[string]any) {
	t.Helper()
	if spec != nil {
		require.NoError(t, env.Client.Patch(ctx, o, mergePatch(t, map[string]any{"spec": spec})))
	}
	if status != nil {
		require.NoError(t, env.Client.Status().Patch(ctx, o, mergePatch(t, map[string]any{"status": status})))
	}
}

func mergePatch(t *testing.T, content map[string]any) client.Patch {
	t.Helper()
	data, err := json.Marshal(content)
	require.NoError(t, err)
	return client.RawPatch("application/merge-patch+json", data)
}

func release(t *testing.T, o client.Object) {
	t.Helper()
	require.NoError(t, env.Client.Patch(ctx, o, mergePatch(t, map[string]any{"metadata": map[string]any{"finalizers": nil}})))
}

func reference(o *unstructured.Unstructured) clusterv1.ContractVersionedObjectReference {
	return external.Reference(o)
}

func kubeconfigSecret(namespace, cluster string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster + "-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: cluster}},
		Type:       clusterv1.ClusterSecretType,
		Data:       map[string][]byte{"value": env.KubeConfig},
	}
}
