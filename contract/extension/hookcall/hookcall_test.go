package hookcall

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/contract/extension/endpoint"
	"github.com/slipway-capi/slipway/contract/extension/extensiontest"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/extension/wire"
)

type (
	createRequest  = hooks.BeforeClusterCreateRequest
	createResponse = hooks.BeforeClusterCreateResponse
)

// stage is a registry, a client and the calls that extensions got.
type stage struct {
	*testing.T
	registry *registry.Registry
	client   *Client
	calls    []string
	clock    time.Time
}

func newStage(t *testing.T) *stage {
	s := &stage{T: t, registry: registry.New(), clock: time.Unix(1000, 0)}
	s.registry.SetReady()
	s.client = New(s.registry, wire.NewPool(wire.Options{AllowLocal: true}), func(_ context.Context, namespace string) (map[string]string, error) {
		if namespace == "gone" {
			return nil, errors.New("no such namespace")
		}
		return map[string]string{"name": namespace}, nil
	})
	s.client.now = func() time.Time { return s.clock }
	return s
}

// add registers an extension with handlers for BeforeClusterCreate and GeneratePatches.
func (s *stage) add(name string, answer func(*createRequest, *createResponse) error, change func(*registry.Extension)) {
	s.Helper()
	server := extension.NewServer(extension.Options{})
	extension.Handle(server, hook.BeforeClusterCreate, "create", func(_ context.Context, request *createRequest, response *createResponse) error {
		s.calls = append(s.calls, name)
		return answer(request, response)
	})
	extension.Handle(server, hook.GeneratePatches, "patch", func(_ context.Context, request *hooks.GeneratePatchesRequest, response *hooks.GeneratePatchesResponse) error {
		s.calls = append(s.calls, name)
		response.Message = request.Settings["k"]
		if len(request.Items) > 0 {
			return errors.New("no items, please")
		}
		return nil
	})
	s.register(name, extensiontest.Start(s, server), change)
}

func (s *stage) register(name string, e *extensiontest.Endpoint, change func(*registry.Extension)) {
	x := registry.Extension{Name: name, Endpoint: endpoint.Endpoint{URL: e.URL, ServerName: "localhost", CABundle: string(e.CABundle)}, Handlers: []registry.Handler{
		{Name: "create." + name, ShortName: "create", Hook: hook.BeforeClusterCreate.ID(), Timeout: 5 * time.Second},
		{Name: "patch." + name, ShortName: "patch", Hook: hook.GeneratePatches.ID(), Timeout: 5 * time.Second},
	}}
	if change != nil {
		change(&x)
	}
	s.registry.Set(x)
}

func (s *stage) all(about string) (answers.Wait, error) {
	return All(s.Context(), s.client, hook.BeforeClusterCreate, "ns", about, &createRequest{})
}

func after(seconds int32, message string) func(*createRequest, *createResponse) error {
	return func(_ *createRequest, r *createResponse) error {
		r.RetryAfterSeconds, r.Message = seconds, message
		return nil
	}
}

func refuse(*createRequest, *createResponse) error { return errors.New("the moon is full") }

// Conformance: RT-14
func TestAllAreCalledInOrder(t *testing.T) {
	s := newStage(t)
	wait, err := s.all("")
	require.NoError(t, err)
	assert.Zero(t, wait, "nobody has anything against it")
	s.add("b", after(0, "fine"), nil)
	s.add("c", after(20, "later"), nil)
	s.add("a", after(30, "much later"), nil)
	wait, err = s.all("")
	require.NoError(t, err)
	assert.Equal(t, answers.Wait{AfterSeconds: 20, Message: "create.a: much later; create.c: later"}, wait)
	assert.Equal(t, []string{"a", "b", "c"}, s.calls)

	s.add("a", refuse, nil)
	s.add("c", refuse, nil)
	s.calls = nil
	_, err = s.all("")
	require.EqualError(t, err, "hook BeforeClusterCreate, handler create.a: it reports a failure: the moon is full\nhook BeforeClusterCreate, handler create.c: it reports a failure: the moon is full")
	assert.Equal(t, []string{"a", "b", "c"}, s.calls, "all are called, whatever one says")
}

// Conformance: RT-16
func TestWhoWaitsIsNotAskedAgain(t *testing.T) {
	s := newStage(t)
	s.add("a", after(30, "later"), nil)
	for range 3 {
		wait, err := s.all("cluster")
		require.NoError(t, err)
		assert.Equal(t, answers.Wait{AfterSeconds: 30, Message: "create.a: later"}, wait)
	}
	assert.Len(t, s.calls, 1)
	s.clock = s.clock.Add(10500 * time.Millisecond)
	wait, err := s.all("cluster")
	require.NoError(t, err)
	assert.EqualValues(t, 20, wait.AfterSeconds, "what is left")
	_, err = s.all("another cluster")
	require.NoError(t, err)
	assert.Len(t, s.calls, 2)
	s.add("a", after(30, "later"), func(e *registry.Extension) { e.Generation = 2 })
	_, err = s.all("cluster")
	require.NoError(t, err)
	assert.Len(t, s.calls, 3, "the extension is another one")
	s.clock = s.clock.Add(30 * time.Second)
	_, err = s.all("cluster")
	require.NoError(t, err)
	assert.Len(t, s.calls, 4, "time is over")
}

