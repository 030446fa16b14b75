// Package wire sends requests of hooks to extensions and reads the responses. Each extension has a client of its own, with its own
// authorities and connections: nothing about TLS is shared. What an extension answers is not trusted: sizes are bounded, redirects are
// not followed, and errors say the same of the same mishap each time, without what the other side wrote.
package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/endpoint"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

// Options are what all clients have in common.
type Options struct {
	// AllowLocal lets clients connect to loopback and link-local addresses.
	AllowLocal bool
	// CertFile and KeyFile prove to extensions who calls; they are read for each connection. Empty means no proof.
	CertFile, KeyFile string
	// UserAgent is how the manager calls itself.
	UserAgent string
	// MaxResponseBytes is the largest response that is read. Default 16 MiB.
	MaxResponseBytes int64
}

const defaultMaxResponseBytes = 16 << 20

// Pool keeps one client for each extension.
type Pool struct {
	options Options

	mu      sync.Mutex
	clients map[string]*Client
}

// NewPool makes an empty pool.
func NewPool(options Options) *Pool {
	if options.MaxResponseBytes <= 0 {
		options.MaxResponseBytes = defaultMaxResponseBytes
	}
	return &Pool{options: options, clients: map[string]*Client{}}
}

// For returns the client of an extension. One whose endpoint has changed is replaced; calls that are under way end on the old one.
func (p *Pool) For(extension string, at endpoint.Endpoint) (*Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	have := p.clients[extension]
	if have != nil && have.endpoint == at {
		return have, nil
	}
	made, err := newClient(at, p.options)
	if err != nil {
		return nil, err
	}
	if have != nil {
		have.http.CloseIdleConnections()
	}
	p.clients[extension] = made
	return made, nil
}

// Forget drops the client of an extension that is no more.
func (p *Pool) Forget(extension string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.clients[extension]; have != nil {
		have.http.CloseIdleConnections()
		delete(p.clients, extension)
	}
}

// Client calls one extension.
type Client struct {
	endpoint endpoint.Endpoint
	options  Options
	http     *http.Client
}

func newClient(at endpoint.Endpoint, options Options) (*Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: at.ServerName}
	if at.CABundle != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(at.CABundle)) {
			return nil, errors.New("clientConfig.caBundle holds no certificate in PEM")
		}
	}
	if options.CertFile != "" {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(options.CertFile, options.KeyFile)
			return &pair, err
		}
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: guard(options.AllowLocal)}
	return &Client{endpoint: at, options: options, http: &http.Client{
		// No proxy: it would look names up itself, past the guard.
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: config, TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 1 << 16,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// errForbidden is an address that the manager does not connect to.
type errForbidden struct{ why string }

func (e errForbidden) Error() string { return e.why }

// guard looks at the address that a name has led to: right before the connection, when nothing can change it any more.
func guard(allowLocal bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return errForbidden{"it is no address of a host"}
		}
		if why := endpoint.Why(at.Addr(), allowLocal); why != "" {
			return errForbidden{why}
		}
		return nil
	}
}

// Call sends an encoded request to a handler and returns the response, decoded and as it came. What is no response is an [Error], but for
// the end of the context.
func (c *Client) Call(ctx context.Context, d hook.Definition, handler string, timeout time.Duration, request []byte) (hook.Response, []byte, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := time.Now()
	code, answer, err := c.post(limited, c.endpoint.URL+d.Path(handler), request)
	var response hook.Response
	status := ""
	switch {
	case err == nil:
		if response, err = Decode(d, answer); err == nil {
			status = string(response.GetStatus())
		}
	case ctx.Err() != nil:
		err = ctx.Err() // the caller has no more time, which says nothing about the extension
	default:
		err = explain(err, timeout)
	}
	c.count(d, code, status, time.Since(start))
	return response, answer, err
}

// errAnswer is an answer that is no response.
type errAnswer struct{ what string }

func (e errAnswer) Error() string { return e.what }

func (c *Client) post(ctx context.Context, url string, content []byte) (code int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(content))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.options.UserAgent)
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	code = response.StatusCode
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return code, nil, errAnswer{fmt.Sprintf("it answers with HTTP status %d, and redirects are not followed", response.StatusCode)}
	case response.StatusCode != http.StatusOK:
		return code, nil, errAnswer{fmt.Sprintf("it answers with HTTP status %d", response.StatusCode)}
	}
	answer, err = io.ReadAll(io.LimitReader(response.Body, c.options.MaxResponseBytes+1))
	if err == nil && int64(len(answer)) > c.options.MaxResponseBytes {
		return code, nil, errAnswer{fmt.Sprintf("its answer has more than %d bytes", c.options.MaxResponseBytes)}
	}
	return code, answer, err
}

// Decode reads a response, which must be of the right kind and have a status, Success or Failure. What is none is an [Error].
func Decode(d hook.Definition, answer []byte) (hook.Response, error) {
	response := d.NewResponse()
	want := response.GetObjectKind().GroupVersionKind()
	if err := json.Unmarshal(answer, response); err != nil {
		return nil, &Error{because: "its answer is no " + d.ResponseKind(), err: err}
	}
	if response.GetObjectKind().GroupVersionKind() != want {
		return nil, &Error{because: fmt.Sprintf("its answer is no %s of %s", d.ResponseKind(), d.APIVersion())}
	}
	if s := response.GetStatus(); s != hooks.ResponseStatusSuccess && s != hooks.ResponseStatusFailure {
		return nil, &Error{because: "its answer has neither status Success nor Failure"}
	}
	if r, ok := response.(hook.Retry); ok && r.GetRetryAfterSeconds() < 0 {
		return nil, &Error{because: "its answer has a negative retryAfterSeconds"}
	}
	return response, nil
}
