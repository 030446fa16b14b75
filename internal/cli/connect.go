package cli

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-capi/slipway/internal/plane"
	"github.com/slipway-capi/slipway/internal/terminal"
)

// connect reaches the management cluster: the one of --kubeconfig, else of $KUBECONFIG, else the plane of the state folder.
// It also returns the namespace of the kubeconfig's context.
func (o *options) connect() (*rest.Config, string, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.kubeconfig}
	if o.kubeconfig == "" {
		rules.Precedence = clientcmd.NewDefaultClientConfigLoadingRules().Precedence
		if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
			folder, err := o.running()
			if err != nil {
				return nil, "", err
			}
			rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: folder.Kubeconfig()}
		}
	}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("finding the management cluster: %w", err)
	}
	namespace, _, err := loader.Namespace()
	config.QPS = -1
	// Clients log warnings otherwise, and the log is thrown away.
	config.WarningHandler = rest.NewWarningWriter(o.err, rest.WarningWriterOptions{Deduplicate: true, Color: terminal.Colours(o.err)})
	return config, namespace, err
}

// running is the folder of the plane, which must run.
func (o *options) running() (plane.Folder, error) {
	folder, err := o.folder()
	if err != nil {
		return folder, err
	}
	status, err := plane.Read(folder)
	if err == nil && status.Phase != plane.Ready {
		err = errors.New("no management plane runs (`slipway up`), and neither --kubeconfig nor $KUBECONFIG names a management cluster")
	}
	return folder, err
}
