package certificates_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
)

var (
	now     = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	cluster = client.ObjectKey{Namespace: "ns", Name: "c"}
	owner   = metav1.OwnerReference{APIVersion: "x/v1", Kind: "Owner", Name: "o", UID: "1"}
)

func TestKeys(t *testing.T) {
	for algorithm, size := range map[certificates.Algorithm]int{"": 2048, certificates.RSA2048: 2048, certificates.RSA3072: 3072, certificates.ECDSAP256: 256, certificates.ECDSAP384: 384} {
		key, err := certificates.NewKey(algorithm)
		require.NoError(t, err)
		encoded, err := certificates.EncodeKey(key)
		require.NoError(t, err)
		block, _ := pem.Decode(encoded)
		switch k := key.(type) {
		case *rsa.PrivateKey:
			assert.Equal(t, size, k.N.BitLen())
			assert.Equal(t, "RSA PRIVATE KEY", block.Type)
		case *ecdsa.PrivateKey:
			assert.Equal(t, size, k.Curve.Params().BitSize)
			assert.Equal(t, "EC PRIVATE KEY", block.Type)
		}
		again, err := certificates.ParseKey(encoded)
		require.NoError(t, err)
		assert.Equal(t, key.Public(), again.Public())
		pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
		require.NoError(t, err)
		again, err = certificates.ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
		require.NoError(t, err)
		assert.Equal(t, key.Public(), again.Public())
	}
	_, err := certificates.NewKey("DSA-1024")
	require.ErrorContains(t, err, "ECDSA-P256")
	_, err = certificates.ParseKey([]byte("no key"))
	require.Error(t, err)
}

func TestCA(t *testing.T) {
	ca, err := certificates.NewCA(certificates.ECDSAP256, 0, now)
	require.NoError(t, err)
	c, err := ca.Certificate()
	require.NoError(t, err)
	assert.Equal(t, "kubernetes", c.Subject.CommonName)
	assert.Zero(t, c.SerialNumber.Cmp(big.NewInt(0)))
	assert.Equal(t, now.Add(-5*time.Minute), c.NotBefore)
	assert.Equal(t, now.AddDate(0, 0, 3650), c.NotAfter)
	assert.True(t, c.IsCA && c.MaxPathLenZero && c.MaxPathLen == 0)
	assert.Equal(t, x509.KeyUsageKeyEncipherment|x509.KeyUsageDigitalSignature|x509.KeyUsageCertSign, c.KeyUsage)

	short, err := certificates.NewCA(certificates.ECDSAP256, 24*time.Hour, now)
	require.NoError(t, err)
	c, err = short.Certificate()
	require.NoError(t, err)
	assert.Equal(t, now.Add(24*time.Hour), c.NotAfter)
}

func TestSign(t *testing.T) {
	ca, err := certificates.NewCA(certificates.ECDSAP256, 0, now)
	require.NoError(t, err)
	key, err := certificates.NewKey(certificates.ECDSAP256)
	require.NoError(t, err)
	leaf, err := ca.Sign(certificates.Request{CommonName: "cn", Organizations: []string{"o"}, DNSNames: []string{"d"}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, Validity: time.Hour}, key, now)
	require.NoError(t, err)
	parent, err := ca.Certificate()
	require.NoError(t, err)
	c, err := leaf.Certificate()
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(parent)
	_, err = c.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: "d", KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	require.NoError(t, err)
	assert.Equal(t, parent.NotBefore, c.NotBefore)
	assert.Equal(t, now.Add(time.Hour), c.NotAfter)

	_, err = certificates.KeyPair{Cert: ca.Cert}.Sign(certificates.Request{CommonName: "cn"}, key, now)
	require.ErrorContains(t, err, "private key is missing")
}

