package registration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/extension/endpoint"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/registry"
)

func aConfig() *runtimev1.ExtensionConfig {
	c := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: "ext", UID: "uid", Generation: 3}}
	c.Spec.ClientConfig.URL = "https://example.org"
	return c
}

func status(name string, timeout int32, policy string) runtimev1.ExtensionConfigHandlerStatus {
	return runtimev1.ExtensionConfigHandlerStatus{Name: name, TimeoutSeconds: timeout, FailurePolicy: policy,
		RequestHook: runtimev1.ExtensionConfigHandlerRequestHookStatus{APIVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", Hook: "GeneratePatches"}}
}

// Conformance: RT-23
func TestWhatIsRegistered(t *testing.T) {
	c := aConfig()
	_, ok := Extension(c)
	assert.False(t, ok, "what it serves is not known")
	c.Spec.ClientConfig.CABundle = []byte("ca")
	c.Spec.Settings = map[string]string{"k": "v"}
	c.Spec.NamespaceSelector.MatchLabels = map[string]string{"a": "b"}
	c.Status.Handlers = []runtimev1.ExtensionConfigHandlerStatus{status("a.ext", 5, "Ignore"), status("b.ext", 10, "Fail")}
	conditions.Set(c, metav1.Condition{Type: runtimev1.ExtensionConfigDiscoveredCondition, Status: metav1.ConditionFalse, Reason: runtimev1.ExtensionConfigNotDiscoveredReason})
	got, ok := Extension(c)
	require.True(t, ok, "who does not answer now is not passed over")
	assert.Equal(t, registry.Extension{
		Name: "ext", UID: "uid", Generation: 3, Endpoint: endpoint.Endpoint{URL: "https://example.org", ServerName: "example.org", CABundle: "ca"},
		Namespaces: labels.SelectorFromSet(labels.Set{"a": "b"}), Settings: map[string]string{"k": "v"},
		Handlers: []registry.Handler{
			{Name: "a.ext", ShortName: "a", Hook: hook.GeneratePatches.ID(), Timeout: 5 * time.Second, IgnoreFailure: true},
			{Name: "b.ext", ShortName: "b", Hook: hook.GeneratePatches.ID(), Timeout: 10 * time.Second},
		},
	}, got)
	for name, change := range map[string]func(*runtimev1.ExtensionConfig){
		"it goes": func(c *runtimev1.ExtensionConfig) {
			c.DeletionTimestamp = &metav1.Time{}
			*c.DeletionTimestamp = metav1.Now()
		},
		"no address": func(c *runtimev1.ExtensionConfig) { c.Spec.ClientConfig.URL = "" },
		"a bad selector": func(c *runtimev1.ExtensionConfig) {
			c.Spec.NamespaceSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Operator: "x"}}
		},
	} {
		other := c.DeepCopy()
		change(other)
		_, ok := Extension(other)
		assert.False(t, ok, name)
	}
}
