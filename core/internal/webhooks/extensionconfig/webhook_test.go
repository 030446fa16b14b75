package extensionconfig

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/manager"
)

// Conformance: RT-26
func TestValidate(t *testing.T) {
	ca, err := certificates.NewCA(certificates.ECDSAP256, time.Hour, time.Now())
	require.NoError(t, err)
	type spec = runtimev1.ExtensionConfigSpec
	service := func(change func(*runtimev1.ExtensionConfigClientConfigService)) func(*runtimev1.ExtensionConfig) {
		return func(c *runtimev1.ExtensionConfig) {
			c.Spec.ClientConfig = runtimev1.ExtensionConfigClientConfig{Service: runtimev1.ExtensionConfigClientConfigService{Name: "s", Namespace: "n"}}
			change(&c.Spec.ClientConfig.Service)
		}
	}
	port := int32(70000)
	for _, c := range []struct {
		name   string
		change func(*runtimev1.ExtensionConfig)
		want   string
	}{
		{name: "good", change: func(*runtimev1.ExtensionConfig) {}},
		{name: "a Service", change: service(func(*runtimev1.ExtensionConfigClientConfigService) {})},
		{name: "authorities", change: func(c *runtimev1.ExtensionConfig) { c.Spec.ClientConfig.CABundle = ca.Cert }},
		{name: "neither", change: func(c *runtimev1.ExtensionConfig) { c.Spec = spec{} }, want: "spec.clientConfig: Required value: one of url and service must be set"},
		{name: "both", change: func(c *runtimev1.ExtensionConfig) { c.Spec.ClientConfig.Service.Name = "s" }, want: "spec.clientConfig: Invalid value: \"url, service\": only one of url and service can be set"},
		{name: "no TLS", change: func(c *runtimev1.ExtensionConfig) { c.Spec.ClientConfig.URL = "http://example.org" }, want: "spec.clientConfig.url: Invalid value: \"http://example.org\": it must begin with https://"},
		{name: "a query", change: func(c *runtimev1.ExtensionConfig) { c.Spec.ClientConfig.URL = "https://example.org?a" }, want: "spec.clientConfig.url: Invalid value"},
		{name: "a bad name", change: service(func(s *runtimev1.ExtensionConfigClientConfigService) { s.Name = "a.b" }), want: "spec.clientConfig.service.name: Invalid value"},
		{name: "no namespace", change: service(func(s *runtimev1.ExtensionConfigClientConfigService) { s.Namespace = "" }), want: "spec.clientConfig.service.namespace: Invalid value"},
		{name: "a bad port", change: service(func(s *runtimev1.ExtensionConfigClientConfigService) { s.Port = &port }), want: "spec.clientConfig.service.port: Invalid value: 70000: must be from 1 to 65535"},
		{name: "upwards", change: service(func(s *runtimev1.ExtensionConfigClientConfigService) { s.Path = "/a/../b" }), want: "spec.clientConfig.service.path: Invalid value"},
		{name: "no certificates", change: func(c *runtimev1.ExtensionConfig) { c.Spec.ClientConfig.CABundle = []byte("x") }, want: "spec.clientConfig.caBundle: Invalid value"},
		{name: "a bad selector", change: func(c *runtimev1.ExtensionConfig) {
			c.Spec.NamespaceSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}
		}, want: "spec.namespaceSelector: Invalid value"},
		{name: "a setting without name", change: func(c *runtimev1.ExtensionConfig) { c.Spec.Settings = map[string]string{"": "x"} }, want: "spec.settings: Invalid value"},
		{name: "a Secret", change: func(c *runtimev1.ExtensionConfig) {
			c.Annotations = map[string]string{"runtime.cluster.x-k8s.io/inject-ca-from-secret": "ns/name"}
		}},
		{name: "a Secret without namespace", change: func(c *runtimev1.ExtensionConfig) {
			c.Annotations = map[string]string{"runtime.cluster.x-k8s.io/inject-ca-from-secret": "name"}
		}, want: "metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret]: Invalid value: \"name\": must be of the form namespace/name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := &runtimev1.ExtensionConfig{Spec: spec{ClientConfig: runtimev1.ExtensionConfigClientConfig{URL: "https://example.org"}}}
			c.change(config)
			problems := Validate(config, manager.Features{manager.FeatureRuntimeSDK: true})
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			assert.Contains(t, problems.ToAggregate().Error(), c.want)
		})
	}
	off := Validate(&runtimev1.ExtensionConfig{}, manager.Features{})
	require.Len(t, off, 1)
	assert.Contains(t, off[0].Error(), "feature gate RuntimeSDK")
}

func TestDefault(t *testing.T) {
	c := &runtimev1.ExtensionConfig{}
	Default(c)
	assert.Nil(t, c.Spec.ClientConfig.Service.Port)
	c.Spec.ClientConfig.Service.Name = "s"
	Default(c)
	assert.EqualValues(t, 443, *c.Spec.ClientConfig.Service.Port)
}
