package clustercache

import (
	"context"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// bench is a reconciler without a manager, over objects that are only in memory; workload clusters are real.
func bench(t testing.TB, options Options, objects ...client.Object) (*reconciler, client.Client) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clusterv1.AddToScheme(scheme))
	require.NoError(t, corev1.AddToScheme(scheme))
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	cache := newClusterCache(options)
	t.Cleanup(cache.stop)
	return &reconciler{clusterCache: cache, cached: c, live: c}, c
}

// provisioned is a Cluster with a kubeconfig.
func provisioned(name string, kubeconfig []byte) []client.Object {
	yes := true
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	cluster.Status.Initialization.InfrastructureProvisioned = &yes
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name + "-kubeconfig"}, Data: map[string][]byte{"value": kubeconfig}}
	return []client.Object{cluster, secret}
}

func requestFor(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: name}}
}

// hole accepts connections and never answers; it counts them.
func hole(t *testing.T) (url string, asked *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	asked = &atomic.Int32{}
	go func() {
		for {
			if _, err := listener.Accept(); err != nil {
				return
			}
			asked.Add(1)
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	return "https://" + listener.Addr().String(), asked
}

// TestDeadClustersNeverTakeAllWorkers: a cluster that failed before waits while half of the workers are busy with its like.
func TestDeadClustersNeverTakeAllWorkers(t *testing.T) {
	// Conformance: CC-11
	url, asked := hole(t)
	r, _ := bench(t, Options{Concurrency: 2, Probe: ProbeOptions{Timeout: 2 * time.Second}}, append(provisioned("dead", kubeconfigFor(t, url)), provisioned("other", kubeconfigFor(t, url))...)...)
	for _, name := range []string{"dead", "other"} {
		r.entryFor(requestFor(name).NamespacedName).health.ConsecutiveFailures = suspectAfter
	}
	done := make(chan struct{})
	go func() { _, _ = r.Reconcile(context.Background(), requestFor("dead")); close(done) }()
	require.Eventually(t, func() bool { return asked.Load() == 1 }, time.Minute, time.Millisecond)
	result, err := r.Reconcile(t.Context(), requestFor("other"))
	require.NoError(t, err)
	assert.LessOrEqual(t, result.RequeueAfter, crowded)
	assert.Positive(t, result.RequeueAfter)
	assert.EqualValues(t, 1, asked.Load(), "the second one was not asked")
	<-done
	assert.True(t, r.begin(view{Failures: suspectAfter}), "the worker is free again")
	assert.True(t, r.begin(view{}), "a cluster that answers needs none of them")
}

// TestAClusterThatGoesInMidConnect leaves no connection behind.
func TestAClusterThatGoesInMidConnect(t *testing.T) {
	// Conformance: CC-12
	proceed, asked := make(chan struct{}), make(chan struct{}, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-proceed
		smallAPI(w, r)
	}))
	t.Cleanup(server.Close)
	objects := provisioned("c", tokenKubeconfig(t, server.URL, "t"))
	r, c := bench(t, Options{}, objects...)
	done := make(chan error)
	go func() { _, err := r.Reconcile(context.Background(), requestFor("c")); done <- err }()
	<-asked
	require.NoError(t, c.Delete(t.Context(), objects[0]))
	close(proceed)
	require.NoError(t, <-done)
	assert.Nil(t, r.lookup(requestFor("c").NamespacedName), "it is forgotten")
	assert.Empty(t, r.events.connected)
}

// TestInsideTheWorkloadCluster: a manager that finds its own Pod speaks to the in-cluster address with the kubeconfig's
// credentials, and follows new credentials there without a new connection.
func TestInsideTheWorkloadCluster(t *testing.T) {
	// Conformance: CC-05, CC-06
	var token atomic.Value
	var outside atomic.Int32
	pod := `{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"ns","name":"me","uid":"1"}}`
	api := func(count *atomic.Int32) *httptest.Server {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if count != nil {
				count.Add(1)
			}
			token.Store(r.Header.Get("Authorization"))
			if r.URL.Path == "/api/v1/namespaces/ns/pods/me" {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(pod))
				return
			}
			smallAPI(w, r)
		}))
		t.Cleanup(server.Close)
		return server
	}
	near, far := api(nil), api(&outside)
	for name, c := range map[string]struct {
		uid  string
		want string
	}{"own Pod": {"1", near.URL}, "a Pod of the same name": {"2", far.URL}} {
		t.Run(name, func(t *testing.T) {
			objects := provisioned("c", tokenKubeconfig(t, far.URL, "old"))
			r, writer := bench(t, Options{
				Identity:  Identity{Namespace: "ns", Name: "me", UID: c.uid},
				inCluster: func() (*rest.Config, error) { return &rest.Config{Host: near.URL}, nil },
			}, objects...)
			_, err := r.Reconcile(t.Context(), requestFor("c"))
			require.NoError(t, err)
			config, err := r.RESTConfig(t.Context(), requestFor("c").NamespacedName)
			require.NoError(t, err)
			assert.Equal(t, c.want, config.Host)
			before, asked := r.lookup(requestFor("c").NamespacedName).connection, outside.Load()

			secret := objects[1].(*corev1.Secret)
			secret.ResourceVersion, secret.Data["value"] = "", tokenKubeconfig(t, far.URL, "new")
			require.NoError(t, writer.Update(t.Context(), secret))
			_, err = r.Reconcile(t.Context(), requestFor("c"))
			require.NoError(t, err)
			assert.Same(t, before, r.lookup(requestFor("c").NamespacedName).connection)
			assert.Equal(t, "Bearer new", token.Load())
			if c.want == near.URL {
				assert.Equal(t, asked, outside.Load(), "nothing goes outside any more")
			}
		})
	}
}

