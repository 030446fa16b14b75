package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/extensiontest"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

type (
	deleteRequest  = hooks.BeforeClusterDeleteRequest
	deleteResponse = hooks.BeforeClusterDeleteResponse
)

func quiet() extension.Options {
	return extension.Options{Logger: slog.New(slog.DiscardHandler), MaxRequestBytes: 1000}
}

// deletion is a server with one handler of BeforeClusterDelete, called h.
func deletion(handler extension.Handler[deleteRequest, deleteResponse], options ...extension.HandlerOption) *extension.Server {
	s := extension.NewServer(quiet())
	extension.Handle(s, hook.BeforeClusterDelete, "h", handler, options...)
	return s
}

func nothing(context.Context, *deleteRequest, *deleteResponse) error { return nil }

// Conformance: RT-02
func TestDiscovery(t *testing.T) {
	s := extension.NewServer(quiet())
	extension.Handle(s, hook.BeforeClusterDelete, "z", nothing, extension.Timeout(5*time.Second), extension.IgnoreFailure())
	extension.Handle(s, hook.GeneratePatches, "a", func(context.Context, *hooks.GeneratePatchesRequest, *hooks.GeneratePatchesResponse) error { return nil })
	five, ignore := int32(5), hooks.FailurePolicyIgnore
	assert.Equal(t, []hooks.ExtensionHandler{
		{Name: "a", RequestHook: hooks.GroupVersionHook{APIVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", Hook: "GeneratePatches"}},
		{Name: "z", RequestHook: hook.BeforeClusterDelete.ID(), TimeoutSeconds: &five, FailurePolicy: &ignore},
	}, extensiontest.Discover(t, extensiontest.Start(t, s)), "by name")
	assert.Empty(t, extensiontest.Discover(t, extensiontest.Start(t, extension.NewServer(quiet()))))
}

// Conformance: RT-03
func TestResponses(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler extension.Handler[deleteRequest, deleteResponse]
		want    string
	}{
		{"a success that says nothing", nothing, `{"kind":"BeforeClusterDeleteResponse","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","status":"Success","retryAfterSeconds":0}`},
		{"ask again", func(_ context.Context, request *deleteRequest, r *deleteResponse) error {
			r.RetryAfterSeconds, r.Message = 5, "cluster "+request.Cluster.Name+" is backed up, "+request.Settings["k"]
			return nil
		}, `{"kind":"BeforeClusterDeleteResponse","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","status":"Success","message":"cluster c is backed up, v","retryAfterSeconds":5}`},
		{"an error forgets what was filled in", func(_ context.Context, _ *deleteRequest, r *deleteResponse) error {
			r.RetryAfterSeconds = 5
			return errors.New("no")
		}, `{"kind":"BeforeClusterDeleteResponse","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","status":"Failure","message":"no","retryAfterSeconds":0}`},
		{"a panic does not tell what it is about", func(context.Context, *deleteRequest, *deleteResponse) error { panic("secret") },
			`{"kind":"BeforeClusterDeleteResponse","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","status":"Failure","message":"handler h of BeforeClusterDelete panicked; its log says more","retryAfterSeconds":0}`},
		{"another kind of response cannot be", func(_ context.Context, _ *deleteRequest, r *deleteResponse) error {
			*r = deleteResponse{}
			return nil
		}, `{"kind":"BeforeClusterDeleteResponse","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","status":"Success","retryAfterSeconds":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := extensiontest.Start(t, deletion(c.handler))
			request := &deleteRequest{CommonRequest: hooks.CommonRequest{Settings: map[string]string{"k": "v"}}}
			request.Cluster.Name = "c"
			got, err := json.Marshal(extensiontest.Call(t, e, hook.BeforeClusterDelete, "h", request))
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(got))
		})
	}
}

// Conformance: RT-04
func TestWhatIsNoCall(t *testing.T) {
	e := extensiontest.Start(t, deletion(nothing))
	path := hook.BeforeClusterDelete.Path("h")
	for _, c := range []struct {
		name, path, body string
		status           int
	}{
		{"good", path, `{"kind":"BeforeClusterDeleteRequest","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1"}`, http.StatusOK},
		{"good with a slash at the end", path + "/", `{}`, http.StatusOK},
		{"another handler", hook.BeforeClusterDelete.Path("other"), `{}`, http.StatusNotFound},
		{"another hook", hook.BeforeClusterCreate.Path("h"), `{}`, http.StatusNotFound},
		{"the root", "/", `{}`, http.StatusNotFound},
		{"no JSON", path, `{`, http.StatusBadRequest},
		{"a wrong field", path, `{"cluster":5}`, http.StatusBadRequest},
		{"another kind", path, `{"kind":"BeforeClusterCreateRequest","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1"}`, http.StatusBadRequest},
		{"another version", path, `{"kind":"BeforeClusterDeleteRequest","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1"}`, http.StatusBadRequest},
		{"too large", path, `{"settings":{"a":"` + strings.Repeat("x", 1000) + `"}}`, http.StatusRequestEntityTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, answer := extensiontest.Post(t, e, c.path, []byte(c.body))
			assert.Equal(t, c.status, status, string(answer))
		})
	}
	recorder := httptest.NewRecorder()
	deletion(nothing).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	assert.Equal(t, http.StatusMethodNotAllowed, recorder.Code)
}

func TestHandlersKnowHowLongTheyMayTake(t *testing.T) {
	var left time.Duration
	e := extensiontest.Start(t, deletion(func(ctx context.Context, _ *deleteRequest, _ *deleteResponse) error {
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
		return nil
	}, extension.Timeout(30*time.Second)))
	extensiontest.Call(t, e, hook.BeforeClusterDelete, "h", &deleteRequest{})
	assert.InDelta(t, 30, left.Seconds(), 5)
}

func TestMistakesOfTheProgramPanic(t *testing.T) {
	for name, mistake := range map[string]func(){
		"a bad name":        func() { extension.Handle(extension.NewServer(quiet()), hook.BeforeClusterDelete, "A.b", nothing) },
		"a name twice":      func() { s := deletion(nothing); extension.Handle(s, hook.BeforeClusterDelete, "h", nothing) },
		"no time":           func() { extension.Timeout(0) },
		"too much time":     func() { extension.Timeout(31 * time.Second) },
		"a part of seconds": func() { extension.Timeout(1500 * time.Millisecond) },
	} {
		assert.Panics(t, mistake, name)
	}
}

func TestStartNeedsCertificates(t *testing.T) {
	require.ErrorContains(t, extension.NewServer(extension.Options{Address: "127.0.0.1:0"}).Start(t.Context()), "CertFile and KeyFile")
	require.ErrorContains(t, extension.NewServer(extension.Options{Address: "127.0.0.1:0", CertFile: "/none", KeyFile: "/none"}).Start(t.Context()), "reading the certificate")
	require.ErrorContains(t, extension.NewServer(extension.Options{Address: "nowhere:-1", CertFile: "/none", KeyFile: "/none"}).Start(t.Context()), "listening on")
}
