package manager

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

func parse(t *testing.T, args ...string) (*Flags, error) {
	t.Helper()
	flags, set := NewFlags(), pflag.NewFlagSet("test", pflag.ContinueOnError)
	set.SetOutput(&bytes.Buffer{})
	flags.AddTo(set)
	if err := set.Parse(args); err != nil {
		return flags, err
	}
	return flags, flags.Validate()
}

// Conformance: MG-01, MG-03
func TestDefaultsAreThoseOfTheReference(t *testing.T) {
	flags, set := NewFlags(), pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.AddTo(set)
	(&RemoteFlags{}).AddTo(set)
	for name, want := range map[string]string{
		"leader-elect": "false", "leader-elect-lease-duration": "15s", "leader-elect-renew-deadline": "10s", "leader-elect-retry-period": "2s",
		"namespace": "", "watch-filter": "", "sync-period": "10m0s", "kube-api-qps": "100", "kube-api-burst": "200", "skip-crd-migration-phases": "[]",
		"webhook-port": "9443", "webhook-cert-dir": "/tmp/k8s-webhook-server/serving-certs/", "webhook-cert-name": "tls.crt", "webhook-key-name": "tls.key",
		"health-addr": ":9440", "diagnostics-address": ":8443", "insecure-diagnostics": "false", "profiler-address": "", "contention-profiling": "false",
		"tls-min-version": "VersionTLS12", "tls-cipher-suites": "[]", "v": "2",
		"remote-connection-grace-period": "50s", "remote-conditions-grace-period": "5m0s",
		"clustercache-concurrency": "100", "clustercache-client-qps": "20", "clustercache-client-burst": "30",
		"feature-gates": "ClusterTopology=false,InPlaceUpdates=false,KubeadmBootstrapFormatIgnition=false,MachinePool=true,MachineSetPreflightChecks=true,MachineTaintPropagation=false," +
			"MachineWaitForVolumeDetachConsiderVolumeAttachments=true,PriorityQueue=true,ReconcilerRateLimiting=true,RuntimeSDK=false",
	} {
		flag := set.Lookup(name)
		if assert.NotNil(t, flag, name) {
			assert.Equal(t, want, flag.Value.String(), name)
		}
	}
}

// Conformance: MG-03, MG-10
func TestBadFlagsAreRefused(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"--logging-format=xml", "text or json"},
		{"--feature-gates=Nonsense=true", "unknown feature"},
		{"--feature-gates=MachinePool=perhaps", "true or false"},
		{"--feature-gates=MachinePool", "Feature=true"},
		{"--feature-gates=PriorityQueue=false", "needs feature PriorityQueue"},
		{"--tls-min-version=VersionTLS10", "VersionTLS12"},
		{"--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA", "unknown or insecure suite"},
	} {
		_, err := parse(t, c.arg)
		assert.ErrorContains(t, err, c.want, c.arg)
	}
	_, err := parse(t, "--leader-elect", "--leader-elect-renew-deadline=20s")
	assert.ErrorContains(t, err, "lease-duration")
	_, err = parse(t, "--tls-min-version=VersionTLS13", "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "--feature-gates=PriorityQueue=false,ReconcilerRateLimiting=false", "-v", "4")
	assert.NoError(t, err)
}

// Conformance: MG-04
func TestRemoteFlags(t *testing.T) {
	f, set := &RemoteFlags{}, pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.AddTo(set)
	require.NoError(t, set.Parse(nil))
	require.NoError(t, f.Validate())
	f.ConditionsGracePeriod = time.Minute
	require.Error(t, f.Validate())
	f.ConditionsGracePeriod, f.ConnectionGracePeriod = 3*time.Minute, 3*time.Minute
	require.Error(t, f.Validate())
}

func TestFeatures(t *testing.T) {
	f := Features{"B": false, "A": true}
	require.NoError(t, f.Set("B=true, A=false,"))
	assert.Equal(t, "A=false,B=true", f.String())
	assert.False(t, f.Enabled("C"))
}