func TestServiceAccountPair(t *testing.T) {
	pair, err := certificates.NewServiceAccountPair(certificates.ECDSAP256)
	require.NoError(t, err)
	block, _ := pem.Decode(pair.Cert)
	assert.Equal(t, "PUBLIC KEY", block.Type)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	require.NoError(t, err)
	signer, err := pair.Signer()
	require.NoError(t, err)
	assert.Equal(t, signer.Public(), public)
}

func TestFilesOnTheNode(t *testing.T) {
	paths := func(set []certificates.Entry) (out []string) {
		for _, e := range set {
			out = append(out, string(e.Purpose)+" "+e.CertFile+" "+e.KeyFile)
		}
		return out
	}
	assert.Equal(t, []string{
		"ca /etc/kubernetes/pki/ca.crt /etc/kubernetes/pki/ca.key",
		"etcd /etc/kubernetes/pki/etcd/ca.crt /etc/kubernetes/pki/etcd/ca.key",
		"proxy /etc/kubernetes/pki/front-proxy-ca.crt /etc/kubernetes/pki/front-proxy-ca.key",
		"sa /etc/kubernetes/pki/sa.pub /etc/kubernetes/pki/sa.key",
	}, paths(certificates.ForControlPlane("", nil)))
	assert.Equal(t, []string{
		"ca /p/ca.crt /p/ca.key", "etcd /e/ca.crt ", "proxy /p/front-proxy-ca.crt /p/front-proxy-ca.key", "sa /p/sa.pub /p/sa.key",
		"apiserver-etcd-client /e/c.crt /e/c.key",
	}, paths(certificates.ForControlPlane("/p", &certificates.ExternalEtcd{CAFile: "/e/ca.crt", CertFile: "/e/c.crt", KeyFile: "/e/c.key"})))
}

func generation() certificates.Generation {
	return certificates.Generation{Algorithm: certificates.ECDSAP256, Owner: owner, Now: now}
}

func TestGenerateOnceThenFind(t *testing.T) {
	ctx, c := context.Background(), fake.NewClientBuilder().Build()
	src := certificates.Source{Cached: c, Live: c}
	first := certificates.ForControlPlane("", nil)
	missing, err := certificates.Lookup(ctx, src, cluster, first)
	require.NoError(t, err)
	assert.Len(t, missing, 4)
	require.NoError(t, certificates.LookupOrGenerate(ctx, c, src, cluster, first, generation()))
	for _, e := range first {
		assert.True(t, e.Generated)
		secret := &corev1.Secret{}
		require.NoError(t, c.Get(ctx, certificates.SecretKey(cluster, e.Purpose), secret))
		assert.Equal(t, clusterv1.ClusterSecretType, string(secret.Type))
		assert.Equal(t, "c", secret.Labels[clusterv1.ClusterNameLabel])
		assert.Equal(t, []metav1.OwnerReference{owner}, secret.OwnerReferences)
	}
	second := certificates.ForControlPlane("", nil)
	require.NoError(t, certificates.LookupOrGenerate(ctx, c, src, cluster, second, generation()))
	for i := range second {
		assert.False(t, second[i].Generated)
		assert.Equal(t, first[i].Pair, second[i].Pair)
	}
	assert.Equal(t, second[0].Pair, certificates.Find(second, certificates.ClusterCA))
	assert.Nil(t, certificates.Find(second, certificates.APIServerEtcdClient))
}

func TestSecretsOfUsersAreTakenAsTheyAre(t *testing.T) {
	ctx := context.Background()
	own := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c-ca"}, Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": []byte("cert")}}
	c := fake.NewClientBuilder().WithObjects(own).Build()
	// The cache knows labelled Secrets only, so it does not find this one.
	set := certificates.ForControlPlane("", nil)
	require.NoError(t, certificates.LookupOrGenerate(ctx, c, certificates.Source{Cached: fake.NewClientBuilder().Build(), Live: c}, cluster, set, generation()))
	assert.Equal(t, &certificates.KeyPair{Cert: []byte("cert")}, set[0].Pair)
	assert.False(t, set[0].Generated)
	stored := &corev1.Secret{}
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(own), stored))
	assert.Equal(t, own.Data, stored.Data)
	assert.Empty(t, stored.Labels)
}

