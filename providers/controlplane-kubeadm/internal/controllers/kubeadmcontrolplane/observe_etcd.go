package kubeadmcontrolplane

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/tunnel"
)

const (
	// etcdGood is how long a picture without flaws is believed; nothing tells when etcd changes.
	etcdGood = 30 * time.Second
	// etcdFlawed and etcdFlawedMost bound the growing pause after a picture with flaws, or none.
	etcdFlawed     = time.Second
	etcdFlawedMost = 15 * time.Second
	// etcdClientLife is how long a client certificate is used before another one is made.
	etcdClientLife = 24 * time.Hour
)

// etcdEyes looks at the etcd clusters and remembers what it saw, so that an event that has nothing to do with etcd
// costs no tunnel.
type etcdEyes struct {
	mu   sync.Mutex
	seen map[types.UID]*picture
	// pairs are the client certificates by cluster, keys the one key per algorithm that all of them are for: making
	// keys is expensive, signing is not.
	pairs map[types.UID]clientPair
	keys  map[certificates.Algorithm]crypto.Signer
	// newKey makes a key; tests count.
	newKey func(certificates.Algorithm) (crypto.Signer, error)
}

type picture struct {
	subject string
	state   *etcd.State
	problem string
	taken   time.Time
	flawed  int
}

type clientPair struct {
	// subject is the algorithm and the authority that the pair is for.
	subject string
	pair    certificates.KeyPair
	made    time.Time
}

func newEtcdEyes() *etcdEyes {
	return &etcdEyes{
		seen: map[types.UID]*picture{}, pairs: map[types.UID]clientPair{},
		keys: map[certificates.Algorithm]crypto.Signer{}, newKey: certificates.NewKey,
	}
}

// forget drops all that is known of a cluster.
func (e *etcdEyes) forget(cluster types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.seen, cluster)
	delete(e.pairs, cluster)
}

// clientPair signs a client certificate for a cluster, or takes the one that is not too old.
func (e *etcdEyes) clientPair(cluster types.UID, ca certificates.KeyPair, algorithm certificates.Algorithm, now time.Time) (certificates.KeyPair, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	subject := string(algorithm) + "/" + string(ca.Cert)
	if known, ok := e.pairs[cluster]; ok && known.subject == subject && now.Sub(known.made) < etcdClientLife {
		return known.pair, nil
	}
	key, ok := e.keys[algorithm]
	if !ok {
		var err error
		if key, err = e.newKey(algorithm); err != nil {
			return certificates.KeyPair{}, fmt.Errorf("making a key: %w", err)
		}
		e.keys[algorithm] = key
	}
	pair, err := etcd.ClientPair(ca, key, now)
	if err != nil {
		return certificates.KeyPair{}, err
	}
	e.pairs[cluster] = clientPair{subject: subject, pair: pair, made: now}
	return pair, nil
}

func (e *etcdEyes) last(cluster types.UID) *picture {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen[cluster]
}

func (e *etcdEyes) keep(cluster types.UID, p *picture) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p == nil {
		delete(e.seen, cluster)
		return
	}
	e.seen[cluster] = p
}

func (p *picture) goodFor(now time.Time) time.Duration {
	life := etcdGood
	if p.flawed > 0 {
		life = min(etcdFlawed<<min(p.flawed-1, 10), etcdFlawedMost)
	}
	return life - now.Sub(p.taken)
}

// observeEtcd looks at etcd if the last picture is old or shows other nodes.
func (c *Controller) observeEtcd(ctx context.Context, w *World, set []certificates.Entry) {
	w.Etcd.Managed = w.managedEtcd()
	if !w.Etcd.Managed || !w.Workload.Connected || !w.initialized() {
		return
	}
	nodes := nodesToAsk(*w, "")
	if len(nodes) == 0 {
		return
	}
	subject := etcdSubject(w)
	p := c.etcd.last(w.Cluster.UID)
	if p == nil || p.subject != subject || p.goodFor(w.Now) <= 0 {
		p = c.look(ctx, w, set, nodes, p)
		p.subject = subject
		c.etcd.keep(w.Cluster.UID, p)
	}
	w.Etcd.State, w.Etcd.Problem = p.state, p.problem
	w.Etcd.NextLook = max(p.goodFor(w.Now), 100*time.Millisecond)
}

