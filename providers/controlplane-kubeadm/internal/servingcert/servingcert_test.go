package servingcert

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/contract/certificates"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func authority(t *testing.T) certificates.KeyPair {
	t.Helper()
	ca, err := certificates.NewCA(certificates.ECDSAP256, 0, now)
	require.NoError(t, err)
	return ca
}

// server shows a certificate of the authority on one end of a pipe.
func server(t *testing.T, ca certificates.KeyPair, name string) func(context.Context) (net.Conn, error) {
	t.Helper()
	key, err := certificates.NewKey(certificates.ECDSAP256)
	require.NoError(t, err)
	pair, err := ca.Sign(certificates.Request{CommonName: name, Validity: time.Hour, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, key, now)
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)
	return func(context.Context) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			_ = tls.Server(far, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert}).Handshake()
		}()
		return near, nil
	}
}

// Conformance: CP-82
func TestExpiry(t *testing.T) {
	ca := authority(t)
	at, err := Expiry(t.Context(), server(t, ca, "kube-apiserver"), ca.Cert)
	require.NoError(t, err)
	assert.WithinDuration(t, now.Add(time.Hour), at, time.Minute, "told although it has ended long ago")
}

func TestOthersAreNotBelieved(t *testing.T) {
	ca := authority(t)
	_, err := Expiry(t.Context(), server(t, authority(t), "kube-apiserver"), ca.Cert)
	require.ErrorIs(t, err, ErrNotAnAPIServer)
	_, err = Expiry(t.Context(), server(t, ca, "nginx"), ca.Cert)
	require.ErrorIs(t, err, ErrNotAnAPIServer)
	_, err = Expiry(t.Context(), server(t, ca, "kube-apiserver"), nil)
	require.ErrorContains(t, err, "no certificate")
}

func TestADeadServerCostsNoMoreThanTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	silent := func(context.Context) (net.Conn, error) {
		near, _ := net.Pipe()
		return near, nil
	}
	_, err := Expiry(ctx, silent, authority(t).Cert)
	require.Error(t, err)
	require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
	refused := func(context.Context) (net.Conn, error) { return nil, net.ErrClosed }
	_, err = Expiry(t.Context(), refused, authority(t).Cert)
	require.ErrorIs(t, err, net.ErrClosed)
}
