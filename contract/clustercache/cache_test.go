package clustercache

import (
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/testenv"
)

var (
	env     *testenv.Environment
	clients Cache
	woken   = &recorder{seen: map[string]int{}}
	remote  = &recorder{seen: map[string]int{}}
	watcher controller.Controller
)

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{os.DirFS("../../core/config/crd")},
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme},
		Manager: func(_ context.Context, mgr ctrl.Manager) error {
			made, err := New(mgr, Options{Probe: ProbeOptions{Interval: 100 * time.Millisecond, Timeout: time.Second, Failures: 3}})
			if err != nil {
				return err
			}
			clients = made
			_, err = ctrl.NewControllerManagedBy(mgr).Named("subscriber").
				WatchesRawSource(clients.Source("subscriber", &handler.EnqueueRequestForObject{}, WithProbeFailure(time.Second))).
				Build(woken)
			if err != nil {
				return err
			}
			watcher, err = controller.New("watcher", mgr, controller.Options{Reconciler: remote})
			return err
		},
	}))
}

// recorder counts what wakes it.
type recorder struct {
	mu   sync.Mutex
	seen map[string]int
}

func (r *recorder) Reconcile(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[request.String()]++
	return reconcile.Result{}, nil
}

func (r *recorder) count(key client.ObjectKey) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[key.String()]
}

// proxy stands before the API server and can be cut.
type proxy struct {
	listener net.Listener
	backend  string
	cut      atomic.Bool
	mu       sync.Mutex
	open     []net.Conn
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, backend: strings.Trim(strings.TrimPrefix(env.Config.Host, "https:"), "/")}
	t.Cleanup(func() { _ = listener.Close() })
	go p.serve()
	return p
}

func (p *proxy) serve() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.cut.Load() {
			_ = conn.Close()
			continue
		}
		backend, err := net.Dial("tcp", p.backend)
		if err != nil {
			_ = conn.Close()
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, conn, backend)
		p.mu.Unlock()
		go func() { _, _ = io.Copy(conn, backend); _ = conn.Close() }()
		go func() { _, _ = io.Copy(backend, conn); _ = backend.Close() }()
	}
}

func (p *proxy) down() {
	p.cut.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.open {
		_ = conn.Close()
	}
	p.open = nil
}

func (p *proxy) url() string { return "https://" + p.listener.Addr().String() }

func kubeconfigFor(t *testing.T, server string) []byte {
	t.Helper()
	config, err := clientcmd.Load(env.KubeConfig)
	require.NoError(t, err)
	for _, cluster := range config.Clusters {
		cluster.Server = server
	}
	content, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return content
}

// newCluster makes a Cluster whose infrastructure is provisioned.
func newCluster(t *testing.T, name string) client.ObjectKey {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "unused", Port: 1}
	require.NoError(t, env.Client.Create(t.Context(), cluster))
	t.Cleanup(func() { _ = env.Client.Delete(context.Background(), cluster) })
	yes := true
	cluster.Status.Initialization.InfrastructureProvisioned = &yes
	require.NoError(t, env.Client.Status().Update(t.Context(), cluster))
	return client.ObjectKeyFromObject(cluster)
}

func storeKubeconfig(t *testing.T, key client.ObjectKey, content []byte) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + "-kubeconfig",
			Labels: map[string]string{clusterv1.ClusterNameLabel: key.Name}},
		Data: map[string][]byte{"value": content},
	}
	require.NoError(t, env.Client.Create(t.Context(), secret))
	t.Cleanup(func() { _ = env.Client.Delete(context.Background(), secret) })
	return secret
}

func isConnected(key client.ObjectKey) bool {
	_, err := clients.UncachedClient(context.Background(), key)
	return err == nil
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	require.Eventually(t, check, time.Minute, 5*time.Millisecond, what)
}

func TestConnectsAtOnceWhenTheKubeconfigAppears(t *testing.T) {
	// Conformance: CC-01, CC-08, CC-11
	key := newCluster(t, "at-once")
	_, err := clients.Client(t.Context(), key)
	require.ErrorIs(t, err, ErrNotConnected)

	start := time.Now()
	storeKubeconfig(t, key, env.KubeConfig)
	eventually(t, "a connection", func() bool { return isConnected(key) })
	eventually(t, "the event", func() bool { return woken.count(key) > 0 })

	reader, err := clients.Client(t.Context(), key)
	require.NoError(t, err)
	require.NoError(t, reader.List(t.Context(), &corev1.NodeList{}))
	require.NoError(t, reader.List(t.Context(), &corev1.NodeList{}, client.MatchingFields{NodeProviderIDIndex: "none"}))
	config, err := clients.RESTConfig(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSuffix(env.Config.Host, "/"), config.Host)
	eventually(t, "probes", func() bool { return clients.Health(key).LastProbeSuccess.After(start.Add(100 * time.Millisecond)) })
}

func TestConnectsSoonWhenTheEndpointAnswers(t *testing.T) {
	// Conformance: CC-02, CC-19
	key := newCluster(t, "late-endpoint")
	p := newProxy(t)
	p.down()
	storeKubeconfig(t, key, kubeconfigFor(t, p.url()))
	eventually(t, "several attempts", func() bool { return clients.Health(key).ConsecutiveFailures > 3 })
	require.False(t, isConnected(key))
	p.cut.Store(false)
	eventually(t, "a connection", func() bool { return isConnected(key) })
}

