package machinepool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	ipamv1 "github.com/slipway-capi/slipway/contract/api/ipam/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/controllers/machine"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinepool"
	"github.com/slipway-capi/slipway/core/internal/webhooks"
)

var (
	env *testenv.Environment
	ctx = context.Background()
	// writes counts what the controller of pools sends to the management cluster, the events apart.
	writes atomic.Int64
)

// The provider of these tests: kinds without a controller, whose part the tests play.
var (
	poolInfra   = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "FakePool"}
	memberInfra = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "FakeMachine"}
	configKind  = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1", Kind: "FakeConfig"}
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
	for _, gvk := range []schema.GroupVersionKind{poolInfra, memberInfra, configKind} {
		files[gvk.Kind+".yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, fakeCRD, gvk.Kind, strings.ToLower(gvk.Kind), gvk.Group)}
	}
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.Files, files},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{addonsv1.AddToScheme, clusterv1.AddToScheme, ipamv1.AddToScheme, runtimev1.AddToScheme},
		Manager:     setup,
	}))
}

// setup runs the controllers of pools and Machines together, with the webhooks of the core.
func setup(ctx context.Context, mgr ctrl.Manager) error {
	if err := webhooks.SetupWithManager(mgr, manager.NewFlags()); err != nil {
		return err
	}
	clusters, err := clustercache.New(mgr, clustercache.Options{})
	if err != nil {
		return err
	}
	resolver := external.NewResolver(mgr.GetClient())
	err = (&machine.Controller{
		Client: mgr.GetClient(), Resolver: resolver, ClusterCache: clusters, Recorder: mgr.GetEventRecorder("machine"), ConditionsGrace: 2 * time.Minute,
	}).SetupWithManager(ctx, mgr, 2)
	if err != nil {
		return err
	}
	return (&machinepool.Controller{
		Client: counting{mgr.GetClient()}, Resolver: resolver, ClusterCache: clusters, Recorder: mgr.GetEventRecorder("machinepool"), ConditionsGrace: 2 * time.Minute,
	}).SetupWithManager(ctx, mgr, 2)
}

// counting counts the writes of a client.
type counting struct{ client.Client }

func (c counting) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	writes.Add(1)
	return c.Client.Patch(ctx, o, p, opts...)
}

func (c counting) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	writes.Add(1)
	return c.Client.Delete(ctx, o, opts...)
}

func (c counting) Status() client.SubResourceWriter {
	return countingStatus{c.Client.SubResource("status")}
}

type countingStatus struct{ client.SubResourceClient }

func (c countingStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	writes.Add(1)
	return c.SubResourceClient.Patch(ctx, o, p, opts...)
}

// story is a pool in a cluster whose workload API is the test's own.
type story struct {
	*testing.T
	namespace     string
	cluster       *clusterv1.Cluster
	pool          *clusterv1.MachinePool
	infra, config *unstructured.Unstructured
}

// begin makes a cluster that is up and a pool whose provider objects come later.
func begin(t *testing.T, annotations map[string]string) *story {
	s := &story{T: t, namespace: env.Namespace(t)}
	s.cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c"}, Spec: clusterv1.ClusterSpec{InfrastructureRef: ref(poolInfra, "cluster")}}
	require.NoError(t, env.Client.Create(ctx, s.cluster))
	// No cluster controller runs here; this is what it would say.
	s.patch(s.cluster, true, map[string]any{"initialization": map[string]any{"infrastructureProvisioned": true, "controlPlaneInitialized": true}})
	require.NoError(t, env.Client.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}},
		Type:       clusterv1.ClusterSecretType, Data: map[string][]byte{"value": env.KubeConfig},
	}))
	two := int32(2)
	s.pool = &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "p", Annotations: annotations}, Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: &two}}
	s.pool.Spec.Template.Spec = clusterv1.MachineSpec{ClusterName: "c", Version: "1.37.0", InfrastructureRef: ref(poolInfra, "p"), Bootstrap: clusterv1.Bootstrap{ConfigRef: ref(configKind, "p")}}
	s.pool.Spec.Template.Metadata.Labels = map[string]string{"node-restriction.kubernetes.io/pool": "blue"}
	require.NoError(t, env.Client.Create(ctx, s.pool))
	return s
}

