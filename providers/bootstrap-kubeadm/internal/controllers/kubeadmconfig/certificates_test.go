package kubeadmconfig

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// generated runs what is decided for the first machine of a cluster without certificates, and returns their Secrets.
func generated(t *testing.T, c client.Client, w World) map[certificates.Purpose]*corev1.Secret {
	t.Helper()
	_, err := (&Controller{Client: c, Live: c, Secrets: c, TokenTTL: ttl}).act(t.Context(), w, Decide(w))
	require.NoError(t, err)
	out := map[certificates.Purpose]*corev1.Secret{}
	for _, e := range w.Certificates.Set {
		secret := &corev1.Secret{}
		require.NoError(t, c.Get(t.Context(), certificates.SecretKey(client.ObjectKeyFromObject(w.Cluster), e.Purpose), secret))
		out[e.Purpose] = secret
	}
	return out
}

func firstOfAll(edits ...edit) World {
	return world(append([]edit{notInitialized, controlPlaneMachine, standAlone, missing("ca", "etcd", "proxy", "sa")}, edits...)...)
}

// Conformance: KB-40, KB-42
func TestGeneratedCertificates(t *testing.T) {
	for _, row := range []struct {
		name      string
		algorithm string
		days      int32
		form      string
		lifetime  time.Duration
	}{
		{"as it comes", "", 0, "RSA PRIVATE KEY", 3650 * 24 * time.Hour},
		{"elliptic, for a month", bootstrapv1.EncryptionAlgorithmECDSAP384, 30, "EC PRIVATE KEY", 30 * 24 * time.Hour},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := firstOfAll(spec(func(s *bootstrapv1.KubeadmConfigSpec) {
				s.ClusterConfiguration.EncryptionAlgorithm, s.ClusterConfiguration.CACertificateValidityPeriodDays = row.algorithm, row.days
			}))
			secrets := generated(t, fakeClient(t, w.Config, w.Machine, w.Cluster), w)
			for purpose, secret := range secrets {
				assert.Equal(t, corev1.SecretType(clusterv1.ClusterSecretType), secret.Type)
				assert.Equal(t, "c", secret.Labels[clusterv1.ClusterNameLabel])
				assert.True(t, metav1.IsControlledBy(secret, w.Config), "%s", purpose)
				key, _ := pem.Decode(secret.Data["tls.key"])
				require.NotNil(t, key)
				assert.Equal(t, row.form, key.Type)
			}
			ca, err := certificates.KeyPair{Cert: secrets["etcd"].Data["tls.crt"]}.Certificate()
			require.NoError(t, err)
			assert.Equal(t, []any{"kubernetes", int64(0), 0, true, true}, []any{ca.Subject.CommonName, ca.SerialNumber.Int64(), ca.MaxPathLen, ca.MaxPathLenZero, ca.IsCA})
			assert.Equal(t, []time.Time{now.Add(-5 * time.Minute), now.Add(row.lifetime)}, []time.Time{ca.NotBefore, ca.NotAfter})
			assert.Equal(t, x509.KeyUsageKeyEncipherment|x509.KeyUsageDigitalSignature|x509.KeyUsageCertSign, ca.KeyUsage)
			public, _ := pem.Decode(secrets["sa"].Data["tls.crt"])
			require.NotNil(t, public)
			_, err = x509.ParsePKIXPublicKey(public.Bytes)
			require.NoError(t, err, "the certificate of the service accounts is a public key")
		})
	}
}

// Conformance: KB-40
func TestKeysOfAllFormsAreRead(t *testing.T) {
	signer, err := authority.Signer()
	require.NoError(t, err)
	packed, err := x509.MarshalPKCS8PrivateKey(signer)
	require.NoError(t, err)
	pair := certificates.KeyPair{Cert: authority.Cert, Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: packed})}
	got, err := pair.Signer()
	require.NoError(t, err)
	assert.Equal(t, signer.Public(), got.Public())
}

// Conformance: KB-45
func TestCertificatesOfUsersAreLeftAlone(t *testing.T) {
	w := firstOfAll()
	mine := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c-ca"}, Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": authority.Cert}}
	secrets := generated(t, fakeClient(t, w.Config, w.Machine, w.Cluster, mine), w)
	assert.Equal(t, mine.Data, secrets["ca"].Data, "not even its missing key is added")
	assert.Equal(t, mine.Type, secrets["ca"].Type)
	assert.Empty(t, secrets["ca"].OwnerReferences)
	assert.NotEmpty(t, secrets["sa"].Data["tls.key"])
}

