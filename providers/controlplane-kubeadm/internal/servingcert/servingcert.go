// Package servingcert finds out until when the certificate is good that an API server shows to its clients. kubeadm
// issues and renews all certificates of a node together, so this one stands for all of them.
package servingcert

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	commonName = "kube-apiserver"
	// timeout bounds the handshake together with opening the connection.
	timeout = 15 * time.Second
)

// ErrNotAnAPIServer says that something else answered.
var ErrNotAnAPIServer = errors.New("the certificate is not that of an API server of this cluster")

// Expiry asks the server behind dial for its certificate, which must be signed by the authority, and tells its end.
func Expiry(ctx context.Context, dial func(context.Context) (net.Conn, error), authority []byte) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return time.Time{}, errors.New("the cluster authority holds no certificate")
	}
	raw, err := dial(ctx)
	if err != nil {
		return time.Time{}, err
	}
	defer raw.Close()
	connection := tls.Client(raw, &tls.Config{
		MinVersion: tls.VersionTLS12,
		// The chain is verified below; the name of a server that is reached through a tunnel says nothing.
		InsecureSkipVerify: true,
	})
	if err := connection.HandshakeContext(ctx); err != nil {
		return time.Time{}, fmt.Errorf("asking an API server for its certificate: %w", err)
	}
	leaf := connection.ConnectionState().PeerCertificates[0]
	// An expired certificate is still this server's; its time is the answer.
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: leaf.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil || leaf.Subject.CommonName != commonName {
		return time.Time{}, ErrNotAnAPIServer
	}
	return leaf.NotAfter, nil
}
