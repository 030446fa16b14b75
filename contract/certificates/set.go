package certificates

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Purpose is what a key pair is for; its Secret is named <cluster>-<purpose>.
type Purpose string

// The purposes.
const (
	ClusterCA           Purpose = "ca"
	EtcdCA              Purpose = "etcd"
	FrontProxyCA        Purpose = "proxy"
	ServiceAccount      Purpose = "sa"
	APIServerEtcdClient Purpose = "apiserver-etcd-client"
)

// DefaultDirectory is where kubeadm keeps certificates on a node.
const DefaultDirectory = "/etc/kubernetes/pki"

// ErrMissing says that a Secret with a key pair that nobody but the user can supply does not exist.
var ErrMissing = errors.New("certificate is missing")

// Entry is one key pair that a cluster needs.
type Entry struct {
	Purpose Purpose
	// CertFile and KeyFile are the paths on a control plane node; an empty KeyFile is not written.
	CertFile, KeyFile string
	// External entries are supplied by the user and never generated.
	External bool
	// Pair is nil until it has been looked up.
	Pair *KeyPair
	// Secret is where the pair was found, without its data; nil if it was not.
	Secret *corev1.Secret
	// Generated says that the pair was made by the last call and not found.
	Generated bool
}

// ExternalEtcd is where a control plane finds the files of an etcd cluster that kubeadm does not run.
type ExternalEtcd struct {
	// CAFile is the authority of the etcd servers; CertFile and KeyFile are the client's pair.
	CAFile, CertFile, KeyFile string
}

// ForControlPlane lists what a control plane needs. An empty directory means the default one.
func ForControlPlane(directory string, external *ExternalEtcd) []Entry {
	if directory == "" {
		directory = DefaultDirectory
	}
	in := func(name string) string { return path.Join(directory, name) }
	set := []Entry{{Purpose: ClusterCA, CertFile: in("ca.crt"), KeyFile: in("ca.key")}}
	if external == nil {
		set = append(set, Entry{Purpose: EtcdCA, CertFile: in("etcd/ca.crt"), KeyFile: in("etcd/ca.key")})
	} else {
		set = append(set, Entry{Purpose: EtcdCA, CertFile: external.CAFile, External: true})
	}
	set = append(set,
		Entry{Purpose: FrontProxyCA, CertFile: in("front-proxy-ca.crt"), KeyFile: in("front-proxy-ca.key")},
		Entry{Purpose: ServiceAccount, CertFile: in("sa.pub"), KeyFile: in("sa.key")})
	if external != nil {
		set = append(set, Entry{Purpose: APIServerEtcdClient, CertFile: external.CertFile, KeyFile: external.KeyFile, External: true})
	}
	return set
}

// Source reads Secrets: from a cache that holds those labelled with a cluster name, and live for those of users.
type Source struct {
	// Cached is asked first. Live is asked for what Cached does not have; nil means that nobody is.
	Cached, Live client.Reader
}

// Lookup reads what exists into the set and returns the purposes that are missing.
func Lookup(ctx context.Context, src Source, cluster client.ObjectKey, set []Entry) (missing []Purpose, err error) {
	var errs []error
	for i := range set {
		err := read(ctx, src, cluster, &set[i])
		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, set[i].Purpose)
		case err != nil:
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return missing, nil
}

func read(ctx context.Context, src Source, cluster client.ObjectKey, e *Entry) error {
	key := SecretKey(cluster, e.Purpose)
	secret := &corev1.Secret{}
	err := src.Cached.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) && src.Live != nil {
		err = src.Live.Get(ctx, key, secret)
	}
	if err != nil {
		return fmt.Errorf("reading Secret %s: %w", key, err)
	}
	e.Secret = WithoutData(secret)
	pair, err := FromSecret(secret)
	if err != nil {
		return err
	}
	e.Pair = &pair
	return nil
}

// SecretKey names the Secret of a purpose.
func SecretKey(cluster client.ObjectKey, purpose Purpose) client.ObjectKey {
	return client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name + "-" + string(purpose)}
}

// FromSecret reads a pair; a missing key is an empty one, since users may keep it away.
func FromSecret(secret *corev1.Secret) (KeyPair, error) {
	cert, ok := secret.Data[corev1.TLSCertKey]
	if !ok {
		return KeyPair{}, fmt.Errorf("secret %s has no key %s", secret.Name, corev1.TLSCertKey)
	}
	return KeyPair{Cert: cert, Key: secret.Data[corev1.TLSPrivateKeyKey]}, nil
}

// ToSecret is the Secret that keeps a pair.
func ToSecret(cluster client.ObjectKey, purpose Purpose, pair KeyPair, owner metav1.OwnerReference) *corev1.Secret {
	key := SecretKey(cluster, purpose)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name}},
		Type: clusterv1.ClusterSecretType,
		Data: map[string][]byte{corev1.TLSCertKey: pair.Cert, corev1.TLSPrivateKeyKey: pair.Key},
	}
}

// Generation says how missing pairs are made.
type Generation struct {
	// Algorithm of all keys.
	Algorithm Algorithm
	// CAValidity is how long authorities live; zero means DefaultCAValidity.
	CAValidity time.Duration
	// Owner of the Secrets.
	Owner metav1.OwnerReference
	// Now is the present time.
	Now time.Time
}

// LookupOrGenerate reads the set, makes what is missing, and stores it. Existing Secrets are used as they are. Two
// callers at the same time end with the same pairs: the one whose create fails reads what the other stored.
func LookupOrGenerate(ctx context.Context, c client.Client, src Source, cluster client.ObjectKey, set []Entry, g Generation) error {
	if _, err := Lookup(ctx, src, cluster, set); err != nil {
		return err
	}
	var wait sync.WaitGroup
	errs := make([]error, len(set))
	for i := range set {
		if set[i].Pair != nil {
			continue
		}
		if set[i].External {
			errs[i] = fmt.Errorf("secret %s: %w: it must be supplied", SecretKey(cluster, set[i].Purpose), ErrMissing)
			continue
		}
		wait.Add(1)
		go func() {
			defer wait.Done()
			errs[i] = generate(ctx, c, src, cluster, &set[i], g)
		}()
	}
	wait.Wait()
	return errors.Join(errs...)
}

func generate(ctx context.Context, c client.Client, src Source, cluster client.ObjectKey, e *Entry, g Generation) error {
	var pair KeyPair
	var err error
	if e.Purpose == ServiceAccount {
		pair, err = NewServiceAccountPair(g.Algorithm)
	} else {
		pair, err = NewCA(g.Algorithm, g.CAValidity, g.Now)
	}
	if err != nil {
		return fmt.Errorf("generating %s: %w", e.Purpose, err)
	}
	err = c.Create(ctx, ToSecret(cluster, e.Purpose, pair, g.Owner))
	if apierrors.IsAlreadyExists(err) {
		if src.Live != nil {
			src.Cached = src.Live // the cache has not seen what another caller has just stored
		}
		return read(ctx, src, cluster, e)
	}
	if err != nil {
		return fmt.Errorf("storing %s: %w", SecretKey(cluster, e.Purpose), err)
	}
	e.Pair, e.Generated = &pair, true
	return nil
}

// Find returns the pair of a purpose, or nil.
func Find(set []Entry, purpose Purpose) *KeyPair {
	for _, e := range set {
		if e.Purpose == purpose {
			return e.Pair
		}
	}
	return nil
}
