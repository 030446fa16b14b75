package machinehealthcheck_test

import (
	"context"
	"encoding/json"
	"errors"
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
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinehealthcheck"
)

var (
	env *testenv.Environment
	ctx = context.Background()
	// writes counts what the controller sends, the events apart.
	writes atomic.Int64
)

// The remediation provider of these tests: kinds without a controller.
var (
	templateKind = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "FakeRemediationTemplate"}
	requestKind  = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "FakeRemediation"}
)

const fakeCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[2]ss.%[3]s
spec:
  group: %[3]s
  names: {kind: %[1]s, listKind: %[1]sList, plural: %[2]ss, singular: %[2]s}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// BC-36: the manager has the rights of its role and no others, and owners are protected.
//
// Conformance: MG-33
func TestMain(m *testing.M) {
	files := fstest.MapFS{}
	for _, gvk := range []schema.GroupVersionKind{templateKind, requestKind} {
		files[gvk.Kind+".yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, fakeCRD, gvk.Kind, strings.ToLower(gvk.Kind), gvk.Group)}
	}
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.CRDs, config.Roles, files},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme},
		Manager: func(ctx context.Context, mgr ctrl.Manager) error {
			clusters, err := clustercache.New(mgr, clustercache.Options{})
			if err != nil {
				return err
			}
			return (&machinehealthcheck.Controller{
				Client: faulty{mgr.GetClient()}, ClusterCache: clusters, Recorder: mgr.GetEventRecorder("machinehealthcheck"),
			}).SetupWithManager(ctx, mgr, 2)
		},
	}))
}

// faulty counts writes, and refuses those to the status of a Machine called cursed.
type faulty struct{ client.Client }

func (c faulty) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	writes.Add(1)
	return c.Client.Patch(ctx, o, p, opts...)
}

func (c faulty) Status() client.SubResourceWriter { return faultyStatus{c.Client.Status()} }

type faultyStatus struct{ client.SubResourceWriter }

func (c faultyStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	writes.Add(1)
	if o.GetName() == "cursed" {
		return errors.New("refused by the test")
	}
	return c.SubResourceWriter.Patch(ctx, o, p, opts...)
}

// story is one cluster "c" in a namespace of its own whose Machines, Nodes and controllers the test plays.
type story struct {
	*testing.T
	namespace string
	cluster   *clusterv1.Cluster
	check     *clusterv1.MachineHealthCheck
}

func newStory(t *testing.T, adjust func(*clusterv1.MachineHealthCheckSpec)) *story {
	s := &story{T: t, namespace: env.Namespace(t)}
	s.cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c"},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FakeCluster", Name: "c"}}}
	require.NoError(t, env.Client.Create(ctx, s.cluster))
	s.check = &clusterv1.MachineHealthCheck{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "mhc"}, Spec: clusterv1.MachineHealthCheckSpec{
		ClusterName: "c", Selector: metav1.LabelSelector{MatchLabels: map[string]string{"pool": "blue"}},
		Checks: clusterv1.MachineHealthCheckChecks{UnhealthyNodeConditions: []clusterv1.UnhealthyNodeCondition{{Type: "Ready", Status: "False", TimeoutSeconds: 0}}},
	}}
	if adjust != nil {
		adjust(&s.check.Spec)
	}
	require.NoError(t, env.Client.Create(ctx, s.check))
	return s
}

// initialize makes the cluster ready and reachable, at the API server of the test itself.
func (s *story) initialize() {
	s.Helper()
	yes := true
	require.NoError(s, env.Client.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}},
		Type:       clusterv1.ClusterSecretType, Data: map[string][]byte{"value": env.KubeConfig},
	}))
	s.status(s.cluster, func() {
		s.cluster.Status.Initialization = clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &yes, ControlPlaneInitialized: &yes}
		for _, kind := range []string{clusterv1.InfrastructureReadyCondition, clusterv1.ClusterControlPlaneInitializedCondition} {
			setCondition(s.cluster, kind, metav1.ConditionTrue)
		}
	})
}

func setCondition(o conditions.Setter, kind string, status metav1.ConditionStatus) {
	conditions.Set(o, metav1.Condition{Type: kind, Status: status, Reason: "Test"})
	conditions.Stamp(o, time.Now())
}

// status changes the status of an object as its controller would.
func (s *story) status(o client.Object, change func()) {
	s.Helper()
	before := o.DeepCopyObject().(client.Object)
	change()
	require.NoError(s, env.Client.Status().Patch(ctx, o, client.MergeFrom(before)))
}

// machine makes a Machine with a Node that is ready.
func (s *story) machine(name string) (*clusterv1.Machine, *corev1.Node) {
	s.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.namespace + "-" + name}}
	require.NoError(s, env.Client.Create(ctx, node))
	s.node(node, corev1.ConditionTrue)
	data := "data"
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: map[string]string{"pool": "blue", clusterv1.ClusterNameLabel: "c"}},
		Spec: clusterv1.MachineSpec{ClusterName: "c", Bootstrap: clusterv1.Bootstrap{DataSecretName: &data},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FakeMachine", Name: name}}}
	require.NoError(s, env.Client.Create(ctx, m))
	s.status(m, func() { m.Status.NodeRef.Name = node.Name })
	return m, node
}

func (s *story) node(node *corev1.Node, ready corev1.ConditionStatus) {
	s.Helper()
	s.status(node, func() {
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now()}}
	})
}

func (s *story) load(o client.Object) bool {
	return env.Client.Get(ctx, client.ObjectKeyFromObject(o), o) == nil
}

// until waits for what the controller does on its own; nothing here takes more than moments unless an event was missed.
func (s *story) until(what string, o client.Object, done func() bool) {
	s.Helper()
	start := time.Now()
	require.Eventually(s, func() bool { return s.load(o) && done() }, time.Minute, 10*time.Millisecond, what)
	s.Logf("%s after %d ms", what, time.Since(start).Milliseconds())
}

func (s *story) says(m *clusterv1.Machine, kind, reason string) {
	s.Helper()
	s.until("Machine "+m.Name+" has "+kind+" "+reason, m, func() bool { return conditions.Reason(m, kind) == reason })
}

func (s *story) annotate(o client.Object, key string, value any) {
	s.Helper()
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	require.NoError(s, err)
	require.NoError(s, env.Client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", data)))
}

// events are those of a reason, a series counted as what it is: several.
func (s *story) events(reason string) int {
	list := &eventsv1.EventList{}
	require.NoError(s, env.Client.List(ctx, list, client.InNamespace(s.namespace)))
	n := 0
	for _, e := range list.Items {
		if e.Reason == reason {
			n++
			if e.Series != nil {
				n += int(e.Series.Count)
			}
		}
	}
	return n
}

// quiet waits until the check agrees with the world and returns how often the controller has written by then.
func (s *story) quiet() int64 {
	s.Helper()
	last, since := writes.Load(), time.Now()
	require.Eventually(s, func() bool {
		if n := writes.Load(); n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) > 400*time.Millisecond
	}, time.Minute, 20*time.Millisecond, "quiet")
	return last
}

func newTemplate(s *story) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"strategy": "reboot"}}}}}
	o.SetGroupVersionKind(templateKind)
	o.SetNamespace(s.namespace)
	o.SetName("reboot")
	return o
}
