package inplace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/extension/wire"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/controllers/extensionconfig"
	"github.com/slipway-capi/slipway/core/internal/controllers/machine"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
)

var env *testenv.Environment

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
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func TestMain(m *testing.M) {
	files := fstest.MapFS{}
	for _, gvk := range []schema.GroupVersionKind{machineTemplate, machineKind, bootstrapTemplate, bootstrapKind} {
		files[gvk.Kind+".yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, fakeCRD, gvk.Kind, strings.ToLower(gvk.Kind), gvk.Group)}
	}
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.CRDs, files},
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme, runtimev1.AddToScheme},
		Manager:     setup,
	}))
}

func setup(ctx context.Context, mgr ctrl.Manager) error {
	c, resolver := mgr.GetClient(), external.NewResolver(mgr.GetClient())
	known, pool := registry.New(), wire.NewPool(wire.Options{AllowLocal: true})
	hooks := hookcall.New(known, pool, hookcall.NamespaceLabels(c))
	index := func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }
	return errors.Join(
		mgr.GetFieldIndexer().IndexField(ctx, &corev1.Node{}, clustercache.NodeProviderIDIndex, index),
		(&extensionconfig.Controller{Client: c, Live: mgr.GetAPIReader(), Registry: known, Pool: pool}).SetupWithManager(ctx, mgr, 2),
		(&machinedeployment.Controller{Client: c, Resolver: resolver, Recorder: mgr.GetEventRecorder("machinedeployment"), Hooks: hooks}).SetupWithManager(ctx, mgr, 2),
		(&machineset.Controller{Client: c, Resolver: resolver, Recorder: mgr.GetEventRecorder("machineset")}).SetupWithManager(ctx, mgr, 2),
		(&machine.Controller{Client: c, Resolver: resolver, Recorder: mgr.GetEventRecorder("machine"), Hooks: hooks, ClusterCache: &sameCluster{client: c, cache: mgr.GetCache()}}).SetupWithManager(ctx, mgr, 2),
		ctrl.NewControllerManagedBy(mgr).Named("provider").For(&clusterv1.Machine{}).Complete(&provider{c}),
	)
}

// sameCluster takes the management cluster for every workload cluster: Nodes are where Machines are.
type sameCluster struct {
	client client.Client
	cache  cache.Cache
	once   sync.Once
}

func (c *sameCluster) Client(context.Context, client.ObjectKey) (client.Client, error) {
	return c.client, nil
}

func (c *sameCluster) Reader(context.Context, client.ObjectKey) (client.Reader, error) {
	return c.client, nil
}

func (c *sameCluster) UncachedClient(context.Context, client.ObjectKey) (client.Client, error) {
	return c.client, nil
}

func (c *sameCluster) RESTConfig(context.Context, client.ObjectKey) (*rest.Config, error) {
	return nil, errors.New("not here")
}

func (c *sameCluster) Watch(_ context.Context, _ client.ObjectKey, w clustercache.WatchSpec) (err error) {
	wake := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		namespace, name, _ := strings.Cut(strings.TrimPrefix(o.(*corev1.Node).Spec.ProviderID, "fake:///"), "/")
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}}
	})
	c.once.Do(func() { err = w.Watcher.Watch(source.Kind(c.cache, w.Object, wake)) })
	return err
}

func (c *sameCluster) Health(client.ObjectKey) clustercache.HealthState {
	return clustercache.HealthState{LastProbeSuccess: time.Now()}
}

func (c *sameCluster) Source(string, handler.EventHandler, ...clustercache.SourceOption) source.Source {
	return source.Func(func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error { return nil })
}

// provider plays bootstrap and infrastructure: what a Machine needs is there at once, and a healthy Node with it.
type provider struct{ client.Client }

func (p *provider) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	m := &clusterv1.Machine{}
	if err := p.Get(ctx, req.NamespacedName, m); err != nil || m.Spec.ProviderID != "" {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	id := "fake:///" + m.Namespace + "/" + m.Name
	node := &corev1.Node{Spec: corev1.NodeSpec{ProviderID: id}}
	node.Name = m.Namespace + "-" + m.Name
	if err := client.IgnoreAlreadyExists(p.Create(ctx, node)); err != nil {
		return reconcile.Result{}, err
	}
	conditions := `[{"type":"Ready","status":"True"},{"type":"MemoryPressure","status":"False"},{"type":"DiskPressure","status":"False"},{"type":"PIDPressure","status":"False"}]`
	status := fmt.Sprintf(`{"status":{"conditions":%s,"nodeInfo":{"kubeletVersion":%q}}}`, conditions, m.Spec.Version)
	return reconcile.Result{}, errors.Join(
		p.Status().Patch(ctx, node, merge(status)),
		p.Status().Patch(ctx, object(bootstrapKind, m.Namespace, m.Name), merge(`{"status":{"dataSecretName":"data","initialization":{"dataSecretCreated":true},"conditions":[{"type":"Ready","status":"True","reason":"Test","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)),
		p.Status().Patch(ctx, object(machineKind, m.Namespace, m.Name), merge(`{"status":{"initialization":{"provisioned":true},"conditions":[{"type":"Ready","status":"True","reason":"Test","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)),
		p.Patch(ctx, object(machineKind, m.Namespace, m.Name), merge(fmt.Sprintf(`{"spec":{"providerID":%q}}`, id))),
	)
}
