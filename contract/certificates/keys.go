// Package certificates makes the keys and certificates of a workload cluster and keeps them in Secrets.
//
// The pure part (keys, authorities, the layout on nodes) uses the standard library only; [LookupOrGenerate] needs
// controller-runtime's client.
package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Algorithm names how a key is made, as in ClusterConfiguration.encryptionAlgorithm. Empty means RSA-2048.
type Algorithm string

// The algorithms that kubeadm knows.
const (
	RSA2048   Algorithm = "RSA-2048"
	RSA3072   Algorithm = "RSA-3072"
	RSA4096   Algorithm = "RSA-4096"
	ECDSAP256 Algorithm = "ECDSA-P256"
	ECDSAP384 Algorithm = "ECDSA-P384"
)

// DefaultCAValidity is how long an authority lives where the user says nothing: 3650 days.
const DefaultCAValidity = 3650 * 24 * time.Hour

// clockSkew is taken off notBefore, since the clocks of nodes differ.
const clockSkew = 5 * time.Minute

// NewKey makes a private key.
func NewKey(algorithm Algorithm) (crypto.Signer, error) {
	switch algorithm {
	case "", RSA2048:
		return rsa.GenerateKey(rand.Reader, 2048)
	case RSA3072:
		return rsa.GenerateKey(rand.Reader, 3072)
	case RSA4096:
		return rsa.GenerateKey(rand.Reader, 4096)
	case ECDSAP256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case ECDSAP384:
		return ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	}
	return nil, fmt.Errorf("unknown encryption algorithm %q: want RSA-2048, RSA-3072, RSA-4096, ECDSA-P256 or ECDSA-P384", algorithm)
}

// KeyPair is a certificate and its key as PEM, the way Secrets hold them. For the service account pair Cert is the
// public key. Key may be empty where the key is kept elsewhere.
type KeyPair struct {
	// Cert is a certificate, or a bundle with the pair's own one first; Key is its private key.
	Cert, Key []byte
}

// NewCA makes a self-signed authority.
func NewCA(algorithm Algorithm, validity time.Duration, now time.Time) (KeyPair, error) {
	key, err := NewKey(algorithm)
	if err != nil {
		return KeyPair{}, err
	}
	if validity <= 0 {
		validity = DefaultCAValidity
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(0), Subject: pkix.Name{CommonName: "kubernetes"},
		NotBefore: now.Add(-clockSkew).UTC(), NotAfter: now.Add(validity).UTC(),
		KeyUsage:              x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return KeyPair{}, fmt.Errorf("signing authority: %w", err)
	}
	return pair(der, key)
}

// NewServiceAccountPair makes the key that signs service account tokens; Cert is the public key.
func NewServiceAccountPair(algorithm Algorithm) (KeyPair, error) {
	key, err := NewKey(algorithm)
	if err != nil {
		return KeyPair{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return KeyPair{}, fmt.Errorf("encoding public key: %w", err)
	}
	private, err := EncodeKey(key)
	if err != nil {
		return KeyPair{}, err
	}
	return KeyPair{Cert: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), Key: private}, nil
}

// Request says what a signed certificate is for.
type Request struct {
	// CommonName is the name of the user, or of the server.
	CommonName string
	// Organizations are the groups of the user.
	Organizations []string
	// Usages say whether it is for clients, servers or both.
	Usages []x509.ExtKeyUsage
	// DNSNames are the names of a server.
	DNSNames []string
	// Template, if given, changes the certificate before it is signed, for what the other fields cannot say.
	Template func(*x509.Certificate)
	// Validity is how long it lives, from now.
	Validity time.Duration
}

// Sign makes a leaf certificate for a key.
func (ca KeyPair) Sign(r Request, key crypto.Signer, now time.Time) (KeyPair, error) {
	parent, err := ca.Certificate()
	if err != nil {
		return KeyPair{}, err
	}
	signer, err := ca.Signer()
	if err != nil {
		return KeyPair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 63))
	if err != nil {
		return KeyPair{}, fmt.Errorf("choosing serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)), Subject: pkix.Name{CommonName: r.CommonName, Organization: r.Organizations},
		NotBefore: parent.NotBefore, NotAfter: now.Add(r.Validity).UTC(), DNSNames: r.DNSNames,
		KeyUsage: x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature, ExtKeyUsage: r.Usages,
	}
	if r.Template != nil {
		r.Template(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return KeyPair{}, fmt.Errorf("signing certificate for %s: %w", r.CommonName, err)
	}
	return pair(der, key)
}

func pair(der []byte, key crypto.Signer) (KeyPair, error) {
	private, err := EncodeKey(key)
	if err != nil {
		return KeyPair{}, err
	}
	return KeyPair{Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: private}, nil
}

// Certificate is the first certificate of the pair.
func (ca KeyPair) Certificate() (*x509.Certificate, error) {
	list, err := ParseCertificates(ca.Cert)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Signer is the private key of the pair.
func (ca KeyPair) Signer() (crypto.Signer, error) {
	if len(ca.Key) == 0 {
		return nil, errors.New("the private key is missing")
	}
	return ParseKey(ca.Key)
}

// ParseCertificates reads every certificate of a PEM bundle; none is an error.
func ParseCertificates(bundle []byte) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for {
		var block *pem.Block
		block, bundle = pem.Decode(bundle)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("parsing certificate: %w", err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errors.New("no PEM certificate found")
	}
	return out, nil
}

// ParseKey reads a private key in PKCS#1, PKCS#8 or SEC 1 form.
func ParseKey(data []byte) (crypto.Signer, error) {
	for {
		var block *pem.Block
		block, data = pem.Decode(data)
		if block == nil {
			return nil, errors.New("no PEM private key found")
		}
		if k, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return k, nil
		}
		if k, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
			return k, nil
		}
		if k, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if s, ok := k.(crypto.Signer); ok {
				return s, nil
			}
		}
	}
}

// EncodeKey writes a key as PEM, "RSA PRIVATE KEY" or "EC PRIVATE KEY".
func EncodeKey(key crypto.Signer) ([]byte, error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)}), nil
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(k)
		if err != nil {
			return nil, fmt.Errorf("encoding key: %w", err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
	}
	return nil, fmt.Errorf("unsupported key type %T", key)
}
