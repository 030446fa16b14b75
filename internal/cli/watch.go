package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-capi/slipway/internal/progress"
)

func newWatch(o *options) *cobra.Command {
	var namespace, output string
	var untilReady, verbose bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "watch CLUSTER",
		Short: "Show how a cluster and its objects change",
		Long: "Shows the objects of a cluster as a tree that follows every change on a terminal, and elsewhere a line per step.\n" +
			"Ends when the Cluster is deleted, and with --until-ready when it is ready: available, all Nodes there, and nothing rolling out, scaling\n" +
			"or out of date.",
		Args: o.oneCluster(&namespace),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, current, err := o.connect()
			if err != nil {
				return err
			}
			client, err := dynamic.NewForConfig(config)
			if err != nil {
				return err
			}
			cluster := types.NamespacedName{Namespace: cmp.Or(namespace, current), Name: args[0]}
			ctx, cancel := withTimeout(cmd.Context(), timeout)
			defer cancel()
			if err := mustExist(ctx, client, cluster); err != nil {
				return err
			}
			display := progress.NewDisplay(o.out, displayFormat(output, verbose))
			end, err := progress.Watch(ctx, client, cluster, display, untilReady)
			if err == nil && end != progress.Left && output != string(progress.JSON) {
				fmt.Fprintf(o.out, "Cluster %s %s after %s\n", cluster.Name, end, seconds(display.Elapsed()))
			}
			return err
		},
	}
	cmd.ValidArgsFunction = o.completeCluster(&namespace)
	o.addNamespace(cmd, &namespace)
	cmd.Flags().BoolVar(&untilReady, "until-ready", false, "end when the cluster is ready; ends with 1 if it is deleted or the time is up before")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this time; 0 means never")
	addVerbose(cmd, &verbose)
	addOutput(cmd, &output)
	return cmd
}

func addVerbose(cmd *cobra.Command, verbose *bool) {
	cmd.Flags().BoolVarP(verbose, "verbose", "v", false, "write a line for each condition that changes")
}

func displayFormat(output string, verbose bool) progress.Format {
	if verbose && output == string(progress.Text) {
		return progress.Verbose
	}
	return progress.Format(output)
}

func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}