func TestTroubleWithSecrets(t *testing.T) {
	ctx := context.Background()
	empty := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c-ca"}}
	c := fake.NewClientBuilder().WithObjects(empty).Build()
	_, err := certificates.Lookup(ctx, certificates.Source{Cached: c}, cluster, certificates.ForControlPlane("", nil))
	require.ErrorContains(t, err, "c-ca has no key tls.crt")

	c = fake.NewClientBuilder().Build()
	set := certificates.ForControlPlane("", &certificates.ExternalEtcd{CAFile: "a", CertFile: "b", KeyFile: "c"})
	err = certificates.LookupOrGenerate(ctx, c, certificates.Source{Cached: c}, cluster, set, generation())
	require.ErrorIs(t, err, certificates.ErrMissing, "what only the user can supply is not generated")

	down := errors.New("no connection")
	broken := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return down
	}})
	err = certificates.LookupOrGenerate(ctx, broken, certificates.Source{Cached: broken}, cluster, certificates.ForControlPlane("", nil), generation())
	require.ErrorIs(t, err, down, "an unreadable Secret is not a missing one")
}

// TestTwoCallersEndWithTheSamePairs lets the second caller look before the first has stored anything.
func TestTwoCallersEndWithTheSamePairs(t *testing.T) {
	ctx, c := context.Background(), fake.NewClientBuilder().Build()
	first, second := certificates.ForControlPlane("", nil), certificates.ForControlPlane("", nil)
	require.NoError(t, certificates.LookupOrGenerate(ctx, c, certificates.Source{Cached: c}, cluster, first, generation()))
	stale := fake.NewClientBuilder().Build()
	late := interceptor.NewClient(c, interceptor.Funcs{})
	asked := map[string]int{}
	live := interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, to client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
		if asked[key.Name]++; asked[key.Name] == 1 {
			return stale.Get(ctx, key, obj, opts...)
		}
		return to.Get(ctx, key, obj, opts...)
	}})
	for i := range second { // the test counts reads, so one entry at a time
		require.NoError(t, certificates.LookupOrGenerate(ctx, late, certificates.Source{Cached: stale, Live: live}, cluster, second[i:i+1], generation()))
		assert.Equal(t, first[i].Pair, second[i].Pair)
		assert.False(t, second[i].Generated)
	}
}

func TestTheOwnerOfASecretComesBack(t *testing.T) {
	ctx, c := context.Background(), fake.NewClientBuilder().Build()
	yes := true
	mine := owner
	mine.Controller = &yes
	g := generation()
	g.Owner = mine
	set := certificates.ForControlPlane("", nil)
	require.NoError(t, certificates.LookupOrGenerate(ctx, c, certificates.Source{Cached: c}, cluster, set, g))
	_, err := certificates.Lookup(ctx, certificates.Source{Cached: c}, cluster, set)
	require.NoError(t, err)
	require.Len(t, certificates.Secrets(set), 4)
	for _, secret := range certificates.Secrets(set) {
		assert.Empty(t, secret.Data, "what is passed around holds no keys")
		assert.False(t, certificates.LostOwner(secret, "c", mine))
	}
	stripped := &corev1.Secret{}
	require.NoError(t, c.Get(ctx, certificates.SecretKey(cluster, certificates.ClusterCA), stripped))
	stripped.OwnerReferences, stripped.Labels = nil, nil
	require.NoError(t, c.Update(ctx, stripped))
	require.True(t, certificates.LostOwner(stripped, "c", mine))
	require.NoError(t, certificates.Own(ctx, c, "test", certificates.WithoutData(stripped), "c", mine))
	got := &corev1.Secret{}
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(stripped), got))
	assert.False(t, certificates.LostOwner(got, "c", mine))
	assert.Equal(t, stripped.Data, got.Data, "the keys stay")
}
