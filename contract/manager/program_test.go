package manager_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"

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
	require.Eventually(t, func() bool { code, _ = get(url, ""); return code != 0 }, 30*time.Second, 20*time.Millisecond)
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
func tokenOf(t *testing.T, name string, allowed bool) string {
	t.Helper()
	ctx := context.Background()
	clientset, err := kubernetes.NewForConfig(env.Config)
	require.NoError(t, err)
	_, err = clientset.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	if allowed {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}}
		require.NoError(t, env.Client.Create(ctx, role))
		require.NoError(t, env.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}},
		}))
		waitUntilAllowed(t, clientset, name)
	}
	token, err := clientset.CoreV1().ServiceAccounts("default").CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	return token.Status.Token
}

func waitUntilAllowed(t *testing.T, clientset kubernetes.Interface, name string) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:default:" + name, NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
	}}
	require.Eventually(t, func() bool {
		answer, err := clientset.AuthorizationV1().SubjectAccessReviews().Create(context.Background(), review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed
	}, 10*time.Second, 50*time.Millisecond)
}

func TestDiagnosticsAreForAuthorizedUsersOnly(t *testing.T) {
	health, diagnostics := freeAddress(t), freeAddress(t)
	run(t, manager.Program{Name: "test", LeaderElectionID: "test", Setup: func(context.Context, ctrl.Manager, *manager.Flags) error { return nil }},
		"--health-addr="+health, "--diagnostics-address="+diagnostics, "--leader-elect")
	metrics := fmt.Sprintf("https://%s/metrics", diagnostics)
	answers(t, "http://"+health+"/readyz", http.StatusOK)
	answers(t, metrics, http.StatusUnauthorized)

	code, _ := get(metrics, tokenOf(t, "stranger", false))
	assert.Equal(t, http.StatusForbidden, code)
	friend := tokenOf(t, "friend", true)
	code, body := get(metrics, friend)
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, "rest_client_requests_total")
	code, _ = get(fmt.Sprintf("https://%s/debug/pprof/", diagnostics), friend)
	assert.Equal(t, http.StatusForbidden, code, "metrics are not profiles")
}

func TestInsecureDiagnosticsHoldMetricsOnly(t *testing.T) {
	health, diagnostics := freeAddress(t), freeAddress(t)
	run(t, manager.Program{Name: "test", Setup: func(context.Context, ctrl.Manager, *manager.Flags) error { return nil }},
		"--health-addr="+health, "--diagnostics-address="+diagnostics, "--insecure-diagnostics")
	answers(t, "http://"+diagnostics+"/metrics", http.StatusOK)
	code, _ := get("http://"+diagnostics+"/debug/pprof/", "")
	assert.Equal(t, http.StatusNotFound, code)
}