// Conformance: RT-17
func TestFailurePolicies(t *testing.T) {
	s := newStage(t)
	broken := extensiontest.Start(t, http.NotFoundHandler())
	s.register("broken", broken, nil)
	_, err := s.all("")
	require.EqualError(t, err, "hook BeforeClusterCreate, handler create.broken: it answers with HTTP status 404")
	_, err = One(t.Context(), s.client, hook.GeneratePatches, "patch.broken", "ns", &hooks.GeneratePatchesRequest{})
	require.ErrorContains(t, err, "404")

	ignore := func(e *registry.Extension) { e.Handlers[0].IgnoreFailure, e.Handlers[1].IgnoreFailure = true, true }
	s.register("broken", broken, ignore)
	wait, err := s.all("")
	require.NoError(t, err)
	assert.Zero(t, wait)
	response, err := One(t.Context(), s.client, hook.GeneratePatches, "patch.broken", "ns", &hooks.GeneratePatchesRequest{})
	require.NoError(t, err)
	assert.Empty(t, response.Items)

	s.add("broken", refuse, ignore)
	_, err = s.all("")
	require.ErrorContains(t, err, "the moon is full", "an objection is no failure to answer")
}

// Conformance: RT-13, RT-18
func TestOne(t *testing.T) {
	s := newStage(t)
	s.add("a", after(0, ""), func(e *registry.Extension) {
		e.Settings = map[string]string{"k": "of the extension"}
		e.Namespaces = labels.SelectorFromSet(labels.Set{"name": "ns"})
	})
	request := &hooks.GeneratePatchesRequest{}
	response, err := One(t.Context(), s.client, hook.GeneratePatches, "patch.a", "ns", request)
	require.NoError(t, err)
	assert.Equal(t, "of the extension", response.Message)
	assert.Nil(t, request.Settings, "the request stays as it is")
	request.Settings = map[string]string{"k": "of the patch"}
	response, err = One(t.Context(), s.client, hook.GeneratePatches, "patch.a", "ns", request)
	require.NoError(t, err)
	assert.Equal(t, "of the patch", response.Message)

	for _, c := range []struct{ handler, namespace, want string }{
		{"patch.b", "ns", "hook GeneratePatches, handler patch.b: no ExtensionConfig that was discovered has a handler of this name"},
		{"create.a", "ns", "hook GeneratePatches, handler create.a: it serves the hook BeforeClusterCreate"},
		{"patch.a", "other", "the namespaceSelector of ExtensionConfig a leaves namespace other out"},
		{"patch.a", "gone", "reading namespace gone: no such namespace"},
	} {
		_, err := One(t.Context(), s.client, hook.GeneratePatches, c.handler, c.namespace, &hooks.GeneratePatchesRequest{})
		require.ErrorContains(t, err, c.want)
	}
}

// Conformance: RT-18
func TestNamespaces(t *testing.T) {
	s := newStage(t)
	s.add("a", after(0, ""), func(e *registry.Extension) { e.Namespaces = labels.SelectorFromSet(labels.Set{"name": "ns"}) })
	s.add("b", after(0, ""), func(e *registry.Extension) { e.Namespaces = labels.Everything() })
	_, err := All(t.Context(), s.client, hook.BeforeClusterCreate, "other", "", &createRequest{})
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, s.calls)
	_, err = All(t.Context(), s.client, hook.BeforeClusterCreate, "gone", "", &createRequest{})
	require.ErrorContains(t, err, "reading namespace gone", "nobody is passed over")
	serves, err := s.client.Serves(t.Context(), hook.BeforeClusterCreate.Definition, "other")
	require.NoError(t, err)
	assert.True(t, serves)
	serves, err = s.client.Serves(t.Context(), hook.BeforeClusterDelete.Definition, "ns")
	require.NoError(t, err)
	assert.False(t, serves)
}

