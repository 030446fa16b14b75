// Package kubeconfig makes and keeps the administrator's kubeconfig of a workload cluster.
package kubeconfig

import (
	"crypto/x509"
	"fmt"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
)

const (
	// SecretDataKey is the key of the kubeconfig in its Secret.
	SecretDataKey = "value"
	// Validity is how long the client certificate lives; it is renewed with half of it left.
	Validity = 365 * 24 * time.Hour
)

// SecretKey names the Secret with a cluster's kubeconfig.
func SecretKey(cluster client.ObjectKey) client.ObjectKey {
	return client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name + "-kubeconfig"}
}

// Generate makes a kubeconfig for the endpoint with a new client certificate of the group system:masters.
func Generate(cluster string, endpoint clusterv1.APIEndpoint, ca certificates.KeyPair, algorithm certificates.Algorithm, now time.Time) ([]byte, error) {
	key, err := certificates.NewKey(algorithm)
	if err != nil {
		return nil, err
	}
	leaf, err := ca.Sign(certificates.Request{CommonName: "kubernetes-admin", Organizations: []string{"system:masters"},
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, Validity: Validity}, key, now)
	if err != nil {
		return nil, err
	}
	user := cluster + "-admin"
	context := user + "@" + cluster
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{cluster: {Server: Server(endpoint), CertificateAuthorityData: ca.Cert}},
		Contexts:       map[string]*clientcmdapi.Context{context: {Cluster: cluster, AuthInfo: user}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{user: {ClientCertificateData: leaf.Cert, ClientKeyData: leaf.Key}},
		CurrentContext: context,
	}
	out, err := clientcmd.Write(config)
	if err != nil {
		return nil, fmt.Errorf("writing kubeconfig: %w", err)
	}
	return out, nil
}

// Server is the URL of an endpoint.
func Server(endpoint clusterv1.APIEndpoint) string {
	return "https://" + net.JoinHostPort(endpoint.Host, strconv.Itoa(int(endpoint.Port)))
}

// ToSecret is the Secret that keeps a kubeconfig.
func ToSecret(cluster client.ObjectKey, content []byte, owner metav1.OwnerReference) *corev1.Secret {
	key := SecretKey(cluster)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name}},
		Type: clusterv1.ClusterSecretType,
		Data: map[string][]byte{SecretDataKey: content},
	}
}

// State is what a kubeconfig holds that decides about its renewal.
type State struct {
	// Expires is when the first of its client certificates ends; zero if it has none.
	Expires time.Time
	// Server is the URL of the current cluster entry.
	Server string
}

// Inspect reads the state of a kubeconfig.
func Inspect(content []byte) (State, error) {
	config, err := clientcmd.Load(content)
	if err != nil {
		return State{}, fmt.Errorf("parsing kubeconfig: %w", err)
	}
	var s State
	if c := config.Contexts[config.CurrentContext]; c != nil && config.Clusters[c.Cluster] != nil {
		s.Server = config.Clusters[c.Cluster].Server
	}
	for _, user := range config.AuthInfos {
		if len(user.ClientCertificateData) == 0 {
			continue
		}
		list, err := certificates.ParseCertificates(user.ClientCertificateData)
		if err != nil {
			return State{}, fmt.Errorf("reading client certificate: %w", err)
		}
		if s.Expires.IsZero() || list[0].NotAfter.Before(s.Expires) {
			s.Expires = list[0].NotAfter
		}
	}
	return s, nil
}
