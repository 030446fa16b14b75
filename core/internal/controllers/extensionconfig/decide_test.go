package extensionconfig

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

func aConfig() *runtimev1.ExtensionConfig {
	c := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: "ext", UID: "uid", Generation: 3}}
	c.Spec.ClientConfig.URL = "https://example.org"
	return c
}

func of[T any](v T) *T { return &v }

func served(name string, timeout *int32, policy *hooks.FailurePolicy) hooks.ExtensionHandler {
	return hooks.ExtensionHandler{Name: name, RequestHook: hook.GeneratePatches.ID(), TimeoutSeconds: timeout, FailurePolicy: policy}
}

func status(name string, timeout int32, policy string) runtimev1.ExtensionConfigHandlerStatus {
	return runtimev1.ExtensionConfigHandlerStatus{Name: name, TimeoutSeconds: timeout, FailurePolicy: policy,
		RequestHook: runtimev1.ExtensionConfigHandlerRequestHookStatus{APIVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", Hook: "GeneratePatches"}}
}

// Conformance: RT-21
func TestHandlersOfTheStatus(t *testing.T) {
	d := Decide(World{Config: aConfig(), Authorities: []byte("ca"), Handlers: []hooks.ExtensionHandler{
		served("z", of(int32(5)), of(hooks.FailurePolicyIgnore)), served("b", nil, nil), served("a", of(int32(0)), of(hooks.FailurePolicyFail)),
	}})
	require.NoError(t, d.Err)
	assert.Equal(t, []runtimev1.ExtensionConfigHandlerStatus{status("a.ext", 10, "Fail"), status("b.ext", 10, "Fail"), status("z.ext", 5, "Ignore")}, d.Config.Status.Handlers)
	assert.Equal(t, []byte("ca"), d.Config.Spec.ClientConfig.CABundle)
	assert.True(t, conditions.IsTrue(d.Config, "Discovered"))
	assert.Equal(t, "Discovered", conditions.Reason(d.Config, "Discovered"))
	assert.True(t, conditions.IsFalse(d.Config, clusterv1.PausedCondition))
}

// Conformance: RT-22
func TestWhatExtensionsMustNotSay(t *testing.T) {
	unknown := served("a", nil, nil)
	unknown.RequestHook.Hook = "BeforeTheFlood"
	var many, bad []hooks.ExtensionHandler
	for i := range 513 {
		many = append(many, served(fmt.Sprintf("h%d", i), nil, nil))
	}
	for i := range 9 {
		bad = append(bad, served(fmt.Sprintf("h%d", i), of(int32(-1)), nil))
	}
	for _, c := range []struct {
		name     string
		handlers []hooks.ExtensionHandler
		err      error
		want     string
	}{
		{name: "no answer", err: errors.New("it refuses the connection"), want: "it refuses the connection"},
		{name: "a name that is no label", handlers: []hooks.ExtensionHandler{served("a.b", nil, nil)}, want: "the name of its handler 0 cannot be: "},
		{name: "a name twice", handlers: []hooks.ExtensionHandler{served("a", nil, nil), served("a", nil, nil)}, want: "it serves two handlers of the name a"},
		{name: "an unknown hook", handlers: []hooks.ExtensionHandler{unknown}, want: "its handler a is for a hook that is not known"},
		{name: "too little time", handlers: []hooks.ExtensionHandler{served("a", of(int32(-1)), nil)}, want: "the timeout of its handler a is -1 seconds, not from 0 to 30"},
		{name: "too much time", handlers: []hooks.ExtensionHandler{served("a", of(int32(31)), nil)}, want: "the timeout of its handler a is 31 seconds, not from 0 to 30"},
		{name: "an unknown policy", handlers: []hooks.ExtensionHandler{served("a", nil, of(hooks.FailurePolicy("Maybe")))}, want: "the failure policy of its handler a is neither Fail nor Ignore"},
		{name: "too many", handlers: many, want: "it serves 513 handlers, more than 512"},
		{name: "a long list", handlers: bad, want: "and 4 more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := World{Config: aConfig(), Handlers: c.handlers, Err: c.err}
			w.Config.Status.Handlers = []runtimev1.ExtensionConfigHandlerStatus{status("old.ext", 10, "Fail")}
			d := Decide(w)
			require.ErrorContains(t, d.Err, c.want)
			assert.True(t, conditions.IsFalse(d.Config, "Discovered"))
			assert.Equal(t, "NotDiscovered", conditions.Reason(d.Config, "Discovered"))
			assert.Equal(t, d.Err.Error(), conditions.Message(d.Config, "Discovered"))
			assert.Equal(t, w.Config.Status.Handlers, d.Config.Status.Handlers, "those known before stay")
		})
	}
}

func TestAPausedConfigIsLeftAlone(t *testing.T) {
	c := aConfig()
	c.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	d := Decide(World{Config: c})
	require.NoError(t, d.Err)
	assert.True(t, conditions.IsTrue(d.Config, clusterv1.PausedCondition))
	assert.False(t, conditions.Has(d.Config, "Discovered"))
}
