package machinedeployment_test

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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
)

var (
	env *testenv.Environment
	ctx = context.Background()
	// writes counts what the two controllers send, the events apart.
	writes atomic.Int64
)

// The provider of these tests: kinds without a controller.
var (
	machineTemplate   = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "FakeMachineTemplate"}
	machineKind       = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "FakeMachine"}
	bootstrapTemplate = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1", Kind: "FakeConfigTemplate"}
	bootstrapKind     = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1", Kind: "FakeConfig"}
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
func TestMain(m *testing.M) {
	files := fstest.MapFS{}
	for _, gvk := range []schema.GroupVersionKind{machineTemplate, machineKind, bootstrapTemplate, bootstrapKind} {
		files[gvk.Kind+".yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, fakeCRD, gvk.Kind, strings.ToLower(gvk.Kind), gvk.Group)}
	}
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.CRDs, config.Roles, files},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme},
		Manager:     setup,
	}))
}

func setup(ctx context.Context, mgr ctrl.Manager) error {
	c := counting{Client: mgr.GetClient()}
	resolver := external.NewResolver(mgr.GetClient())
	if err := (&machineset.Controller{Client: c, Resolver: resolver, Recorder: mgr.GetEventRecorder("machineset"), PreflightChecks: []string{"All"}}).SetupWithManager(ctx, mgr, 2); err != nil {
		return err
	}
	if err := (&machinedeployment.Controller{Client: c, Resolver: resolver, Recorder: mgr.GetEventRecorder("machinedeployment")}).SetupWithManager(ctx, mgr, 2); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("machinist").For(&clusterv1.Machine{}).Complete(&machinist{mgr.GetClient()})
}

// counting counts the writes of a client.
type counting struct{ client.Client }

func (c counting) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	writes.Add(1)
	return c.Client.Create(ctx, o, opts...)
}

func (c counting) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	writes.Add(1)
	return c.Client.Patch(ctx, o, p, opts...)
}

func (c counting) Status() client.SubResourceWriter { return c.SubResource("status") }

func (c counting) SubResource(name string) client.SubResourceClient {
	return countingStatus{c.Client.SubResource(name)}
}

type countingStatus struct{ client.SubResourceClient }

func (c countingStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	writes.Add(1)
	return c.SubResourceClient.Patch(ctx, o, p, opts...)
}

// machinist plays the controller of Machines: each is available at once, unless its template is called broken, and gone
// as soon as it is deleted.
type machinist struct{ client.Client }

func (p *machinist) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	m := &clusterv1.Machine{}
	if err := p.Get(ctx, req.NamespacedName, m); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !m.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, client.IgnoreNotFound(p.Patch(ctx, m, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
	}
	if m.Status.NodeRef.Name != "" || m.Annotations["test.example.org/broken"] != "" {
		return reconcile.Result{}, nil
	}
	before := m.DeepCopy()
	m.Status.NodeRef.Name = m.Name
	for _, t := range []string{clusterv1.ReadyCondition, clusterv1.AvailableCondition, clusterv1.MachineUpToDateCondition} {
		conditions.Set(m, metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: "Test"})
	}
	conditions.Stamp(m, time.Now())
	return reconcile.Result{}, client.IgnoreNotFound(p.Status().Patch(ctx, m, client.MergeFrom(before)))
}

// eventually waits for what controllers do on their own; nothing here takes more than moments unless an event was missed.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	start := time.Now()
	require.Eventually(t, done, time.Minute, 10*time.Millisecond, what)
	t.Logf("%s after %d ms", what, time.Since(start).Milliseconds())
}

func fake(t *testing.T, gvk schema.GroupVersionKind, namespace, name string) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"from": "template"}},
		"spec":     map[string]any{"size": name},
	}}}}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(namespace)
	o.SetName(name)
	require.NoError(t, env.Client.Create(ctx, o))
}

func patched(t *testing.T, o client.Object, content map[string]any) {
	t.Helper()
	data, err := json.Marshal(content)
	require.NoError(t, err)
	require.NoError(t, env.Client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", data)))
}

func templateRef(gvk schema.GroupVersionKind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: name}
}
