package clustercache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	kubeconfigSuffix = "-kubeconfig"
	kubeconfigKey    = "value"
)

// errRefused marks a kubeconfig that would make the manager run a program or a login flow of somebody else's choice.
var errRefused = errors.New("kubeconfig refused")

// restConfig parses a kubeconfig. Plug-ins are refused: whoever may write the Secret could otherwise run commands in
// the manager's container.
func (o Options) restConfig(kubeconfig []byte) (*rest.Config, error) {
	raw, err := clientcmd.Load(kubeconfig)
	if err != nil {
		// The text of a parse error may quote the kubeconfig, which is a secret.
		return nil, errors.New("the kubeconfig is no valid kubeconfig document")
	}
	if err := refusePlugins(raw); err != nil {
		return nil, err
	}
	config, err := clientcmd.NewDefaultClientConfig(*raw, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("using the kubeconfig: %w", err)
	}
	config.QPS, config.Burst, config.UserAgent = o.QPS, o.Burst, o.UserAgent
	return config, nil
}

func refusePlugins(config *clientcmdapi.Config) error {
	for name, user := range config.AuthInfos {
		switch {
		case user.Exec != nil:
			return fmt.Errorf("%w: user %q has an exec plug-in; use a client certificate or a token", errRefused, name)
		case user.AuthProvider != nil:
			return fmt.Errorf("%w: user %q has an auth provider; use a client certificate or a token", errRefused, name)
		case user.TokenFile != "" || user.ClientCertificate != "" || user.ClientKey != "":
			return fmt.Errorf("%w: user %q names files; put their content into the kubeconfig", errRefused, name)
		}
	}
	for name, cluster := range config.Clusters {
		if cluster.CertificateAuthority != "" {
			return fmt.Errorf("%w: cluster %q names a file; put its content into the kubeconfig", errRefused, name)
		}
	}
	return nil
}

// fingerprint tells two kubeconfigs apart without keeping either.
func fingerprint(kubeconfig []byte) string {
	sum := sha256.Sum256(kubeconfig)
	return hex.EncodeToString(sum[:])
}

// sameServer says whether both lead to the same API server with the same trust, so that only credentials differ.
func sameServer(a, b *rest.Config) bool {
	return a.Host == b.Host && a.ServerName == b.ServerName && a.Insecure == b.Insecure &&
		string(a.CAData) == string(b.CAData)
}
