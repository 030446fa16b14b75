package manager_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/contract/testenv"
)

var env *testenv.Environment

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{}))
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func get(url, token string) (int, string) {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}

// answers waits until a server gives the wanted answer to everyone.
func answers(t *testing.T, url string, want int) {
	t.Helper()
	var code int
	require.Eventually(t, func() bool { code, _ = get(url, ""); return code != 0 }, time.Minute, 20*time.Millisecond)
	require.Equal(t, want, code)
}

// run starts a program as its main would and stops it with the test.
func run(t *testing.T, p manager.Program, args ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, env.KubeConfig, 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx, append([]string{"--kubeconfig=" + file}, args...)) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
}

// tokenOf makes a service account and, if asked, lets it read metrics.
func tokenOf(t *testing.T, name string, allowed ...string) string {
	t.Helper()
	ctx := context.Background()
	clientset, err := kubernetes.NewForConfig(env.Config)
	require.NoError(t, err)
	_, err = clientset.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	if len(allowed) > 0 {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: allowed, Verbs: []string{"get", "put"}}}}
		require.NoError(t, env.Client.Create(ctx, role))
		require.NoError(t, env.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}},
		}))
		waitUntilAllowed(t, clientset, name, allowed[0])
	}
	token, err := clientset.CoreV1().ServiceAccounts("default").CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	return token.Status.Token
}

func waitUntilAllowed(t *testing.T, clientset kubernetes.Interface, name, path string) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:default:" + name, NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
	}}
	require.Eventually(t, func() bool {
		answer, err := clientset.AuthorizationV1().SubjectAccessReviews().Create(context.Background(), review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed
	}, time.Minute, 50*time.Millisecond)
}

// Conformance: MG-07
func TestDiagnosticsAreForAuthorizedUsersOnly(t *testing.T) {
	health, diagnostics := freeAddress(t), freeAddress(t)
	run(t, manager.Program{Name: "test", LeaderElectionID: "test", Setup: func(context.Context, ctrl.Manager, *manager.Flags) error { return nil }},
		"--health-addr="+health, "--diagnostics-address="+diagnostics, "--leader-elect")
	metrics := fmt.Sprintf("https://%s/metrics", diagnostics)
	answers(t, "http://"+health+"/readyz", http.StatusOK)
	answers(t, metrics, http.StatusUnauthorized)

	code, _ := get(metrics, tokenOf(t, "stranger"))
	assert.Equal(t, http.StatusForbidden, code)
	friend := tokenOf(t, "friend", "/metrics")
	code, body := get(metrics, friend)
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, "rest_client_requests_total")
	code, _ = get(fmt.Sprintf("https://%s/debug/pprof/", diagnostics), friend)
	assert.Equal(t, http.StatusForbidden, code, "metrics are not profiles")
	keeper := tokenOf(t, "keeper", "/debug/pprof/", "/debug/flags/v")
	code, _ = get(fmt.Sprintf("https://%s/debug/pprof/", diagnostics), keeper)
	assert.Equal(t, http.StatusOK, code)
	code, _ = get(fmt.Sprintf("https://%s/debug/flags/v", diagnostics), keeper)
	assert.Equal(t, http.StatusMethodNotAllowed, code, "it is there, but must be put")
}

// Conformance: MG-08
func TestInsecureDiagnosticsHoldMetricsOnly(t *testing.T) {
	health, diagnostics := freeAddress(t), freeAddress(t)
	run(t, manager.Program{Name: "test", Setup: func(context.Context, ctrl.Manager, *manager.Flags) error { return nil }},
		"--health-addr="+health, "--diagnostics-address="+diagnostics, "--insecure-diagnostics")
	answers(t, "http://"+diagnostics+"/metrics", http.StatusOK)
	for _, path := range []string{"/debug/pprof/", "/debug/flags/v"} {
		code, _ := get("http://"+diagnostics+path, "")
		assert.Equal(t, http.StatusNotFound, code, path)
	}
}

// lookingAfter is a program with one controller of ConfigMaps.
func lookingAfter(do reconcile.Func) manager.Program {
	return manager.Program{Name: "test", LeaderElectionID: "looking-after", Setup: func(_ context.Context, mgr ctrl.Manager, _ *manager.Flags) error {
		return ctrl.NewControllerManagedBy(mgr).Named("configmaps").For(&corev1.ConfigMap{}).Complete(do)
	}}
}

