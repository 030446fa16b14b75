// Package extensiontest calls the server of an extension in tests, by real TLS, the way a manager does.
//
//	e := extensiontest.Start(t, server)
//	response := extensiontest.Call(t, e, hook.BeforeClusterDelete, "backup", &hooks.BeforeClusterDeleteRequest{Cluster: cluster})
package extensiontest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

// Endpoint is a server that runs until the test ends.
type Endpoint struct {
	// URL is where it is.
	URL string
	// CABundle vouches for it, in PEM. Each endpoint has its own.
	CABundle []byte
	// Client trusts it.
	Client *http.Client
}

// Start runs the handlers of an extension, usually an *extension.Server, on a port of the loopback address. Further names are
// those that its certificate is for.
func Start(t testing.TB, handler http.Handler, names ...string) *Endpoint {
	t.Helper()
	authority, pair, err := newPair(names, time.Now())
	if err != nil {
		t.Fatalf("making a certificate: %v", err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &Endpoint{URL: server.URL, CABundle: authority, Client: &http.Client{Transport: transport, Timeout: 30 * time.Second}}
}

// Call sends a request to a handler and returns the response. Anything but a response fails the test; a response with
// status Failure is a response.
func Call[Q, R any](t testing.TB, e *Endpoint, h hook.Hook[Q, R], handler string, request *Q) *R {
	t.Helper()
	any(request).(hook.Request).GetObjectKind().SetGroupVersionKind(hooks.GroupVersion.WithKind(h.RequestKind()))
	content, err := json.Marshal(request)
	if err != nil {
		t.Fatalf("encoding the request: %v", err)
	}
	status, answer := Post(t, e, h.Path(handler), content)
	if status != http.StatusOK {
		t.Fatalf("handler %s of %s answers %d: %s", handler, h.Name, status, answer)
	}
	response := new(R)
	if err := json.Unmarshal(answer, response); err != nil {
		t.Fatalf("decoding the response: %v", err)
	}
	if got := any(response).(hook.Response).GetObjectKind().GroupVersionKind(); got != hooks.GroupVersion.WithKind(h.ResponseKind()) {
		t.Fatalf("the response is a %s", got)
	}
	return response
}

// Discover asks an extension what it serves.
func Discover(t testing.TB, e *Endpoint) []hooks.ExtensionHandler {
	t.Helper()
	return Call(t, e, hook.Discovery, "", &hooks.DiscoveryRequest{}).Handlers
}

// Post sends any bytes to a path and returns status and body.
func Post(t testing.TB, e *Endpoint, path string, content []byte) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, e.URL+path, bytes.NewReader(content))
	if err != nil {
		t.Fatalf("making a request: %v", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.Client.Do(request)
	if err != nil {
		t.Fatalf("calling %s: %v", path, err)
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("reading the answer of %s: %v", path, err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatalf("closing the answer of %s: %v", path, err)
	}
	return response.StatusCode, answer
}
