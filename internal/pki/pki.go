// Package pki keeps the certificate authority of a management plane and the certificates of its processes in a folder.
//
// There is one authority for everything on the plane: it is born with the state folder and dies with it. Certificates are
// made when they are missing, about to end, or no longer say what is asked for; so a restart changes none of them.
package pki

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-capi/slipway/contract/certificates"
)

const (
	caValidity   = 10 * 365 * 24 * time.Hour
	leafValidity = 365 * 24 * time.Hour
	// renewBefore leaves users who copied a kubeconfig a month with the old certificate.
	renewBefore = 30 * 24 * time.Hour
)

// Files are the paths of a certificate and its key.
type Files struct{ Cert, Key string }

// Authority signs the certificates of one plane.
type Authority struct {
	dir string
	now func() time.Time
	ca  certificates.KeyPair
}

// Open reads the authority in a folder, or makes it.
func Open(dir string, now func() time.Time) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the certificates: %w", err)
	}
	a := &Authority{dir: dir, now: now}
	ca, err := a.keep("ca", func() (certificates.KeyPair, error) {
		return certificates.NewCA(certificates.ECDSAP256, caValidity, now())
	})
	if err != nil {
		return nil, fmt.Errorf("opening the authority: %w", err)
	}
	a.ca = ca
	return a, nil
}

// CA is the authority's certificate as PEM.
func (a *Authority) CA() []byte { return a.ca.Cert }

// CAFile is where the authority's certificate is kept.
func (a *Authority) CAFile() string { return a.files("ca").Cert }

// ServiceAccounts are the files of the public and private key that sign service account tokens.
func (a *Authority) ServiceAccounts() (Files, error) {
	_, err := a.keep("service-accounts", func() (certificates.KeyPair, error) {
		return certificates.NewServiceAccountPair(certificates.ECDSAP256)
	})
	return a.files("service-accounts"), err
}

// Client returns a certificate that authenticates a user.
func (a *Authority) Client(name, user string, groups ...string) (Files, error) {
	return a.leaf(name, certificates.Request{
		CommonName: user, Organizations: groups, Validity: leafValidity,
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// Server returns a certificate for a server on the loopback address. It may be used as a client too, as etcd's peers do.
func (a *Authority) Server(dir string, dnsNames ...string) (Files, error) {
	return a.leaf(dir, certificates.Request{
		CommonName: filepath.Base(dir), DNSNames: append([]string{"localhost"}, dnsNames...), Validity: leafValidity,
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		Template: func(c *x509.Certificate) {
			c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
		},
	})
}

func (a *Authority) leaf(name string, want certificates.Request) (Files, error) {
	files := a.files(name)
	if a.serves(files, want) {
		return files, nil
	}
	key, err := certificates.NewKey(certificates.ECDSAP256)
	if err != nil {
		return files, fmt.Errorf("making the key of %s: %w", name, err)
	}
	pair, err := a.ca.Sign(want, key, a.now())
	if err != nil {
		return files, fmt.Errorf("signing the certificate of %s: %w", name, err)
	}
	return files, store(files, pair)
}

// serves says whether the certificate on disk is what is wanted, from this authority, and long enough valid.
func (a *Authority) serves(files Files, want certificates.Request) bool {
	pair, err := load(files)
	if err != nil {
		return false
	}
	cert, err := pair.Certificate()
	if err != nil {
		return false
	}
	ca, err := a.ca.Certificate()
	if err != nil || cert.CheckSignatureFrom(ca) != nil {
		return false
	}
	return cert.Subject.CommonName == want.CommonName &&
		slices.Equal(cert.Subject.Organization, want.Organizations) &&
		slices.Equal(cert.DNSNames, want.DNSNames) &&
		a.now().Add(renewBefore).Before(cert.NotAfter)
}

// keep returns the pair on disk, or makes and stores one.
func (a *Authority) keep(name string, make func() (certificates.KeyPair, error)) (certificates.KeyPair, error) {
	files := a.files(name)
	pair, err := load(files)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return pair, err
	}
	if pair, err = make(); err != nil {
		return pair, err
	}
	return pair, store(files, pair)
}

// files names the files of a pair; those of webhook servers have the names that managers expect, in a folder of their own.
func (a *Authority) files(name string) Files {
	path := filepath.Join(a.dir, name)
	if filepath.Base(filepath.Dir(path)) == WebhookDir {
		return Files{Cert: filepath.Join(path, "tls.crt"), Key: filepath.Join(path, "tls.key")}
	}
	return Files{Cert: path + ".crt", Key: path + ".key"}
}

// WebhookDir is the folder below which each name is a folder with tls.crt and tls.key, as webhook servers want it.
const WebhookDir = "webhook"

func load(files Files) (certificates.KeyPair, error) {
	cert, err := os.ReadFile(files.Cert)
	if err != nil {
		return certificates.KeyPair{}, err
	}
	key, err := os.ReadFile(files.Key)
	return certificates.KeyPair{Cert: cert, Key: key}, err
}

func store(files Files, pair certificates.KeyPair) error {
	if err := os.MkdirAll(filepath.Dir(files.Cert), 0o700); err != nil {
		return err
	}
	// The key first: a certificate on disk means that the pair is whole.
	if err := os.WriteFile(files.Key, pair.Key, 0o600); err != nil {
		return err
	}
	return os.WriteFile(files.Cert, pair.Cert, 0o644)
}