// Conformance: MG-09
func TestLogs(t *testing.T) {
	out, level := &bytes.Buffer{}, &logLevel{}
	level.set(2)
	log := newLogger(out, "json", level)
	log.V(2).Info("told", "machine", "m")
	log.V(3).Info("hidden")
	log.Error(assert.AnError, "failed")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	var first map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
	assert.Equal(t, "told m V2", first["msg"].(string)+" "+first["machine"].(string)+" "+first["level"].(string))
	assert.Contains(t, lines[1], `"level":"ERROR"`)

	out.Reset()
	put := func(method, body string) int {
		w := httptest.NewRecorder()
		level.ServeHTTP(w, httptest.NewRequest(method, "/debug/flags/v", strings.NewReader(body)))
		return w.Code
	}
	assert.Equal(t, http.StatusOK, put(http.MethodPut, "3\n"))
	assert.Equal(t, http.StatusBadRequest, put(http.MethodPut, "many"))
	assert.Equal(t, http.StatusBadRequest, put(http.MethodPut, "-1"))
	assert.Equal(t, http.StatusMethodNotAllowed, put(http.MethodGet, ""))
	log.V(3).Info("told now")
	assert.Contains(t, out.String(), "told now")
}

// Conformance: MG-20
func TestSecretsInTheCacheAreTrimmed(t *testing.T) {
	secret := func() *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "c-ca", ManagedFields: []metav1.ManagedFieldsEntry{{}}}, Data: map[string][]byte{"k": nil}}
	}
	all, err := trimSecret(nil)(secret())
	require.NoError(t, err)
	assert.Len(t, all.(*corev1.Secret).Data, 1)
	assert.Empty(t, all.(*corev1.Secret).ManagedFields)
	some, err := trimSecret(func(name string) bool { return strings.HasSuffix(name, "-kubeconfig") })(secret())
	require.NoError(t, err)
	assert.Empty(t, some.(*corev1.Secret).Data)
	other, err := trimSecret(nil)("tombstone")
	require.NoError(t, err)
	assert.Equal(t, "tombstone", other)
}

// Conformance: MG-13, MG-17
func TestPredicates(t *testing.T) {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1", Labels: map[string]string{clusterv1.WatchLabel: "a"}}}
	assert.True(t, WatchFilter("").Create(event.CreateEvent{Object: &clusterv1.Machine{}}))
	assert.True(t, WatchFilter("a").Create(event.CreateEvent{Object: m}))
	assert.False(t, WatchFilter("b").Create(event.CreateEvent{Object: m}))
	newer := m.DeepCopy()
	newer.ResourceVersion = "2"
	assert.True(t, Changed().Update(event.UpdateEvent{ObjectOld: m, ObjectNew: newer}))
	assert.False(t, Changed().Update(event.UpdateEvent{ObjectOld: m, ObjectNew: m}))
}

func TestRunStopsAtBadInput(t *testing.T) {
	p := Program{Name: "test"}
	require.Error(t, p.Run(context.Background(), []string{"--no-such-flag"}))
	require.Error(t, p.Run(context.Background(), []string{"--logging-format=xml"}))
	require.ErrorContains(t, p.Run(context.Background(), []string{"--kubeconfig=/does/not/exist"}), "/does/not/exist")
	p.Validate = func() error { return assert.AnError }
	require.ErrorIs(t, p.Run(context.Background(), nil), assert.AnError)
}

// Conformance: MG-14
func TestTimeLimitsOfControllers(t *testing.T) {
	options := Program{}.options(nil, NewFlags(), nil).Controller
	assert.Equal(t, time.Minute, options.ReconciliationTimeout)
	assert.Equal(t, 5*time.Minute, options.CacheSyncTimeout)
	assert.Equal(t, time.Hour, Program{ReconcileTimeout: time.Hour}.options(nil, NewFlags(), nil).Controller.ReconciliationTimeout)
}

// checks records the probes that a program adds to its manager.
type checks struct {
	ctrl.Manager
	server        webhook.Server
	health, ready healthz.Checker
}

func (c *checks) GetWebhookServer() webhook.Server                      { return c.server }
func (c *checks) AddHealthzCheck(_ string, check healthz.Checker) error { c.health = check; return nil }
func (c *checks) AddReadyzCheck(_ string, check healthz.Checker) error  { c.ready = check; return nil }

// Conformance: MG-06
func TestProbesWaitForTheWebhookServer(t *testing.T) {
	nothing := func(context.Context, ctrl.Manager, *Flags) error { return nil }
	mgr := &checks{server: webhook.NewServer(webhook.Options{})}
	with := Program{Setup: nothing, Webhooks: func(ctrl.Manager, *Flags) error { return nil }}
	require.NoError(t, with.register(t.Context(), mgr, NewFlags()))
	require.Error(t, mgr.health(nil), "the server does not run")
	require.Error(t, mgr.ready(nil))
	require.NoError(t, Program{Setup: nothing}.register(t.Context(), mgr, NewFlags()))
	require.NoError(t, mgr.health(nil), "there is no server to wait for")
	require.NoError(t, mgr.ready(nil))
}