// Conformance: RT-19
func TestTheSameRequestIsSentOnce(t *testing.T) {
	s := newStage(t)
	s.add("a", after(0, ""), nil)
	one := func(settings string, items ...hooks.GeneratePatchesRequestItem) {
		_, err := One(t.Context(), s.client, hook.GeneratePatches, "patch.a", "ns", &hooks.GeneratePatchesRequest{
			CommonRequest: hooks.CommonRequest{Settings: map[string]string{"k": settings}}, Items: items})
		assert.Equal(t, len(items) > 0, err != nil)
	}
	one("1")
	one("1")
	assert.Len(t, s.calls, 1)
	one("2")
	assert.Len(t, s.calls, 2, "another request")
	s.clock = s.clock.Add(2 * time.Minute)
	one("1")
	assert.Len(t, s.calls, 3, "its time is over")
	bad := hooks.GeneratePatchesRequestItem{UID: "x"}
	bad.Object.Raw = []byte(`{}`)
	one("1", bad)
	one("1", bad)
	assert.Len(t, s.calls, 5, "failures are not remembered")
	_, err := s.all("")
	require.NoError(t, err)
	_, err = s.all("")
	require.NoError(t, err)
	assert.Len(t, s.calls, 7, "hooks of the life of a cluster are sent each time")
}

func TestPlansDoNotDependOnTheStatus(t *testing.T) {
	request := &hooks.GenerateUpgradePlanRequest{ToKubernetesVersion: "v1.37.0"}
	key := func() digest {
		return same(registry.Registered{Extension: &registry.Extension{}}, request, []byte("ignored"))
	}
	first := key()
	request.Cluster.Status.Phase, request.Cluster.ResourceVersion = "Provisioned", "5"
	assert.Equal(t, first, key())
	request.Cluster.Labels = map[string]string{"a": "b"}
	assert.NotEqual(t, first, key())
}

// Conformance: RT-20
func TestNothingIsPassedOverBeforeTheRegistryIsReady(t *testing.T) {
	s := newStage(t)
	s.client.registry = registry.New()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := All(ctx, s.client, hook.BeforeClusterCreate, "ns", "", &createRequest{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = One(ctx, s.client, hook.GeneratePatches, "x", "ns", &hooks.GeneratePatchesRequest{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = s.client.Serves(ctx, hook.BeforeClusterCreate.Definition, "ns")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestCluster(t *testing.T) {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u", Generation: 3, ManagedFields: []metav1.ManagedFieldsEntry{{}}, Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "x", "a": "b"}}}
	got := Cluster(c)
	assert.Equal(t, "Cluster", got.Kind)
	assert.Equal(t, "cluster.x-k8s.io/v1beta2", got.APIVersion)
	assert.Equal(t, map[string]string{"a": "b"}, got.Annotations)
	assert.Nil(t, got.ManagedFields)
	assert.Len(t, c.Annotations, 2, "the Cluster itself stays as it is")
	assert.NotEqual(t, About(c, "a", "b"), About(c, "ab"))
}

// Conformance: MD-26, MA-46
func TestSoleHandler(t *testing.T) {
	s := newStage(t)
	ask := func() (*createResponse, string, error) {
		return Sole(t.Context(), s.client, hook.BeforeClusterCreate, "ns", &createRequest{})
	}
	_, _, err := ask()
	require.ErrorIs(t, err, ErrNobody)
	s.add("a", after(20, "later"), nil)
	response, handler, err := ask()
	require.NoError(t, err)
	assert.Equal(t, "create.a", handler)
	assert.EqualValues(t, 20, response.RetryAfterSeconds)
	s.add("b", after(0, ""), nil)
	s.calls = nil
	_, _, err = ask()
	require.EqualError(t, err, "hook BeforeClusterCreate: only one extension may have a handler, and these have: create.a, create.b")
	assert.Empty(t, s.calls, "neither is called")
	s.add("b", after(0, ""), func(e *registry.Extension) { e.Namespaces = labels.SelectorFromSet(labels.Set{"name": "other"}) })
	s.add("a", refuse, nil)
	_, handler, err = ask()
	require.ErrorContains(t, err, "the moon is full")
	assert.Equal(t, "create.a", handler)
}

// TestNoResponseIsNoUpdate: an update that nobody answered about is not done, whatever the failure policy.
//
// Conformance: MA-46
func TestNoResponseIsNoUpdate(t *testing.T) {
	s := newStage(t)
	broken := extensiontest.Start(t, http.NotFoundHandler())
	s.registry.Set(registry.Extension{Name: "broken", Endpoint: endpoint.Endpoint{URL: broken.URL, ServerName: "localhost", CABundle: string(broken.CABundle)}, Handlers: []registry.Handler{
		{Name: "update.broken", ShortName: "update", Hook: hook.UpdateMachine.ID(), Timeout: 5 * time.Second, IgnoreFailure: true},
		{Name: "can.broken", ShortName: "can", Hook: hook.CanUpdateMachineSet.ID(), Timeout: 5 * time.Second, IgnoreFailure: true},
	}})
	_, _, err := Sole(t.Context(), s.client, hook.UpdateMachine, "ns", &hooks.UpdateMachineRequest{})
	require.ErrorContains(t, err, "404")
	can, _, err := Sole(t.Context(), s.client, hook.CanUpdateMachineSet, "ns", &hooks.CanUpdateMachineSetRequest{})
	require.NoError(t, err)
	assert.False(t, can.MachineSetPatch.IsDefined(), "which covers nothing")
}
