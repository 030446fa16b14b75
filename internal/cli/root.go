// Package cli is the slipway command: one file per command, each thin over the package that does the work.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/slipway-capi/slipway/internal/plane"
)

// Main runs the command with the arguments of the process and returns its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The clients inside would complain about a missing logger on standard error, in the middle of a painted tree.
	log.SetLogger(logr.Discard())
	if err := New(os.Stdout, os.Stderr).ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "Error: %v\n", err)
		return 1
	}
	return 0
}

// options are the flags that every command has, and where commands write.
type options struct {
	stateDir   string
	kubeconfig string
	out, err   io.Writer
}

// New makes the command tree.
func New(out, errOut io.Writer) *cobra.Command {
	o := &options{out: out, err: errOut}
	root := &cobra.Command{
		Use:           "slipway",
		Short:         "Slipway runs Kubernetes clusters declared as Cluster API objects",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       thisBuild().Version,
	}
	root.SetOut(out)
	root.SetErr(errOut)
	root.PersistentFlags().StringVar(&o.stateDir, "state-dir", "",
		"folder with everything that the management plane keeps (default $SLIPWAY_STATE_DIR, else slipway in the user's state folder)")
	root.PersistentFlags().StringVar(&o.kubeconfig, "kubeconfig", "",
		"management cluster to talk to (default $KUBECONFIG, else the management plane of --state-dir)")
	root.AddCommand(newUp(o), newDown(o), newStatus(o), newSupervise(o), newBinaries(o), newWatch(o), newGet(o), newQuickstart(o), newClass(o), newVersion(o))
	return root
}

func (o *options) folder() (plane.Folder, error) {
	if o.stateDir == "" {
		dir, err := plane.DefaultStateDir()
		return plane.Folder(dir), err
	}
	dir, err := filepath.Abs(o.stateDir)
	return plane.Folder(dir), err
}

// executable is this program's file, which the supervisor is started from and beside which the managers lie.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the slipway program: %w", err)
	}
	return filepath.EvalSymlinks(path)
}
