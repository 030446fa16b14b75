package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-capi/slipway/internal/clustertree"
	"github.com/slipway-capi/slipway/internal/progress"
	"github.com/slipway-capi/slipway/internal/quickstart"
)

func newWatch(o *options) *cobra.Command {
	var namespace, output string
	var untilReady bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "watch CLUSTER",
		Short: "Show how a cluster and its objects change",
		Long:  "Shows the objects of a cluster as a tree that follows every change on a terminal, and elsewhere a line per changed condition.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, current, err := o.connect()
			if err != nil {
				return err
			}
			client, err := dynamic.NewForConfig(config)
			if err != nil {
				return err
			}
			if namespace == "" {
				namespace = current
			}
			ctx, cancel := withTimeout(cmd.Context(), timeout)
			defer cancel()
			display := progress.NewDisplay(o.out, progress.Format(output))
			err = progress.Follow(ctx, client, types.NamespacedName{Namespace: namespace, Name: args[0]}, func(tree *clustertree.Node) (bool, error) {
				if err := display.Show(tree); err != nil {
					return false, err
				}
				return !untilReady || !progress.Of(tree).Done(), nil
			})
			if errors.Is(err, context.Canceled) {
				return nil // Ctrl-C is how watching ends
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "namespace of the cluster (default the one of the kubeconfig)")
	cmd.Flags().BoolVar(&untilReady, "until-ready", false, "end when the cluster is available and all its Nodes are ready")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this time; 0 means never")
	addOutput(cmd, &output)
	return cmd
}

func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

func newGet(o *options) *cobra.Command {
	get := &cobra.Command{Use: "get", Short: "Print things of a cluster"}
	var namespace string
	cmd := &cobra.Command{
		Use:   "kubeconfig CLUSTER",
		Short: "Print the administrator's kubeconfig of a workload cluster",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, current, err := o.connect()
			if err != nil {
				return err
			}
			client, err := quickstart.NewClient(config)
			if err != nil {
				return err
			}
			if namespace == "" {
				namespace = current
			}
			content, err := quickstart.Kubeconfig(cmd.Context(), client, types.NamespacedName{Namespace: namespace, Name: args[0]})
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(o.out, string(content))
			return err
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "namespace of the cluster (default the one of the kubeconfig)")
	get.AddCommand(cmd)
	return get
}