func ref(gvk schema.GroupVersionKind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: name}
}

// fake makes an object of the provider, held by a finalizer so that the test decides when it is gone.
func (s *story) fake(gvk schema.GroupVersionKind, name string, labels map[string]string) *unstructured.Unstructured {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(s.namespace)
	o.SetName(name)
	o.SetLabels(labels)
	o.SetFinalizers([]string{"test.example.org/held"})
	require.NoError(s, env.Client.Create(ctx, o))
	return o
}

// patch changes spec or status of an object, as its controller or user would.
func (s *story) patch(o client.Object, status bool, content map[string]any) {
	s.Helper()
	key := "spec"
	if status {
		key = "status"
	}
	data, err := json.Marshal(map[string]any{key: content})
	require.NoError(s, err)
	patch := client.RawPatch("application/merge-patch+json", data)
	if status {
		require.NoError(s, env.Client.Status().Patch(ctx, o, patch))
	} else {
		require.NoError(s, env.Client.Patch(ctx, o, patch))
	}
}

// members reports the members of the pool, as the infrastructure provider would; provider IDs are unique in the environment.
func (s *story) members(kind string, names ...string) {
	s.Helper()
	ids := []string{}
	for _, n := range names {
		ids = append(ids, s.id(n))
	}
	s.patch(s.infra, false, map[string]any{"providerIDList": ids})
	status := map[string]any{"initialization": map[string]any{"provisioned": true}, "replicas": len(names)}
	if kind != "" {
		status["infrastructureMachineKind"] = kind
	}
	s.patch(s.infra, true, status)
}

func (s *story) id(name string) string { return "fake:///" + s.namespace + "/" + name }

// member makes the infrastructure machine of a member, provisioned.
func (s *story) member(name string) *unstructured.Unstructured {
	s.Helper()
	o := s.fake(memberInfra, name, map[string]string{clusterv1.ClusterNameLabel: "c", clusterv1.MachinePoolNameLabel: "p"})
	s.patch(o, false, map[string]any{"providerID": s.id(name)})
	s.patch(o, true, map[string]any{"initialization": map[string]any{"provisioned": true}})
	return o
}

// joins makes the ready Node of a member.
func (s *story) joins(name string) *corev1.Node {
	s.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.namespace + "-" + name}, Spec: corev1.NodeSpec{
		ProviderID: s.id(name), Taints: []corev1.Taint{{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}}}}
	require.NoError(s, env.Client.Create(ctx, n))
	good := func(t string, status string) map[string]any {
		return map[string]any{"type": t, "status": status}
	}
	// A patch, since the controllers write to the Node as soon as it is there.
	s.patch(n, true, map[string]any{"nodeInfo": map[string]any{"kubeletVersion": "v1.37.0"}, "conditions": []any{
		good("Ready", "True"), good("MemoryPressure", "False"), good("DiskPressure", "False"), good("PIDPressure", "False")}})
	return n
}

func (s *story) load(o client.Object) error {
	return env.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
}

func (s *story) gone(o client.Object) bool { return apierrors.IsNotFound(s.load(o)) }

func (s *story) deleting(o client.Object) bool {
	return s.load(o) == nil && !o.GetDeletionTimestamp().IsZero()
}

func (s *story) release(o client.Object) {
	s.Helper()
	require.NoError(s, env.Client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
}

// eventually waits for what controllers do on their own; nothing here takes more than moments unless an event was missed.
func (s *story) eventually(what string, done func() bool) {
	s.Helper()
	start := time.Now()
	require.Eventually(s, done, time.Minute, 10*time.Millisecond, what)
	s.Logf("%s after %d ms", what, time.Since(start).Milliseconds())
}

func (s *story) until(what string, o client.Object, done func() bool) {
	s.Helper()
	s.eventually(what, func() bool { return s.load(o) == nil && done() })
}

func (s *story) machine(name string) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
}