// etcdSubject changes when the picture of etcd surely does.
func etcdSubject(w *World) string {
	var parts []string
	for _, m := range w.Machines {
		ready := m.Pods["etcd"] != nil && podReady(m.Pods["etcd"])
		parts = append(parts, fmt.Sprint(m.nodeName(), ready, m.deleting()))
	}
	return strings.Join(parts, "|")
}

func (c *Controller) look(ctx context.Context, w *World, set []certificates.Entry, nodes []string, before *picture) *picture {
	p := &picture{taken: c.Now()}
	options, err := c.etcdOptions(ctx, w, set)
	if err == nil {
		var connection EtcdClient
		connection, p.state, err = c.ConnectEtcd(ctx, nodes, options)
		if err == nil {
			connection.Close()
		}
	}
	if err != nil {
		p.problem = "etcd cannot be asked: " + innermost(err)
	}
	if err != nil || flawed(w, p.state) {
		p.flawed = 1
		if before != nil {
			p.flawed += before.flawed
		}
	}
	p.taken = c.Now()
	return p
}

// innermost is the part of an error that says what happened; the outer parts repeat names and addresses.
func innermost(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		if list := joined.Unwrap(); len(list) > 0 {
			return innermost(list[0])
		}
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

func flawed(w *World, state *etcd.State) bool {
	if state == nil || state.Leader == 0 {
		return true
	}
	for _, member := range state.Members {
		if member.Learner || len(member.Alarms) > 0 || w.machineOnNode(member.Name) == nil {
			return true
		}
	}
	for _, m := range w.Machines {
		if m.nodeName() != "" && !m.deleting() && state.Member(m.nodeName()) == nil {
			return true
		}
	}
	return false
}

// etcdOptions are the trust, the client certificate and the way to the members of a cluster.
func (c *Controller) etcdOptions(ctx context.Context, w *World, set []certificates.Entry) (etcd.Options, error) {
	ca := certificates.Find(set, certificates.EtcdCA)
	if ca == nil {
		return etcd.Options{}, fmt.Errorf("secret %s: %w", certificates.SecretKey(client.ObjectKeyFromObject(w.Cluster), certificates.EtcdCA), certificates.ErrMissing)
	}
	pair, err := c.etcdClientPair(ctx, w, *ca)
	if err != nil {
		return etcd.Options{}, err
	}
	tlsConfig, err := etcd.TLSConfig(*ca, pair)
	if err != nil {
		return etcd.Options{}, err
	}
	config, err := c.Clusters.RESTConfig(ctx, client.ObjectKeyFromObject(w.Cluster))
	if err != nil {
		return etcd.Options{}, err
	}
	return etcd.Options{
		TLS: tlsConfig, DialTimeout: c.EtcdDialTimeout, CallTimeout: c.EtcdCallTimeout, Log: c.EtcdLog,
		Dial: func(ctx context.Context, node string) (net.Conn, error) {
			return tunnel.Dial(ctx, config, tunnel.Target{Namespace: kubeSystem, Pod: "etcd-" + node, Port: 2379})
		},
	}, nil
}

// etcdClientPair signs a client certificate, or takes the user's if the authority's key is kept elsewhere.
func (c *Controller) etcdClientPair(ctx context.Context, w *World, ca certificates.KeyPair) (certificates.KeyPair, error) {
	if len(ca.Key) == 0 {
		set := []certificates.Entry{{Purpose: certificates.APIServerEtcdClient, External: true}}
		if _, err := certificates.Lookup(ctx, c.secrets(), client.ObjectKeyFromObject(w.Cluster), set); err != nil {
			return certificates.KeyPair{}, err
		}
		if set[0].Pair == nil {
			return certificates.KeyPair{}, errors.New("the etcd authority has no key and there is no client certificate")
		}
		return *set[0].Pair, nil
	}
	algorithm := certificates.Algorithm(w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.EncryptionAlgorithm)
	return c.etcd.clientPair(w.Cluster.UID, ca, algorithm, w.Now)
}
