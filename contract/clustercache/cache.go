package clustercache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// ErrNotConnected is returned (wrapped) while there is no connection to the workload cluster that was asked for.
// The Source of the cache wakes the caller when there is one, so no requeue is needed for it.
var ErrNotConnected = errors.New("no connection to the workload cluster")

// Cache gives access to workload clusters. All methods are safe for concurrent use and none of them connects:
// without a connection they return ErrNotConnected at once.
type Cache interface {
	// Client reads from the connection's cache, except for the kinds that are never cached, and writes directly.
	Client(ctx context.Context, cluster client.ObjectKey) (client.Client, error)
	// Reader is the reading half of Client.
	Reader(ctx context.Context, cluster client.ObjectKey) (client.Reader, error)
	// UncachedClient reads and writes directly; for kinds that are read once in a while.
	UncachedClient(ctx context.Context, cluster client.ObjectKey) (client.Client, error)
	// RESTConfig is a copy of the connection's configuration, for callers that speak another protocol than REST.
	RESTConfig(ctx context.Context, cluster client.ObjectKey) (*rest.Config, error)
	// Watch starts a watch in the workload cluster, once per name. It outlives reconnects: a new connection starts it again,
	// and delivers what there is as create events.
	Watch(ctx context.Context, cluster client.ObjectKey, watch WatchSpec) error
	// Health says what the probes of a cluster found. Unknown clusters have the zero state.
	Health(cluster client.ObjectKey) HealthState
	// Source delivers a generic event with the Cluster (name, namespace and UID set) when its connection is made or
	// lost, and once per outage when probes have been failing for longer than WithProbeFailure asks for.
	Source(name string, h handler.EventHandler, options ...SourceOption) source.Source
}

// HealthState is what the health probes of a workload cluster found.
type HealthState struct {
	// LastProbeSuccess is when the cluster answered last; zero if it never did.
	LastProbeSuccess time.Time
	// LastProbe is when the cluster was asked last, to connect or to probe.
	LastProbe time.Time
	// ConsecutiveFailures counts the failures since the last success.
	ConsecutiveFailures int
}

// New makes the cache and registers the controller that keeps its connections with the manager.
func New(mgr ctrl.Manager, options Options) (Cache, error) {
	c := newClusterCache(options)
	if err := c.register(mgr); err != nil {
		return nil, fmt.Errorf("registering the cluster cache: %w", err)
	}
	return c, nil
}

func newClusterCache(options Options) *clusterCache {
	base, stop := context.WithCancel(context.Background())
	options = options.withDefaults()
	return &clusterCache{
		options: options, clusters: map[client.ObjectKey]*entry{}, events: newBroker(),
		now: time.Now, base: base, stop: stop, suspects: make(chan struct{}, max(1, options.Concurrency/2)),
	}
}

// clusterCache implements Cache and is the reconciler that keeps the connections.
type clusterCache struct {
	options Options
	events  *broker
	now     func() time.Time
	// suspects are the workers that may be busy with clusters that did not answer lately. The rest is for those that do,
	// and for new ones.
	suspects chan struct{}

	// base outlives every reconcile; connections are bound to it and end when the manager stops.
	base context.Context
	stop context.CancelFunc

	mu       sync.RWMutex
	clusters map[client.ObjectKey]*entry
}

// entry is all that is known about one cluster. The controller runs one reconcile per key at a time, so only the
// reconciler writes it; mu protects it against the readers.
type entry struct {
	mu          sync.RWMutex
	connection  *connection
	health      HealthState
	attempts    int
	nextAttempt time.Time
	nextProbe   time.Time
	// tried is the kubeconfig of the last failed attempt: another one is tried at once.
	tried string
	// nextLiveRead is when a Secret that is missing in the manager's cache is looked for directly.
	nextLiveRead time.Time
	// watches are those that were asked for; they come back with the next connection to the same Cluster.
	watches map[string]WatchSpec
	// announced is the length of the present outage that subscribers have been told of.
	announced time.Duration
}

func (c *clusterCache) lookup(key client.ObjectKey) *entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.clusters[key]
}

func (c *clusterCache) entryFor(key client.ObjectKey) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.clusters[key]
	if !ok {
		e = &entry{}
		c.clusters[key] = e
	}
	return e
}

func (c *clusterCache) forget(key client.ObjectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.clusters, key)
}

func (c *clusterCache) connected(key client.ObjectKey) (*connection, error) {
	if e := c.lookup(key); e != nil {
		e.mu.RLock()
		defer e.mu.RUnlock()
		if e.connection != nil {
			return e.connection, nil
		}
	}
	return nil, fmt.Errorf("%w %s", ErrNotConnected, key)
}

// Client implements Cache.
func (c *clusterCache) Client(_ context.Context, cluster client.ObjectKey) (client.Client, error) {
	connection, err := c.connected(cluster)
	if err != nil {
		return nil, err
	}
	return connection.cachedClient()
}

// Reader implements Cache.
func (c *clusterCache) Reader(ctx context.Context, cluster client.ObjectKey) (client.Reader, error) {
	return c.Client(ctx, cluster)
}

// UncachedClient implements Cache.
func (c *clusterCache) UncachedClient(_ context.Context, cluster client.ObjectKey) (client.Client, error) {
	connection, err := c.connected(cluster)
	if err != nil {
		return nil, err
	}
	return connection.direct, nil
}

// RESTConfig implements Cache.
func (c *clusterCache) RESTConfig(_ context.Context, cluster client.ObjectKey) (*rest.Config, error) {
	connection, err := c.connected(cluster)
	if err != nil {
		return nil, err
	}
	return rest.CopyConfig(connection.config.Load()), nil
}

// Watch implements Cache.
func (c *clusterCache) Watch(_ context.Context, cluster client.ObjectKey, spec WatchSpec) error {
	connection, err := c.connected(cluster)
	if err != nil {
		return err
	}
	if err := connection.watch(spec); err != nil {
		return err
	}
	c.entryFor(cluster).remember(spec)
	return nil
}

func (e *entry) remember(spec WatchSpec) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watches == nil {
		e.watches = map[string]WatchSpec{}
	}
	e.watches[spec.Name] = spec
}

// Health implements Cache.
func (c *clusterCache) Health(cluster client.ObjectKey) HealthState {
	e := c.lookup(cluster)
	if e == nil {
		return HealthState{}
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.health
}

// Source implements Cache.
func (c *clusterCache) Source(name string, h handler.EventHandler, options ...SourceOption) source.Source {
	return c.events.source(name, h, options)
}
