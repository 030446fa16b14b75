package extensionconfig_test

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/extensiontest"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/extension/wire"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/controllers/extensionconfig"
	webhook "github.com/slipway-capi/slipway/core/internal/webhooks/extensionconfig"
)

var (
	env   *testenv.Environment
	known = registry.New()
)

// BC-36: the manager has the rights of its role and no others, and owners are protected.
//
// Conformance: MG-33
func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.Files},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme, runtimev1.AddToScheme},
		Manager: func(ctx context.Context, mgr ctrl.Manager) error {
			if err := webhook.Register(mgr, manager.Features{manager.FeatureRuntimeSDK: true}); err != nil {
				return err
			}
			return (&extensionconfig.Controller{
				Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Registry: known, Pool: wire.NewPool(wire.Options{AllowLocal: true}),
			}).SetupWithManager(ctx, mgr, 2)
		},
	}))
}

// serve runs an extension with one handler, and counts how often it is asked what it serves.
func serve(t *testing.T, asked *atomic.Int32) *extensiontest.Endpoint {
	t.Helper()
	s := extension.NewServer(extension.Options{})
	extension.Handle(s, hook.BeforeClusterCreate, "first", func(context.Context, *hooks.BeforeClusterCreateRequest, *hooks.BeforeClusterCreateResponse) error {
		return nil
	})
	return extensiontest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked != nil && r.URL.Path == hook.Discovery.Path("") {
			asked.Add(1)
		}
		s.ServeHTTP(w, r)
	}))
}

func create(t *testing.T, name string, e *extensiontest.Endpoint, change func(*runtimev1.ExtensionConfig)) *runtimev1.ExtensionConfig {
	t.Helper()
	c := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.ClientConfig.URL, c.Spec.ClientConfig.CABundle = e.URL, e.CABundle
	if change != nil {
		change(c)
	}
	require.NoError(t, env.Client.Create(t.Context(), c))
	t.Cleanup(func() { _ = env.Client.Delete(context.Background(), c) })
	return c
}

func until(t *testing.T, c *runtimev1.ExtensionConfig, what string, done func() bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		return env.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c) == nil && done()
	}, time.Minute, 20*time.Millisecond, what)
}

func registered(name string) func() bool {
	return func() bool { _, ok := known.Find(name); return ok }
}

// Conformance: RT-21, RT-24
func TestAnExtensionIsDiscoveredAndForgotten(t *testing.T) {
	var asked atomic.Int32
	c := create(t, "plain", serve(t, &asked), nil)
	until(t, c, "it is discovered", func() bool { return conditions.IsTrue(c, runtimev1.ExtensionConfigDiscoveredCondition) })
	require.Len(t, c.Status.Handlers, 1)
	assert.Equal(t, "first.plain", c.Status.Handlers[0].Name)
	require.Eventually(t, registered("first.plain"), time.Minute, 10*time.Millisecond)
	require.NoError(t, known.Wait(t.Context()))
	version := c.ResourceVersion
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	assert.Equal(t, version, c.ResourceVersion, "nothing more is written")
	assert.EqualValues(t, 1, asked.Load(), "its own status does not wake the controller")

	require.NoError(t, env.Client.Delete(t.Context(), c))
	require.Eventually(t, func() bool { return !registered("first.plain")() }, time.Minute, 10*time.Millisecond, "it is forgotten")
}

// Conformance: RT-22, RT-23
func TestAnExtensionThatGoesSilentKeepsItsHandlers(t *testing.T) {
	c := create(t, "silent", serve(t, nil), nil)
	until(t, c, "it is discovered", func() bool { return conditions.IsTrue(c, runtimev1.ExtensionConfigDiscoveredCondition) })
	before := c.DeepCopy()
	c.Spec.ClientConfig.URL = "https://127.0.0.1:1"
	require.NoError(t, env.Client.Patch(t.Context(), c, client.MergeFrom(before)))
	until(t, c, "it is not discovered", func() bool { return conditions.IsFalse(c, runtimev1.ExtensionConfigDiscoveredCondition) })
	assert.Equal(t, "it refuses the connection", conditions.Message(c, runtimev1.ExtensionConfigDiscoveredCondition))
	assert.Len(t, c.Status.Handlers, 1)
	assert.True(t, registered("first.silent")())
	version := c.ResourceVersion
	time.Sleep(1500 * time.Millisecond) // two more tries
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	assert.Equal(t, version, c.ResourceVersion, "further tries write nothing")
}

// Conformance: RT-25
func TestAuthoritiesComeFromASecret(t *testing.T) {
	e := serve(t, nil)
	namespace := env.Namespace(t)
	c := create(t, "injected", e, func(c *runtimev1.ExtensionConfig) {
		c.Spec.ClientConfig.CABundle = nil
		c.Annotations = map[string]string{runtimev1.InjectCAFromSecretAnnotation: namespace + "/ca"}
	})
	message := func() string { return conditions.Message(c, runtimev1.ExtensionConfigDiscoveredCondition) }
	until(t, c, "the missing Secret is told", func() bool { return message() == "the Secret "+namespace+"/ca with the authorities does not exist" })
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ca"}, Data: map[string][]byte{"ca.crt": []byte("nonsense")}}
	require.NoError(t, env.Client.Create(t.Context(), secret))
	until(t, c, "the useless Secret is told", func() bool { return message() == "the Secret "+namespace+"/ca holds no certificate in ca.crt" })
	secret.Data["ca.crt"] = e.CABundle
	require.NoError(t, env.Client.Update(t.Context(), secret))
	until(t, c, "it is discovered", func() bool { return conditions.IsTrue(c, runtimev1.ExtensionConfigDiscoveredCondition) })
	assert.Equal(t, e.CABundle, c.Spec.ClientConfig.CABundle)
	secret.Data["ca.crt"] = serve(t, nil).CABundle
	require.NoError(t, env.Client.Update(t.Context(), secret))
	until(t, c, "another authority is taken over", func() bool {
		return string(c.Spec.ClientConfig.CABundle) == string(secret.Data["ca.crt"]) || message() != ""
	})
	until(t, c, "and told to be the wrong one", func() bool {
		return message() == "its certificate is signed by an unknown authority; clientConfig.caBundle must hold the right one"
	})
}

func TestAPausedExtensionIsNotAsked(t *testing.T) {
	var asked atomic.Int32
	c := create(t, "paused", serve(t, &asked), func(c *runtimev1.ExtensionConfig) { c.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
	until(t, c, "it is paused", func() bool { return conditions.IsTrue(c, clusterv1.PausedCondition) })
	assert.Zero(t, asked.Load())
	before := c.DeepCopy()
	c.Annotations = nil
	require.NoError(t, env.Client.Patch(t.Context(), c, client.MergeFrom(before)))
	until(t, c, "it goes on", func() bool {
		return conditions.IsFalse(c, clusterv1.PausedCondition) && conditions.IsTrue(c, runtimev1.ExtensionConfigDiscoveredCondition)
	})
}

// Conformance: RT-26
func TestBadConfigsAreRefused(t *testing.T) {
	c := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: "bad"}}
	c.Spec.ClientConfig.URL = "http://example.org"
	err := env.Client.Create(t.Context(), c)
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "spec.clientConfig.url")
}