// Conformance: KB-41
func TestCertificatesAreWrittenWhereKubeadmLooks(t *testing.T) {
	written := func(w World, edits ...func([]certificates.Entry)) map[string]string {
		for _, e := range edits {
			e(w.Certificates.Set)
		}
		out := map[string]string{}
		for _, f := range files(w.Certificates.Set) {
			assert.Equal(t, "root:root", f.Owner)
			out[f.Path] = f.Permissions
		}
		return out
	}
	const pki = "/etc/kubernetes/pki/"
	assert.Equal(t, map[string]string{
		pki + "ca.crt": "0640", pki + "ca.key": "0600", pki + "etcd/ca.crt": "0640", pki + "etcd/ca.key": "0600",
		pki + "front-proxy-ca.crt": "0640", pki + "front-proxy-ca.key": "0600", pki + "sa.pub": "0640", pki + "sa.key": "0600",
	}, written(world(controlPlaneMachine)))

	external := spec(func(s *bootstrapv1.KubeadmConfigSpec) {
		s.ClusterConfiguration.CertificatesDir = "/pki"
		s.ClusterConfiguration.Etcd.External = bootstrapv1.ExternalEtcd{Endpoints: []string{"https://e:2379"}, CAFile: "/e/ca", CertFile: "/e/crt", KeyFile: "/e/key"}
	})
	noKey := func(set []certificates.Entry) { set[0].Pair = &certificates.KeyPair{Cert: authority.Cert} }
	assert.Equal(t, map[string]string{
		"/pki/ca.crt": "0640", "/e/ca": "0640", "/pki/front-proxy-ca.crt": "0640", "/pki/front-proxy-ca.key": "0600",
		"/pki/sa.pub": "0640", "/pki/sa.key": "0600", "/e/crt": "0640", "/e/key": "0600",
	}, written(world(controlPlaneMachine, external), noKey), "a half that is missing is not written, and of an authority that is not ours only the certificate")
}

// Conformance: KB-43, KB-47
func TestCertificatesAreLookedForTwice(t *testing.T) {
	w := world()
	w.Cluster.Name, w.Machine.Spec.ClusterName = "c", "c"
	w.Config.OwnerReferences = []metav1.OwnerReference{owner(clusterv1.GroupVersion.String(), "Machine", "m")}
	look := func(data map[string][]byte) World {
		live := fakeClient(t, w.Machine, w.Cluster, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c-ca"}, Data: data})
		c := &Controller{Client: live, Live: live, Secrets: fakeClient(t), ClusterCache: noConnection{}, TokenTTL: ttl}
		got, err := c.observe(t.Context(), w.Config.DeepCopy())
		require.NoError(t, err)
		return got
	}
	got := look(map[string][]byte{"tls.crt": authority.Cert})
	require.NoError(t, got.Certificates.Err)
	assert.Empty(t, got.Certificates.Missing, "a Secret without label is not in the cache")
	assert.Equal(t, &certificates.KeyPair{Cert: authority.Cert}, certificates.Find(got.Certificates.Set, certificates.ClusterCA), "without a key of its own")

	got = look(map[string][]byte{"tls.key": authority.Key})
	require.ErrorContains(t, got.Certificates.Err, "has no key tls.crt")
	d := Decide(got)
	require.Error(t, d.Err)
	assert.NotContains(t, names(d.Actions), "StoreData")
}

// noConnection knows no workload cluster.
type noConnection struct{ clustercache.Cache }

// UncachedClient fails.
func (noConnection) UncachedClient(context.Context, client.ObjectKey) (client.Client, error) {
	return nil, clustercache.ErrNotConnected
}

// Conformance: KB-43
func TestCertificatesOfAnExternalEtcdAreAwaited(t *testing.T) {
	external := spec(func(s *bootstrapv1.KubeadmConfigSpec) {
		s.ClusterConfiguration.Etcd.External.Endpoints = []string{"https://e:2379"}
		s.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmECDSAP256
	})
	w := firstOfAll(external, missing("ca", "etcd", "apiserver-etcd-client"))
	c := fakeClient(t, w.Config, w.Machine, w.Cluster)
	_, err := (&Controller{Client: c, Live: c, Secrets: c, TokenTTL: ttl}).act(t.Context(), w, Decide(w))
	require.NoError(t, err)
	exists := func(name string) bool {
		return c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, &corev1.Secret{}) == nil
	}
	assert.Equal(t, []bool{true, false, false}, []bool{exists("c-ca"), exists("c-etcd"), exists("c-apiserver-etcd-client")}, "nobody can make those of an etcd that is not ours")

	d := Decide(firstOfAll(external, missing("etcd", "apiserver-etcd-client")))
	require.NoError(t, d.Err)
	assert.Empty(t, d.Actions)
	assert.Equal(t, "Waiting for the certificates apiserver-etcd-client, etcd", conditions.Message(d.Config, bootstrapv1.KubeadmConfigCertificatesAvailableCondition))
	assert.Equal(t, certificateRetry, d.After)
}
