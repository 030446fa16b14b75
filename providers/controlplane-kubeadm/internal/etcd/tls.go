package etcd

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-capi/slipway/contract/certificates"
)

const (
	clientName     = "cluster-api.x-k8s.io"
	clientValidity = 10 * 365 * 24 * time.Hour
)

// ClientPair signs a client certificate with the etcd authority.
func ClientPair(ca certificates.KeyPair, key crypto.Signer, now time.Time) (certificates.KeyPair, error) {
	return ca.Sign(certificates.Request{
		CommonName: clientName, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, Validity: clientValidity,
	}, key, now)
}

// TLSConfig trusts servers with a certificate of the authority, whatever their name: the tunnel decides which member
// answers, and members know nothing of the names used here.
func TLSConfig(ca, client certificates.KeyPair) (*tls.Config, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca.Cert) {
		return nil, errors.New("the etcd authority holds no certificate")
	}
	pair, err := tls.X509KeyPair(client.Cert, client.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the etcd client certificate: %w", err)
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{pair},
		// The chain is verified below; only the name is not.
		InsecureSkipVerify: true,
		VerifyConnection:   func(state tls.ConnectionState) error { return verify(state, roots) },
	}, nil
}

func verify(state tls.ConnectionState, roots *x509.CertPool) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the etcd member showed no certificate")
	}
	intermediates := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		intermediates.AddCert(certificate)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}
