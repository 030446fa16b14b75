package kubeadmcontrolplane

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/servingcert"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/tunnel"
)

const (
	// expiryRetry is the pause after a look that failed; expiryRecheck that between looks when the end is near: the
	// certificates may have been renewed by hand.
	expiryRetry   = 5 * time.Minute
	expiryRecheck = time.Hour
	// expiryNear is how long before its end a certificate is looked at again and again.
	expiryNear = 30 * 24 * time.Hour
)

// expiryEyes remember which API server was asked for its certificate, so that each is asked once only as a rule.
type expiryEyes struct {
	mu   sync.Mutex
	seen map[types.UID]expiryLook
}

type expiryLook struct {
	// server identifies one run of the API server: certificates are read when it starts.
	server string
	at     time.Time
	failed bool
}

func newExpiryEyes() *expiryEyes { return &expiryEyes{seen: map[types.UID]expiryLook{}} }

func (e *expiryEyes) last(m *Machine) (expiryLook, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	look, ok := e.seen[m.UID]
	return look, ok
}

func (e *expiryEyes) keep(m *Machine, look expiryLook) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen[m.UID] = look
}

// forget drops what is known of machines that are gone.
func (e *expiryEyes) forget(m *Machine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.seen, m.UID)
}

// observeExpiry asks the API servers for the end of their certificates where that is not known or may have changed.
func (c *Controller) observeExpiry(ctx context.Context, w *World, set []certificates.Entry) {
	authority := certificates.Find(set, certificates.ClusterCA)
	if authority == nil || !w.Workload.Connected || !w.initialized() {
		return
	}
	for _, m := range w.Machines {
		if m.deleting() {
			c.expiry.forget(m)
			continue
		}
		if !askable(m) || !expiryDue(c.expiry, w, m) {
			continue
		}
		at, err := c.AskExpiry(ctx, w.Cluster, m, authority.Cert)
		c.expiry.keep(m, expiryLook{server: apiServerRun(m), at: w.Now, failed: err != nil})
		if err != nil {
			ctrllog.FromContext(ctx).V(2).Info("The end of a machine's certificates could not be read", "machine", m.Name, "error", innermost(err))
			continue
		}
		m.CertificatesEnd = at
	}
}

// askable machines run an API server and have a configuration to note the time on, and the user has noted none.
func askable(m *Machine) bool {
	_, byUser := m.Annotations[clusterv1.MachineCertificatesExpiryDateAnnotation]
	pod := m.Pods[apiServer]
	return m.Config != nil && m.Node != nil && nodeLost(m.Node) == "" && pod != nil && podReady(pod) && !byUser
}

func expiryDue(eyes *expiryEyes, w *World, m *Machine) bool {
	noted := notedExpiry(m)
	last, looked := eyes.last(m)
	near := noted.IsZero() || noted.Sub(w.Now) < max(expiryNear, time.Duration(w.ControlPlane.Spec.Rollout.Before.CertificatesExpiryDays)*24*time.Hour)
	switch {
	case !looked && near:
		return true
	case !looked: // after a restart of the manager what is noted is believed
		eyes.keep(m, expiryLook{server: apiServerRun(m), at: w.Now})
		return false
	case last.failed:
		return w.Now.Sub(last.at) >= expiryRetry
	case last.server != apiServerRun(m), noted.IsZero():
		return true
	}
	return near && w.Now.Sub(last.at) >= expiryRecheck
}

// notedExpiry is what the configuration's annotation says; zero if nothing readable.
func notedExpiry(m *Machine) time.Time {
	at, err := time.Parse(time.RFC3339, m.Config.Annotations[clusterv1.MachineCertificatesExpiryDateAnnotation])
	if err != nil {
		return time.Time{}
	}
	return at
}

func apiServerRun(m *Machine) string {
	pod := m.Pods[apiServer]
	run := string(pod.UID)
	for _, status := range pod.Status.ContainerStatuses {
		run += fmt.Sprint("/", status.RestartCount, status.ContainerID)
	}
	return run
}

// askExpiry reaches the API server of one machine through the tunnel, whichever answers at the cluster's endpoint.
func (c *Controller) askExpiry(ctx context.Context, cluster *clusterv1.Cluster, m *Machine, authority []byte) (time.Time, error) {
	config, err := c.Clusters.RESTConfig(ctx, client.ObjectKeyFromObject(cluster))
	if err != nil {
		return time.Time{}, err
	}
	target := tunnel.Target{Namespace: kubeSystem, Pod: apiServer + "-" + m.nodeName(), Port: bindPort(m)}
	return servingcert.Expiry(ctx, func(ctx context.Context) (net.Conn, error) { return tunnel.Dial(ctx, config, target) }, authority)
}

// bindPort is where the API server of a machine listens.
func bindPort(m *Machine) int {
	port := m.Config.Spec.InitConfiguration.LocalAPIEndpoint.BindPort
	if join := m.Config.Spec.JoinConfiguration.ControlPlane; join != nil {
		port = join.LocalAPIEndpoint.BindPort
	}
	if port == 0 {
		return defaultBindPort
	}
	return int(port)
}