func TestAnOutageEndsTheConnectionAndItsWatches(t *testing.T) {
	// Conformance: CC-03, CC-09, CC-10, CC-15
	key := newCluster(t, "outage")
	p := newProxy(t)
	storeKubeconfig(t, key, kubeconfigFor(t, p.url()))
	eventually(t, "a connection", func() bool { return isConnected(key) })
	watch := WatchSpec{Name: "namespaces", Object: &corev1.Namespace{}, Watcher: watcher, Handler: &handler.EnqueueRequestForObject{}}
	require.NoError(t, clients.Watch(t.Context(), key, watch))
	require.NoError(t, clients.Watch(t.Context(), key, watch), "asking twice is fine")
	name := client.ObjectKey{Name: "kube-system"}
	eventually(t, "the first list", func() bool { return remote.count(name) == 1 })

	events := woken.count(key)
	p.down()
	eventually(t, "the connection ends", func() bool { return !isConnected(key) })
	require.ErrorIs(t, clients.Watch(t.Context(), key, watch), ErrNotConnected)
	eventually(t, "events of the loss and of the long outage", func() bool { return woken.count(key) >= events+2 })
	failures := clients.Health(key).ConsecutiveFailures
	eventually(t, "the outage goes on", func() bool { return clients.Health(key).ConsecutiveFailures >= failures+2 })
	assert.Equal(t, events+2, woken.count(key), "told once per outage")

	p.cut.Store(false)
	eventually(t, "a new connection", func() bool { return isConnected(key) })
	eventually(t, "the watch is there again", func() bool { return remote.count(name) == 2 })
	require.NoError(t, clients.Watch(t.Context(), key, watch), "asking again is fine")
	config, err := clients.RESTConfig(t.Context(), key)
	require.NoError(t, err)
	assert.EqualValues(t, 20, config.QPS)
	assert.Equal(t, 30, config.Burst)
}

func TestADeadClusterDelaysNobody(t *testing.T) {
	// Conformance: CC-11
	hole, err := net.Listen("tcp", "127.0.0.1:0") // accepts and never answers
	require.NoError(t, err)
	t.Cleanup(func() { _ = hole.Close() })
	for _, name := range []string{"dead-1", "dead-2", "dead-3"} {
		storeKubeconfig(t, newCluster(t, name), kubeconfigFor(t, "https://"+hole.Addr().String()))
	}
	key := newCluster(t, "alive")
	storeKubeconfig(t, key, env.KubeConfig)
	eventually(t, "a connection", func() bool { return isConnected(key) })
}

func TestANewClusterOfTheSameNameGetsANewConnection(t *testing.T) {
	// Conformance: CC-13
	key := newCluster(t, "again")
	storeKubeconfig(t, key, env.KubeConfig)
	eventually(t, "a connection", func() bool { return isConnected(key) })
	before := clients.(*clusterCache).lookup(key).connection

	require.NoError(t, env.Client.Delete(t.Context(), &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}))
	eventually(t, "the connection ends", func() bool { return !isConnected(key) })
	require.Error(t, before.ctx.Err())
	newCluster(t, key.Name)
	eventually(t, "a new connection", func() bool { return isConnected(key) })
}

// smallAPI answers as much as a connection asks for.
func smallAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api":
		_, _ = io.WriteString(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case "/apis":
		_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case "/api/v1":
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes","kind":"Node","verbs":["get","list","watch"]},
			{"name":"pods","namespaced":true,"kind":"Pod","verbs":["get","list","watch"]}]}`)
	default:
		_, _ = io.WriteString(w, `{}`)
	}
}

func tokenKubeconfig(t *testing.T, server, token string) []byte {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server, InsecureSkipTLSVerify: true}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	content, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return content
}

func TestRotatedCredentialsAreUsedWithoutDroppingInformers(t *testing.T) {
	// Conformance: CC-04, CC-05
	var accepted atomic.Value
	accepted.Store("old")
	var refused atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+accepted.Load().(string) {
			refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		smallAPI(w, r)
	}))
	t.Cleanup(server.Close)
	withToken := func(token string) []byte { return tokenKubeconfig(t, server.URL, token) }
	key := newCluster(t, "rotated")
	secret := storeKubeconfig(t, key, withToken("old"))
	eventually(t, "a connection", func() bool { return isConnected(key) })
	before := clients.(*clusterCache).lookup(key).connection

	update := secret.DeepCopy()
	update.Data["value"] = withToken("new")
	accepted.Store("new")
	require.NoError(t, env.Client.Update(t.Context(), update))
	eventually(t, "the new token is in use", func() bool {
		config, err := clients.RESTConfig(t.Context(), key)
		return err == nil && config.BearerToken == "new"
	})
	if refused.Load() == 0 { // else a probe between the two writes ended the connection, which is right as well
		assert.Same(t, before, clients.(*clusterCache).lookup(key).connection)
	}

	accepted.Store("third")
	eventually(t, "401 ends the connection at once", func() bool { return !isConnected(key) })
	secret.ResourceVersion = ""
	secret.Data["value"] = withToken("third")
	require.NoError(t, env.Client.Update(t.Context(), secret))
	eventually(t, "and a new kubeconfig is tried at once", func() bool { return isConnected(key) })
}
