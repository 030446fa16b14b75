package clustercache

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// errOtherServer is why a changed kubeconfig needs a new connection.
var errOtherServer = errors.New("the kubeconfig names another server")

// connection is one living connection to a workload cluster.
type connection struct {
	uid    types.UID
	name   client.ObjectKey
	ctx    context.Context
	cancel context.CancelFunc

	options Options
	// named is what the kubeconfig says; inside says that the connection takes the in-cluster address instead.
	named     *rest.Config
	inside    bool
	config    atomic.Pointer[rest.Config]
	source    atomic.Pointer[string] // fingerprint of the kubeconfig in use
	transport *swappableTransport
	http      *http.Client
	direct    client.Client
	prober    rest.Interface

	// The cache is made when it is first asked for: managers that only write to workload clusters never pay for it.
	mu      sync.Mutex
	cache   cache.Cache
	cached  client.Client
	watches map[string]struct{}
}

// connect proves that the endpoint answers and that it is a Kubernetes API before it builds anything.
func (o Options) connect(ctx, base context.Context, key client.ObjectKey, uid types.UID, kubeconfig []byte) (*connection, error) {
	config, err := o.restConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	connectionCtx, cancel := context.WithCancel(base)
	c := &connection{
		uid: uid, name: key, ctx: connectionCtx, cancel: cancel, options: o,
		transport: &swappableTransport{}, watches: map[string]struct{}{},
	}
	c.http = &http.Client{Transport: c.transport}
	if err := c.dial(ctx, config, kubeconfig); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *connection) dial(ctx context.Context, config *rest.Config, kubeconfig []byte) error {
	if err := c.use(config, kubeconfig); err != nil {
		return err
	}
	if err := c.prepareProbe(); err != nil {
		return err
	}
	if err := c.probe(ctx); err != nil {
		return fmt.Errorf("asking the API server: %w", err)
	}
	if err := c.moveInside(ctx, kubeconfig); err != nil {
		return err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(c.config.Load(), c.http)
	if err != nil {
		return fmt.Errorf("preparing discovery: %w", err)
	}
	if _, err := mapper.RESTMapping(schema.GroupKind{Kind: "Node"}, "v1"); err != nil {
		return fmt.Errorf("discovering Nodes: %w", err)
	}
	c.direct, err = client.New(c.config.Load(), client.Options{HTTPClient: c.http, Scheme: c.options.Scheme, Mapper: mapper})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	return nil
}

// use makes the connection speak with this configuration from the next request on.
func (c *connection) use(named *rest.Config, kubeconfig []byte) error {
	config := named
	if c.inside {
		var err error
		if config, err = c.options.atInClusterAddress(named); err != nil {
			return err
		}
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return fmt.Errorf("preparing TLS: %w", err)
	}
	c.transport.swap(transport)
	c.named = named
	c.config.Store(config)
	mark := fingerprint(kubeconfig)
	c.source.Store(&mark)
	return nil
}

func (c *connection) prepareProbe() error {
	config := c.config.Load()
	probing := rest.CopyConfig(config)
	probing.GroupVersion, probing.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	// The probe must not wait behind the requests of the controllers.
	probing.QPS = -1
	prober, err := rest.UnversionedRESTClientForConfigAndClient(probing, c.http)
	if err != nil {
		return fmt.Errorf("preparing the probe: %w", err)
	}
	c.prober = prober
	return nil
}

// probe asks the API server for its list of paths. Any answer but 401 and 5xx shows that it lives. It does not retry:
// a load balancer without backends accepts and closes, which the client would otherwise sit out for seconds.
func (c *connection) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Probe.Timeout)
	defer cancel()
	var code int
	err := c.prober.Get().AbsPath("/").MaxRetries(0).Do(ctx).StatusCode(&code).Error()
	if code >= http.StatusOK && code < http.StatusInternalServerError && code != http.StatusUnauthorized {
		return nil
	}
	return err
}

// renew goes over to a new kubeconfig of the same server. Informers stay: their next requests use the new credentials.
func (c *connection) renew(ctx context.Context, kubeconfig []byte) error {
	config, err := c.options.restConfig(kubeconfig)
	if err != nil {
		return err
	}
	if !sameServer(config, c.named) {
		return errOtherServer
	}
	if err := c.use(config, kubeconfig); err != nil {
		return err
	}
	return c.probe(ctx)
}

// moveInside goes over to the in-cluster address if this manager's own Pod lives in the workload cluster: the
// external address may not be reachable from inside.
func (c *connection) moveInside(ctx context.Context, kubeconfig []byte) error {
	identity := c.options.Identity
	if !identity.known() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Probe.Timeout)
	defer cancel()
	direct, err := client.New(c.config.Load(), client.Options{HTTPClient: c.http, Scheme: c.options.Scheme})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	pod := &corev1.Pod{}
	err = direct.Get(ctx, client.ObjectKey{Namespace: identity.Namespace, Name: identity.Name}, pod)
	if apierrors.IsNotFound(err) || (err == nil && string(pod.UID) != identity.UID) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for the own Pod: %w", err)
	}
	c.inside = true
	if err := c.use(c.named, kubeconfig); err != nil {
		return err
	}
	return c.prepareProbe()
}

// atInClusterAddress is the configuration with the server and the authority that Pods use; the credentials stay.
func (o Options) atInClusterAddress(named *rest.Config) (*rest.Config, error) {
	here, err := o.inCluster()
	if err != nil {
		return nil, fmt.Errorf("reading the in-cluster configuration: %w", err)
	}
	config := rest.CopyConfig(named)
	config.Host, config.ServerName = here.Host, ""
	config.CAFile, config.CAData = here.CAFile, here.CAData
	return config, nil
}

func (c *connection) close() {
	c.cancel()
	c.transport.closeIdle()
}