// TestAKubeconfigWithoutLabelIsFound although no cache holds it, but only now and then.
func TestAKubeconfigWithoutLabelIsFound(t *testing.T) {
	// Conformance: CC-16
	server := httptest.NewTLSServer(http.HandlerFunc(smallAPI))
	t.Cleanup(server.Close)
	objects := provisioned("c", tokenKubeconfig(t, server.URL, "t"))
	r, live := bench(t, Options{}, objects...)
	cached, _ := bench(t, Options{}, objects[0])
	r.cached, r.live = cached.cached, live
	_, err := r.Reconcile(t.Context(), requestFor("c"))
	require.NoError(t, err)
	_, err = r.UncachedClient(t.Context(), requestFor("c").NamespacedName)
	require.NoError(t, err)
	assert.False(t, r.liveReadDue(requestFor("c").NamespacedName))
}

// TestMetrics tell of each cluster, and are silent once it is gone.
func TestMetrics(t *testing.T) {
	// Conformance: CC-14
	server := httptest.NewTLSServer(http.HandlerFunc(smallAPI))
	objects := provisioned("measured", tokenKubeconfig(t, server.URL, "t"))
	r, c := bench(t, Options{Probe: ProbeOptions{Interval: time.Nanosecond * 10, Failures: 2}}, objects...)
	key := requestFor("measured").NamespacedName
	v, kubeconfig, err := r.observe(t.Context(), key)
	require.NoError(t, err)
	r.connect(t.Context(), key, v, kubeconfig)
	assert.InDelta(t, 1, metric(t, "capi_cluster_cache_connection_up", ""), 0)
	r.probe(t.Context(), key, v)
	assert.InDelta(t, 1, metric(t, "capi_cluster_cache_healthcheck", ""), 0)
	server.Close()
	r.probe(t.Context(), key, v)
	r.probe(t.Context(), key, v)
	assert.InDelta(t, 0, metric(t, "capi_cluster_cache_healthcheck", ""), 0)
	assert.InDelta(t, 0, metric(t, "capi_cluster_cache_connection_up", ""), 0)
	assert.InDelta(t, 1, metric(t, "capi_cluster_cache_healthchecks_total", "success"), 0)
	assert.InDelta(t, 2, metric(t, "capi_cluster_cache_healthchecks_total", "error"), 0)
	require.NoError(t, c.Delete(t.Context(), objects[0]))
	_, err = r.Reconcile(t.Context(), requestFor("measured"))
	require.NoError(t, err)
	assert.True(t, math.IsNaN(metric(t, "capi_cluster_cache_connection_up", "")))
}

// metric reads the value for the cluster "measured", with a status if the metric has one; NaN if there is none.
func metric(t *testing.T, name, status string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if f.GetName() == name && labels["cluster_name"] == "measured" && labels["cluster_namespace"] == "default" && labels["status"] == status {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return math.NaN()
}

// TestAnEndpointThatIsNoKubernetesCostsNoCache: it answers the ping, but nothing is built on it.
func TestAnEndpointThatIsNoKubernetesCostsNoCache(t *testing.T) {
	// Conformance: CC-18
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	t.Cleanup(server.Close)
	r, _ := bench(t, Options{}, provisioned("c", tokenKubeconfig(t, server.URL, "t"))...)
	result, err := r.Reconcile(t.Context(), requestFor("c"))
	require.NoError(t, err)
	assert.Positive(t, result.RequeueAfter)
	_, err = r.UncachedClient(t.Context(), requestFor("c").NamespacedName)
	require.ErrorIs(t, err, ErrNotConnected)
	assert.Equal(t, 1, r.Health(requestFor("c").NamespacedName).ConsecutiveFailures)
}