func configMap(t *testing.T, namespace, name string) {
	t.Helper()
	require.NoError(t, env.Client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}))
}

// The names of controllers are taken once per process, so one program shows several rules.
//
// Conformance: MG-11, MG-12, MG-14, MG-15, MG-24
func TestAProgramAtWork(t *testing.T) {
	ours, theirs := env.Namespace(t), env.Namespace(t)
	configMap(t, ours, "good")
	configMap(t, ours, "bad")
	configMap(t, theirs, "other")
	var mu sync.Mutex
	seen, began := map[string]int{}, map[string]time.Time{}
	var limit time.Duration
	program := lookingAfter(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		if seen[r.String()]++; seen[r.String()] == 1 {
			began[r.String()] = time.Now()
		}
		if end, ok := ctx.Deadline(); ok {
			limit = time.Until(end)
		}
		if r.Name == "bad" {
			return reconcile.Result{RequeueAfter: time.Millisecond}, errors.New("not today")
		}
		return reconcile.Result{}, nil
	})
	diagnostics := freeAddress(t)
	run(t, program, "--namespace="+ours, "--health-addr=0", "--diagnostics-address="+diagnostics, "--insecure-diagnostics", "--leader-elect")
	count := func(key string) int {
		mu.Lock()
		defer mu.Unlock()
		return seen[key]
	}
	require.Eventually(t, func() bool { return count(ours+"/bad") >= 8 && count(ours+"/good") > 0 }, 60*time.Second, 10*time.Millisecond)
	mu.Lock()
	took := time.Since(began[ours+"/bad"])
	mu.Unlock()
	assert.Greater(t, took, 600*time.Millisecond, "5 ms, 10 ms, 20 ms and so on: seven waits take 635 ms")
	assert.Zero(t, count(theirs+"/other"), "another namespace")
	assert.InDelta(t, time.Minute, limit, float64(10*time.Second))

	_, body := get("http://"+diagnostics+"/metrics", "")
	assert.Regexp(t, `capi_reconcile_total\{controller="configmaps",result="error"\} [1-9]`, body)
	assert.Regexp(t, `capi_reconcile_total\{controller="configmaps",result="success"\} [1-9]`, body)
	assert.Regexp(t, `capi_reconcile_time_seconds_count\{controller="configmaps"\} [1-9]`, body)
	lease := &coordinationv1.Lease{}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "looking-after"}, lease))
	assert.NotEmpty(t, *lease.Spec.HolderIdentity)
}

// Conformance: MG-10
func TestOldTLSIsRefused(t *testing.T) {
	diagnostics := freeAddress(t)
	run(t, manager.Program{Name: "test", Setup: func(context.Context, ctrl.Manager, *manager.Flags) error { return nil }},
		"--health-addr=0", "--diagnostics-address="+diagnostics, "--tls-min-version=VersionTLS13")
	answers(t, "https://"+diagnostics+"/metrics", http.StatusUnauthorized)
	_, err := tls.Dial("tcp", diagnostics, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
	assert.ErrorContains(t, err, "protocol version")
}

// Conformance: MG-20, MG-22
func TestWhatIsReadLive(t *testing.T) {
	ctx, namespace := t.Context(), env.Namespace(t)
	reads := map[string]int{}
	var mu sync.Mutex
	config := rest.CopyConfig(env.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			reads[path.Base(r.URL.Path)]++
			mu.Unlock()
			return next.RoundTrip(r)
		})
	})
	flags := manager.NewFlags()
	flags.HealthAddress, flags.DiagnosticsAddress = "0", "0"
	mgr, err := manager.Program{Name: "test"}.New(config, flags)
	require.NoError(t, err)
	go func() { _ = mgr.Start(ctx) }()
	configMap(t, namespace, "map")
	require.NoError(t, env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "secret"}}))
	provided := &unstructured.Unstructured{}
	provided.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"})
	provided.SetNamespace(namespace)
	provided.SetName("provided")
	require.NoError(t, env.Client.Create(ctx, provided))
	for range 3 {
		require.NoError(t, mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: namespace, Name: "map"}, &corev1.ConfigMap{}))
		require.NoError(t, mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: namespace, Name: "secret"}, &corev1.Secret{}))
		require.NoError(t, mgr.GetClient().Get(ctx, client.ObjectKeyFromObject(provided), provided))
	}
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []int{3, 3, 0}, []int{reads["map"], reads["secret"], reads["provided"]})
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
