package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-capi/slipway/internal/quickstart"
)

func newGet(o *options) *cobra.Command {
	get := group("get", "Print things of a cluster")
	var namespace, file string
	cmd := &cobra.Command{
		Use:   "kubeconfig CLUSTER",
		Short: "Print the administrator's kubeconfig of a workload cluster",
		Example: "  slipway get kubeconfig my-cluster --write-to my-cluster.kubeconfig\n" +
			"  kubectl --kubeconfig my-cluster.kubeconfig get nodes",
		Args: o.oneCluster(&namespace),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, current, err := o.connect()
			if err != nil {
				return err
			}
			client, err := quickstart.NewClient(config)
			if err != nil {
				return err
			}
			cluster := types.NamespacedName{Namespace: cmp.Or(namespace, current), Name: args[0]}
			content, err := quickstart.Kubeconfig(cmd.Context(), client, cluster)
			if apierrors.IsNotFound(err) {
				known, err := dynamic.NewForConfig(config)
				if err != nil {
					return err
				}
				if err := mustExist(cmd.Context(), known, cluster); err != nil {
					return err
				}
				return fmt.Errorf("cluster %s has no kubeconfig yet; it comes with its control plane (`slipway watch %s -n %s`)", cluster, cluster.Name, cluster.Namespace)
			}
			if err != nil {
				return err
			}
			if file != "" {
				return writePrivate(file, content)
			}
			_, err = fmt.Fprint(o.out, string(content))
			return err
		},
	}
	cmd.ValidArgsFunction = o.completeCluster(&namespace)
	o.addNamespace(cmd, &namespace)
	cmd.Flags().StringVar(&file, "write-to", "", "file to write, which only its owner may read, instead of standard output")
	get.AddCommand(cmd)
	return get
}

// writePrivate replaces a file by one that only its owner may read, whoever could read the one before.
func writePrivate(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = file.Write(content)
	if err := cmp.Or(err, file.Close()); err != nil {
		_ = os.Remove(file.Name())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.Rename(file.Name(), path)
}
