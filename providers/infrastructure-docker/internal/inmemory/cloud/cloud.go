// Package cloud is all simulated workload clusters of this process: their stores, etcd members and listeners. Nothing is
// kept outside the process; the controllers build everything again from the management cluster's objects.
package cloud

import (
	"fmt"
	"net"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/apiserver"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/etcd"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/store"
)

// Cloud holds the clusters. Its methods are safe for concurrent use.
type Cloud struct {
	host string

	mu       sync.Mutex
	clusters map[types.NamespacedName]*Cluster
}

// New makes an empty cloud whose API servers listen on a host, such as 127.0.0.1 or the Pod's address.
func New(host string) *Cloud {
	return &Cloud{host: host, clusters: map[types.NamespacedName]*Cluster{}}
}

// Host is the address of all API servers.
func (c *Cloud) Host() string { return c.host }

// Cluster is one simulated workload cluster.
type Cluster struct {
	name  types.NamespacedName
	store *store.Store
	etcd  *etcd.Cluster

	faults   faults.Injector
	listener *listener

	mu      sync.Mutex
	uid     types.UID
	servers map[string]bool
	version string
}

// Ensure makes a cluster and opens its listener, on the given port or, for 0, on a free one. A cluster of the same name
// but another UID is an earlier one and is replaced. It returns the port.
func (c *Cloud) Ensure(name types.NamespacedName, uid types.UID, port int32) (int32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.clusters[name]; have != nil {
		if have.uid == uid {
			return have.listener.port(), nil
		}
		have.close()
		delete(c.clusters, name)
	}
	x := &Cluster{name: name, uid: uid, store: store.New(), etcd: etcd.New(name.String() + string(uid)), servers: map[string]bool{}}
	x.faults.Broken = x.etcd.Broken
	handler := &apiserver.Server{Store: x.store, Version: x.kubernetesVersion, Forward: x.forward}
	l, err := listen(net.JoinHostPort(c.host, fmt.Sprint(port)), x.faults.Handler(handler))
	if err != nil {
		return 0, fmt.Errorf("opening the listener of cluster %s: %w", name, err)
	}
	x.listener = l
	c.clusters[name] = x
	return l.port(), nil
}

// Get returns a cluster, or nil.
func (c *Cloud) Get(name types.NamespacedName) *Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clusters[name]
}

// Delete takes a cluster down, if there is one.
func (c *Cloud) Delete(name types.NamespacedName) {
	c.mu.Lock()
	x := c.clusters[name]
	delete(c.clusters, name)
	c.mu.Unlock()
	if x != nil {
		x.close()
	}
}

func (c *Cluster) close() {
	c.listener.close()
	for _, m := range c.etcd.Members() {
		c.etcd.Remove(m)
	}
}

func (c *Cluster) kubernetesVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// Authorities are the key pairs that sign the certificates of a cluster's servers.
type Authorities struct{ Cluster, Etcd certificates.KeyPair }

// forward connects to a port of one of the control plane's Pods.
func (c *Cluster) forward(_, pod string, port int) (net.Conn, error) {
	const etcdPort, apiPort = 2379, 6443
	switch {
	case port == etcdPort && len(pod) > len("etcd-"):
		return c.etcd.Connect(pod[len("etcd-"):])
	case port == apiPort:
		return net.DialTimeout("tcp", c.listener.address(), 5*time.Second)
	}
	return nil, fmt.Errorf("nothing listens on port %d", port)
}

// Break makes the faults of a plan happen, in place of those of an earlier one.
func (c *Cluster) Break(p faults.Plan) {
	c.faults.Set(p)
	c.etcd.Lose(p.LostMembers)
	c.listener.cut(p.Outage)
}

// Faults is the present plan.
func (c *Cluster) Faults() faults.Plan { return c.faults.Plan() }

// Port is where the cluster's API server answers.
func (c *Cluster) Port() int32 { return c.listener.port() }
