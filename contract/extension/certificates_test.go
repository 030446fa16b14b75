package extension_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

// authority signs certificates for servers and clients.
func authority(t *testing.T) certificates.KeyPair {
	t.Helper()
	ca, err := certificates.NewCA(certificates.ECDSAP256, time.Hour, time.Now())
	require.NoError(t, err)
	return ca
}

func signed(t *testing.T, ca certificates.KeyPair, usage x509.ExtKeyUsage) certificates.KeyPair {
	t.Helper()
	key, err := certificates.NewKey(certificates.ECDSAP256)
	require.NoError(t, err)
	pair, err := ca.Sign(certificates.Request{CommonName: "x", DNSNames: []string{"localhost"}, Usages: []x509.ExtKeyUsage{usage}, Validity: time.Hour}, key, time.Now())
	require.NoError(t, err)
	return pair
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, content, 0o600))
	// The clock of a file system can be coarse.
	later := time.Now().Add(time.Duration(len(content)) * time.Second)
	require.NoError(t, os.Chtimes(file, later, later))
}

// serve starts a server and returns its address; it must stop without error.
func serve(t *testing.T, options extension.Options) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := extension.NewServer(options)
	extension.Handle(s, hook.BeforeClusterDelete, "h", nothing)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return "https://localhost:" + port
}

// call makes one call on a connection of its own.
func call(t *testing.T, url string, ca certificates.KeyPair, client ...tls.Certificate) error {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.Cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: client, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+hook.BeforeClusterDelete.Path("h"), strings.NewReader("{}"))
	require.NoError(t, err)
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err == nil {
		assert.Equal(t, http.StatusOK, response.StatusCode)
		err = response.Body.Close()
	}
	return err
}

// Conformance: RT-05
func TestCertificatesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	first, second := authority(t), authority(t)
	options := quiet()
	options.CertFile, options.KeyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	one, two := signed(t, first, x509.ExtKeyUsageServerAuth), signed(t, second, x509.ExtKeyUsageServerAuth)
	write(t, options.CertFile, one.Cert)
	write(t, options.KeyFile, one.Key)
	url := serve(t, options)
	require.NoError(t, call(t, url, first))
	require.Error(t, call(t, url, second))

	write(t, options.CertFile, []byte("half a certi"))
	time.Sleep(1100 * time.Millisecond) // files are looked at once a second
	require.NoError(t, call(t, url, first), "what cannot be read changes nothing")

	write(t, options.CertFile, two.Cert)
	write(t, options.KeyFile, two.Key)
	require.Eventually(t, func() bool { return call(t, url, second) == nil }, time.Minute, 50*time.Millisecond)
	require.Error(t, call(t, url, first))
}

// Conformance: RT-06
func TestCallersCanBeDemandedToHaveCertificates(t *testing.T) {
	dir := t.TempDir()
	ca, clients, strangers := authority(t), authority(t), authority(t)
	options := quiet()
	options.CertFile, options.KeyFile, options.ClientCAFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), filepath.Join(dir, "ca.crt")
	pair := signed(t, ca, x509.ExtKeyUsageServerAuth)
	write(t, options.CertFile, pair.Cert)
	write(t, options.KeyFile, pair.Key)
	write(t, options.ClientCAFile, clients.Cert)
	url := serve(t, options)
	identity := func(ca certificates.KeyPair) tls.Certificate {
		p := signed(t, ca, x509.ExtKeyUsageClientAuth)
		out, err := tls.X509KeyPair(p.Cert, p.Key)
		require.NoError(t, err)
		return out
	}
	manager, stranger := identity(clients), identity(strangers)
	require.NoError(t, call(t, url, ca, manager))
	require.Error(t, call(t, url, ca, stranger))
	require.Error(t, call(t, url, ca))

	write(t, options.ClientCAFile, append(strangers.Cert, '\n'))
	require.Eventually(t, func() bool { return call(t, url, ca, stranger) == nil }, time.Minute, 50*time.Millisecond)
	require.Error(t, call(t, url, ca, manager), "authorities are read again, too")
}
