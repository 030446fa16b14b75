package kubeconfig_test

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestGenerate(t *testing.T) {
	ca, err := certificates.NewCA(certificates.ECDSAP256, 0, now)
	require.NoError(t, err)
	content, err := kubeconfig.Generate("c", clusterv1.APIEndpoint{Host: "fd00::1", Port: 6443}, ca, certificates.ECDSAP256, now)
	require.NoError(t, err)

	config, err := clientcmd.Load(content)
	require.NoError(t, err)
	assert.Equal(t, "c-admin@c", config.CurrentContext)
	assert.Equal(t, "c", config.Contexts["c-admin@c"].Cluster)
	assert.Equal(t, "c-admin", config.Contexts["c-admin@c"].AuthInfo)
	assert.Equal(t, "https://[fd00::1]:6443", config.Clusters["c"].Server)
	assert.Equal(t, ca.Cert, config.Clusters["c"].CertificateAuthorityData)

	parent, err := ca.Certificate()
	require.NoError(t, err)
	list, err := certificates.ParseCertificates(config.AuthInfos["c-admin"].ClientCertificateData)
	require.NoError(t, err)
	leaf := list[0]
	assert.Equal(t, "kubernetes-admin", leaf.Subject.CommonName)
	assert.Equal(t, []string{"system:masters"}, leaf.Subject.Organization)
	assert.Equal(t, parent.NotBefore, leaf.NotBefore)
	assert.Equal(t, now.Add(kubeconfig.Validity), leaf.NotAfter)
	assert.Equal(t, x509.ECDSA, leaf.PublicKeyAlgorithm)
	require.NoError(t, leaf.CheckSignatureFrom(parent))

	state, err := kubeconfig.Inspect(content)
	require.NoError(t, err)
	assert.Equal(t, kubeconfig.State{Expires: leaf.NotAfter, Server: "https://[fd00::1]:6443"}, state)
}

func TestGenerateNeedsTheKeyOfTheCA(t *testing.T) {
	ca, err := certificates.NewCA(certificates.ECDSAP256, 0, now)
	require.NoError(t, err)
	ca.Key = nil
	_, err = kubeconfig.Generate("c", clusterv1.APIEndpoint{Host: "h", Port: 6443}, ca, "", now)
	require.ErrorContains(t, err, "private key is missing")
}

func TestSecret(t *testing.T) {
	owner := metav1.OwnerReference{APIVersion: "x/v1", Kind: "Owner", Name: "o", UID: "1"}
	secret := kubeconfig.ToSecret(client.ObjectKey{Namespace: "ns", Name: "c"}, []byte("content"), owner)
	assert.Equal(t, "ns/c-kubeconfig", secret.Namespace+"/"+secret.Name)
	assert.Equal(t, clusterv1.ClusterSecretType, string(secret.Type))
	assert.Equal(t, map[string]string{clusterv1.ClusterNameLabel: "c"}, secret.Labels)
	assert.Equal(t, map[string][]byte{"value": []byte("content")}, secret.Data)
	assert.Equal(t, []metav1.OwnerReference{owner}, secret.OwnerReferences)
}

func TestInspectOddContent(t *testing.T) {
	_, err := kubeconfig.Inspect([]byte("{"))
	require.Error(t, err)
	state, err := kubeconfig.Inspect([]byte("apiVersion: v1\nkind: Config\ncurrent-context: gone\n"))
	require.NoError(t, err)
	assert.Zero(t, state)
	_, err = kubeconfig.Inspect([]byte("apiVersion: v1\nkind: Config\nusers: [{name: u, user: {client-certificate-data: bm9uZQ==}}]\n"))
	require.Error(t, err)
}
