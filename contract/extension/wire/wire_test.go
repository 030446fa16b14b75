package wire

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/endpoint"
	"github.com/slipway-capi/slipway/contract/extension/extensiontest"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

var (
	local    = Options{AllowLocal: true, UserAgent: "test", MaxResponseBytes: 2000}
	deletion = hook.BeforeClusterDelete.Definition
)

// at is where a server of a test is.
func at(e *extensiontest.Endpoint, name string) endpoint.Endpoint {
	return endpoint.Endpoint{URL: e.URL, ServerName: name, CABundle: string(e.CABundle)}
}

// ask makes one call with a client of its own.
func ask(t *testing.T, options Options, to endpoint.Endpoint, timeout time.Duration) (hook.Response, error) {
	t.Helper()
	pool := NewPool(options)
	t.Cleanup(func() { pool.Forget("e") })
	c, err := pool.For("e", to)
	require.NoError(t, err)
	response, _, err := c.Call(t.Context(), deletion, "h", timeout, []byte(`{}`))
	return response, err
}

// answering is a server that answers as a function says.
func answering(t *testing.T, answer http.HandlerFunc) endpoint.Endpoint {
	t.Helper()
	return at(extensiontest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Who has not read the request does not notice that its sender has gone.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		answer(w, r)
	})), "localhost")
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

const good = `{"kind":"BeforeClusterDeleteResponse","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","status":"Success","retryAfterSeconds":3}`

// Conformance: RT-15
func TestAnswers(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, strings.Repeat("x", 1000)); err != nil {
				return
			}
		}
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"good", text(good), ""},
		{"a failure", text(strings.Replace(good, "Success", "Failure", 1)), ""},
		{"what is unknown is passed over", text(strings.Replace(good, `"status"`, `"new":1,"status"`, 1)), ""},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://169.254.169.254/", http.StatusTemporaryRedirect)
		},
			"it answers with HTTP status 307, and redirects are not followed"},
		{"not found", http.NotFound, "it answers with HTTP status 404"},
		{"too large", text(strings.Repeat(" ", 3000) + good), "its answer has more than 2000 bytes"},
		{"endless", endless, "its answer has more than 2000 bytes"},
		{"no JSON", text("<html>"), "its answer is no BeforeClusterDeleteResponse"},
		{"another kind", text(strings.Replace(good, "Delete", "Create", 1)), "its answer is no BeforeClusterDeleteResponse of hooks.runtime.cluster.x-k8s.io/v1alpha1"},
		{"no status", text(strings.Replace(good, `"Success"`, `""`, 1)), "its answer has neither status Success nor Failure"},
		{"backwards", text(strings.Replace(good, ":3", ":-3", 1)), "its answer has a negative retryAfterSeconds"},
		{"broken off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "it breaks the connection off"},
		{"silence", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "it does not answer within 300ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			response, err := ask(t, local, answering(t, c.answer), 300*time.Millisecond)
			if c.want == "" {
				require.NoError(t, err)
				assert.EqualValues(t, 3, response.(hook.Retry).GetRetryAfterSeconds())
				return
			}
			require.EqualError(t, err, c.want)
			var unanswered *Error
			require.ErrorAs(t, err, &unanswered)
		})
	}
}

// Conformance: RT-10
func TestLocalAddressesAreNotConnectedTo(t *testing.T) {
	called := false
	e := extensiontest.Start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	_, port, err := net.SplitHostPort(strings.TrimPrefix(e.URL, "https://"))
	require.NoError(t, err)
	for host, why := range map[string]string{"127.0.0.1": "loopback", "localhost": "loopback", "[::1]": "loopback", "169.254.169.254": "link-local", "[fe80::1]": "link-local"} {
		to := at(e, "localhost")
		to.URL = "https://" + host + ":" + port
		_, err := ask(t, Options{}, to, time.Second)
		require.ErrorContains(t, err, "the manager does not connect to its address: it is a "+why+" address", host)
	}
	assert.False(t, called)
}

func TestConnectionsThatFail(t *testing.T) {
	e := extensiontest.Start(t, text(good))
	other := extensiontest.Start(t, text(good))
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	plain := &http.Server{Handler: text(good), ReadHeaderTimeout: time.Second}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = plain.Serve(listener) }()
	t.Cleanup(func() { _ = plain.Close() })
	for name, c := range map[string]struct {
		to   endpoint.Endpoint
		want string
	}{
		"another authority": {endpoint.Endpoint{URL: e.URL, ServerName: "localhost", CABundle: string(other.CABundle)}, "its certificate is signed by an unknown authority; clientConfig.caBundle must hold the right one"},
		"another name":      {at(e, "elsewhere.svc"), "its certificate is not for elsewhere.svc"},
		"nobody":            {endpoint.Endpoint{URL: "https://" + closed.Addr().String(), ServerName: "localhost"}, "it refuses the connection"},
		"no TLS":            {endpoint.Endpoint{URL: "https://" + listener.Addr().String(), ServerName: "localhost"}, "it does not speak TLS"},
		"no such host":      {endpoint.Endpoint{URL: "https://nowhere.invalid", ServerName: "nowhere.invalid"}, "the name of its host "},
	} {
		_, first := ask(t, local, c.to, 2*time.Second)
		require.ErrorContains(t, first, c.want, name)
		_, again := ask(t, local, c.to, 2*time.Second)
		require.EqualError(t, again, first.Error(), "the same words each time")
	}
	_, err = NewPool(local).For("e", endpoint.Endpoint{URL: e.URL, CABundle: "nonsense"})
	require.ErrorContains(t, err, "no certificate in PEM")
}

