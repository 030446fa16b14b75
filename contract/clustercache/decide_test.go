package clustercache

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDecide(t *testing.T) {
	// Conformance: CC-01, CC-03, CC-13
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ready := view{Now: now, Exists: true, Provisioned: true, UID: "1", Kubeconfig: "k"}
	connected := ready
	connected.Connected, connected.ConnectionUID, connected.ConnectedWith = true, "1", "k"
	connected.NextProbe = now.Add(7 * time.Second)
	with := func(v view, change func(*view)) view { change(&v); return v }

	for _, row := range []struct {
		name string
		view view
		want step
		wait time.Duration
	}{
		{"the Cluster is gone", view{Now: now}, stepForget, 0},
		{"no infrastructure yet", with(ready, func(v *view) { v.Provisioned = false }), stepWait, 0},
		{"no kubeconfig in the cache", with(ready, func(v *view) { v.Kubeconfig = "" }), stepWait, unlabelledInterval},
		{"everything is there", ready, stepConnect, 0},
		{"failed a moment ago", with(ready, func(v *view) { v.TriedWith, v.NextAttempt = "k", now.Add(time.Second) }), stepWait, time.Second},
		{"failed, and the pause is over", with(ready, func(v *view) { v.TriedWith, v.NextAttempt = "k", now }), stepConnect, 0},
		{"failed with another kubeconfig", with(ready, func(v *view) { v.TriedWith, v.NextAttempt = "old", now.Add(time.Hour) }), stepConnect, 0},
		{"nothing due", connected, stepWait, 7 * time.Second},
		{"probe due", with(connected, func(v *view) { v.NextProbe = now }), stepProbe, 0},
		{"rotated kubeconfig", with(connected, func(v *view) { v.Kubeconfig = "new" }), stepRenew, 0},
		{"kubeconfig deleted: keep what works", with(connected, func(v *view) { v.Kubeconfig = "" }), stepWait, 7 * time.Second},
		{"another Cluster of the same name", with(connected, func(v *view) { v.UID = "2" }), stepDrop, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, wait := decide(row.view)
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.wait, wait)
		})
	}
}

func TestDelayDoublesUpToTheLimit(t *testing.T) {
	// Conformance: CC-02
	o := Options{}.withDefaults().Reconnect
	assert.Equal(t, 100*time.Millisecond, o.delay(1, true))
	assert.Equal(t, 200*time.Millisecond, o.delay(2, true))
	assert.Equal(t, 6400*time.Millisecond, o.delay(7, true))
	assert.Equal(t, 10*time.Second, o.delay(8, true))
	assert.Equal(t, 10*time.Second, o.delay(1000, true))

	// Before the first connection no attempt is later than an eighth of the time that has passed, or the first delay.
	var passed time.Duration
	for attempts := 1; attempts < 60; attempts++ {
		delay := o.delay(attempts, false)
		assert.LessOrEqual(t, delay, o.First+passed/8+passed/80)
		passed += delay
	}
	assert.Equal(t, 10*time.Second, o.delay(1000, false))
}

func TestKubeconfigsThatRunSomethingAreRefused(t *testing.T) {
	// Conformance: CC-07, CC-20
	for name, user := range map[string]clientcmdapi.AuthInfo{
		"exec":          {Exec: &clientcmdapi.ExecConfig{Command: "/bin/sh", APIVersion: "client.authentication.k8s.io/v1"}},
		"auth provider": {AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "oidc"}},
		"token file":    {TokenFile: "/etc/passwd"},
		"key file":      {ClientKey: "/etc/key", ClientCertificate: "/etc/cert"},
	} {
		t.Run(name, func(t *testing.T) {
			config := clientcmdapi.NewConfig()
			config.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
			config.AuthInfos["u"] = &user
			config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
			config.CurrentContext = "x"
			content, err := clientcmd.Write(*config)
			require.NoError(t, err)
			_, err = Options{}.restConfig(content)
			require.ErrorIs(t, err, errRefused)
		})
	}
	_, err := Options{}.restConfig([]byte("token: secret-stuff\n: :"))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret-stuff")
}

func TestTrim(t *testing.T) {
	// Conformance: CC-08
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		ManagedFields: []metav1.ManagedFieldsEntry{{}}, Annotations: map[string]string{lastAppliedAnnotation: "x", "keep": "y"},
	}}
	node.Status.Images = []corev1.ContainerImage{{Names: []string{"big"}}}
	node.Status.NodeInfo.KubeletVersion = "v1.37.2"
	out, err := trim(node)
	require.NoError(t, err)
	trimmed := out.(*corev1.Node)
	assert.Empty(t, trimmed.ManagedFields)
	assert.Equal(t, map[string]string{"keep": "y"}, trimmed.Annotations)
	assert.Empty(t, trimmed.Status.Images)
	assert.Equal(t, "v1.37.2", trimmed.Status.NodeInfo.KubeletVersion)
}

func TestNarrowedKindsAreCached(t *testing.T) {
	// Conformance: CC-08
	has := func(o Options, name string) bool {
		for _, kind := range o.neverCached() {
			switch kind.(type) {
			case *corev1.Pod:
				if name == "Pod" {
					return true
				}
			case *corev1.Secret:
				if name == "Secret" {
					return true
				}
			}
		}
		return false
	}
	assert.True(t, has(Options{}, "Pod"))
	narrowed := Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {}}}
	assert.False(t, has(narrowed, "Pod"))
	assert.True(t, has(narrowed, "Secret"))
}
