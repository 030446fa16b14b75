package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-capi/slipway/internal/progress"
	"github.com/slipway-capi/slipway/internal/quickstart"
)

func newQuickstart(o *options) *cobra.Command {
	var files, addons []string
	var output string
	var timeout time.Duration
	var overwrite, verbose bool
	cmd := &cobra.Command{
		Use:   "quickstart",
		Short: "Apply a cluster's manifests and wait until its Nodes are ready",
		Long: "Applies the manifests of one cluster to the management cluster and shows its progress until all its Nodes are ready. Add-ons,\n" +
			"as a pod network, are applied to the new cluster as soon as it answers. Doing it again leaves\n" +
			"what others have changed in the meantime as it is, and says so. Manifests that do not fit what is there are refused as a whole.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, namespace, err := o.connect()
			if err != nil {
				return err
			}
			ctx, cancel := withTimeout(cmd.Context(), timeout)
			defer cancel()
			display := progress.NewDisplay(o.out, displayFormat(output, verbose))
			cluster, tree, err := quickstart.Run(ctx, quickstart.Options{
				Config: config, Namespace: namespace, Manifests: files, Addons: addons, Display: display, Overwrite: overwrite,
				Kept: func(k quickstart.Kept) { fmt.Fprintf(o.err, "Left as it is: %s; --overwrite takes it back\n", k) },
			})
			if err != nil {
				return err
			}
			if err := display.Finish(tree); err != nil || output == string(progress.JSON) {
				return err
			}
			fmt.Fprintf(o.out, "Cluster %s is ready after %s\n", cluster.Name, seconds(display.Elapsed()))
			return nil
		},
	}
	cmd.Flags().StringSliceVarP(&files, "filename", "f", nil, "manifests of the cluster")
	cmd.Flags().StringSliceVar(&addons, "addon", nil, "manifests to apply to the new cluster")
	cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "give up after this time; 0 means never")
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "take back what others have changed since the manifests were applied before")
	addVerbose(cmd, &verbose)
	addOutput(cmd, &output)
	_ = cmd.MarkFlagRequired("filename")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml")
	_ = cmd.MarkFlagFilename("addon", "yaml", "yml")
	return cmd
}