func TestTheEndOfTheCallerIsNoFailureOfTheExtension(t *testing.T) {
	to := answering(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c, err := NewPool(local).For("e", to)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err = c.Call(ctx, deletion, "h", 10*time.Second, []byte(`{}`))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var unanswered *Error
	require.False(t, errors.As(err, &unanswered))
}

// Conformance: RT-06
func TestTheManagerShowsItsCertificate(t *testing.T) {
	dir := t.TempDir()
	ca, err := certificates.NewCA(certificates.ECDSAP256, time.Hour, time.Now())
	require.NoError(t, err)
	pair := func(usage x509.ExtKeyUsage, name string) (certFile, keyFile string) {
		key, err := certificates.NewKey(certificates.ECDSAP256)
		require.NoError(t, err)
		p, err := ca.Sign(certificates.Request{CommonName: name, DNSNames: []string{"localhost"}, Usages: []x509.ExtKeyUsage{usage}, Validity: time.Hour}, key, time.Now())
		require.NoError(t, err)
		certFile, keyFile = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
		require.NoError(t, os.WriteFile(certFile, p.Cert, 0o600))
		require.NoError(t, os.WriteFile(keyFile, p.Key, 0o600))
		return certFile, keyFile
	}
	options := extension.Options{ClientCAFile: filepath.Join(dir, "ca.crt")}
	require.NoError(t, os.WriteFile(options.ClientCAFile, ca.Cert, 0o600))
	options.CertFile, options.KeyFile = pair(x509.ExtKeyUsageServerAuth, "server")
	server := extension.NewServer(options)
	extension.Handle(server, hook.BeforeClusterDelete, "h", func(_ context.Context, _ *hooks.BeforeClusterDeleteRequest, _ *hooks.BeforeClusterDeleteResponse) error {
		return nil
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	defer func() { cancel(); assert.NoError(t, <-ended) }()

	to := endpoint.Endpoint{URL: "https://" + listener.Addr().String(), ServerName: "localhost", CABundle: string(ca.Cert)}
	with := local
	with.CertFile, with.KeyFile = pair(x509.ExtKeyUsageClientAuth, "client")
	_, err = ask(t, with, to, 2*time.Second)
	require.NoError(t, err)
	_, err = ask(t, local, to, 2*time.Second)
	require.ErrorContains(t, err, "it ends the TLS handshake")
}

// Conformance: RT-09
func TestBC34EachExtensionHasItsOwnTLS(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	before := http.DefaultTransport.(*http.Transport).TLSClientConfig
	pool := NewPool(local)
	names := []string{"a.ns.svc", "b.ns.svc"}
	endpoints := map[string]endpoint.Endpoint{}
	for _, name := range names {
		endpoints[name] = at(extensiontest.Start(t, text(good), name), name)
	}
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			for round := range rounds / 16 {
				name := names[(worker+round)%2]
				c, err := pool.For(name, endpoints[name])
				if !assert.NoError(t, err) {
					return
				}
				if _, _, err := c.Call(t.Context(), deletion, "h", 10*time.Second, []byte(`{}`)); !assert.NoError(t, err, name) {
					return
				}
			}
		})
	}
	group.Wait()
	assert.Equal(t, before, http.DefaultTransport.(*http.Transport).TLSClientConfig, "nobody else is touched")
	assert.Len(t, pool.clients, 2)

	same, err := pool.For("a.ns.svc", endpoints["a.ns.svc"])
	require.NoError(t, err)
	other, err := pool.For("a.ns.svc", endpoints["b.ns.svc"])
	require.NoError(t, err)
	assert.NotSame(t, same, other, "another endpoint is another client")
	pool.Forget("a.ns.svc")
	pool.Forget("b.ns.svc")
	pool.Forget("nobody")
	assert.Empty(t, pool.clients)
}

func TestWordsAreAlwaysTheSame(t *testing.T) {
	for want, err := range map[string]error{
		"its certificate has expired or is not valid yet":         x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time 12:00"},
		"its certificate is not valid":                            x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign},
		"it does not answer within 5s":                            context.DeadlineExceeded,
		"the name of its host is not found":                       &net.DNSError{IsNotFound: true, Server: "10.0.0.1:53"},
		"the name of its host cannot be looked up":                &net.DNSError{Err: "server misbehaving", IsTimeout: true},
		"it cannot be reached":                                    errors.New("read tcp 127.0.0.1:50123->127.0.0.1:1"),
		"it ends the TLS handshake: tls: certificate required":    &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")},
		"the manager does not connect to its address: a loopback": errForbidden{"a loopback"},
	} {
		assert.Equal(t, want, explain(fmt.Errorf("post: %w", err), 5*time.Second).Error())
	}
}

func TestCallsAreCounted(t *testing.T) {
	fine := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","kind":"BeforeClusterDeleteResponse","status":"Failure"}`)
	})
	broken := answering(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	gone := endpoint.Endpoint{URL: "https://127.0.0.1:1"}
	for _, to := range []endpoint.Endpoint{fine, fine, broken, gone} {
		_, _ = ask(t, local, to, time.Minute)
	}
	count := func(to endpoint.Endpoint, code, status string) float64 {
		return testutil.ToFloat64(requests.WithLabelValues(code, strings.TrimPrefix(to.URL, "https://"), "hooks.runtime.cluster.x-k8s.io", "v1alpha1", "BeforeClusterDelete", status))
	}
	assert.EqualValues(t, 2, count(fine, "200", "Failure"))
	assert.EqualValues(t, 1, count(broken, "418", ""))
	assert.EqualValues(t, 1, count(gone, "<error>", ""))
}
