package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-capi/slipway/internal/plane"
)

// upFlags say what plane to start.
type upFlags struct {
	version      string
	without      []string
	featureGates string
	verbosity    int
	managerDir   string
	apiPort      int
	foreground   bool
}

func (f *upFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.version, "kubernetes-version", "", "version or minor of the API server (default the newest under hack/kubernetes)")
	cmd.Flags().StringSliceVar(&f.without, "without", nil, "managers to leave out, for example to run one of them in a debugger")
	cmd.Flags().StringVar(&f.featureGates, "feature-gates", "ClusterTopology=true,RuntimeSDK=true,InPlaceUpdates=true", "features of the managers to switch, as Feature=true,Other=false")
	cmd.Flags().IntVar(&f.verbosity, "manager-verbosity", 2, "verbosity of the managers' logs")
	cmd.Flags().IntVar(&f.apiPort, "api-port", 0, "port of the API server on 127.0.0.1; 0 takes one that is free and keeps it")
	cmd.Flags().StringVar(&f.managerDir, "manager-dir", "", "folder with the managers' programs (default the one of slipway)")
}

func newUp(o *options) *cobra.Command {
	var flags upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a management plane on this machine",
		Long: "Starts etcd, an API server, the controllers of Kubernetes that are needed, and the managers, and returns when all are\n" +
			"ready. They run on until `slipway down`. Starting a plane that runs already changes nothing, unless its programs have been\n" +
			"rebuilt: then it is started again with its data.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.foreground {
				return o.upInForeground(cmd.Context(), flags)
			}
			status, err := o.up(cmd.Context(), flags)
			if err != nil {
				return err
			}
			fmt.Fprintf(o.out, "export KUBECONFIG=%s\n", status.Kubeconfig)
			return nil
		},
	}
	flags.addTo(cmd)
	cmd.Flags().BoolVar(&flags.foreground, "foreground", false, "stay in the foreground and stop the plane with Ctrl-C")
	return cmd
}

// config is all that can be said without building anything.
func (f upFlags) config() (plane.Config, error) {
	config := plane.Config{
		Without: f.without, FeatureGates: f.featureGates, Verbosity: f.verbosity, ManagerDir: f.managerDir, APIPort: f.apiPort,
	}
	if f.apiPort < 0 || f.apiPort > 65535 {
		return config, fmt.Errorf("--api-port must be a port from 1 to 65535, or 0, not %d", f.apiPort)
	}
	program, err := executable()
	if err != nil {
		return config, err
	}
	if config.ManagerDir == "" {
		config.ManagerDir = filepath.Dir(program)
	}
	if config.ManagerDir, err = filepath.Abs(config.ManagerDir); err != nil {
		return config, err
	}
	return config, config.Validate()
}

// up starts the plane in the background and shows the steps.
func (o *options) up(ctx context.Context, flags upFlags) (plane.Status, error) {
	folder, config, err := o.prepareUp(ctx, flags)
	if err != nil {
		return plane.Status{}, err
	}
	program, err := executable()
	if err != nil {
		return plane.Status{}, err
	}
	before, err := plane.Read(folder)
	if err != nil {
		return before, err
	}
	if old := before.Outdated(); len(old) > 0 {
		fmt.Fprintf(o.err, "Starting the management plane again, since these have been rebuilt: %s\n", strings.Join(old, ", "))
		if _, err := plane.Down(ctx, folder); err != nil {
			return before, err
		}
		before = plane.Status{}
	}
	command := []string{program, "supervise", "--state-dir", string(folder)}
	tell := o.tellStep
	if before.Phase == plane.Ready {
		tell = func(plane.Step) {}
	}
	status, err := plane.Up(ctx, folder, config, command, tell)
	if err != nil {
		return status, err
	}
	if before.Phase == plane.Ready {
		fmt.Fprintf(o.err, "The management plane runs already at %s\n", status.Server)
	} else {
		for _, note := range status.Notes {
			fmt.Fprintf(o.err, "Note: %s\n", note)
		}
		fmt.Fprintf(o.err, "The management plane is ready at %s after %s\n", status.Server, seconds(status.StartTook))
	}
	return status, nil
}

// prepareUp judges all that was asked for before it builds what is missing, which may take long.
func (o *options) prepareUp(ctx context.Context, flags upFlags) (plane.Folder, plane.Config, error) {
	folder, err := o.folder()
	if err != nil {
		return "", plane.Config{}, err
	}
	if err := folder.Check(); err != nil {
		return folder, plane.Config{}, fmt.Errorf("%w; choose another with --state-dir or $%s", err, plane.StateVariable)
	}
	config, err := flags.config()
	if err != nil {
		return folder, config, err
	}
	config.Programs, err = planePrograms(ctx, o, flags.version)
	return folder, config, err
}

func (o *options) upInForeground(ctx context.Context, flags upFlags) error {
	folder, config, err := o.prepareUp(ctx, flags)
	if err != nil {
		return err
	}
	status, err := plane.Read(folder)
	if err != nil {
		return err
	}
	if status.Supervisor != 0 {
		return fmt.Errorf("a plane runs already in %s, by process %d", folder, status.Supervisor)
	}
	if err := plane.Configure(folder, config); err != nil {
		return err
	}
	told, ready := 0, false
	return plane.Supervise(ctx, folder, func(s plane.Status) {
		for ; told < len(s.Steps) && s.Steps[told].Done; told++ {
			o.tellStep(s.Steps[told])
		}
		if s.Phase == plane.Ready && !ready {
			ready = true
			fmt.Fprintf(o.out, "export KUBECONFIG=%s\n", s.Kubeconfig)
		}
	})
}

func (o *options) tellStep(step plane.Step) {
	if !step.Done {
		fmt.Fprintf(o.err, "  %-28s not ready after %s\n", step.Name, seconds(step.Took))
		return
	}
	fmt.Fprintf(o.err, "  %-28s ready after %s\n", step.Name, seconds(step.Took))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// newSupervise is the process that `slipway up` leaves behind.
func newSupervise(o *options) *cobra.Command {
	return &cobra.Command{
		Use:    "supervise",
		Short:  "Run the plane that `slipway up` has configured",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := o.folder()
			if err != nil {
				return err
			}
			return plane.Supervise(cmd.Context(), folder, nil)
		},
	}
}

func newDown(o *options) *cobra.Command {
	var deleteState bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop the management plane",
		Long:  "Stops every process of the management plane. Its data is kept for the next `slipway up` unless --delete-state is given.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := o.folder()
			if err != nil {
				return err
			}
			return o.down(cmd.Context(), folder, deleteState)
		},
	}
	cmd.Flags().BoolVar(&deleteState, "delete-state", false, "delete the state folder with all objects of the management cluster")
	return cmd
}

func (o *options) down(ctx context.Context, folder plane.Folder, deleteState bool) error {
	found, err := plane.Down(ctx, folder)
	if err != nil {
		return err
	}
	said := []string{"No management plane runs"}
	if found {
		said = []string{"The management plane is stopped"}
	}
	if !deleteState {
		fmt.Fprintln(o.err, said[0])
		return nil
	}
	there, left, err := plane.Delete(folder)
	if err != nil {
		return fmt.Errorf("nothing was deleted: %w", err)
	}
	if there {
		said = append(said, fmt.Sprintf("its state in %s is deleted", folder))
	} else {
		said = append(said, fmt.Sprintf("there is no state in %s", folder))
	}
	fmt.Fprintln(o.err, strings.Join(said, ", "))
	if len(left) > 0 {
		fmt.Fprintf(o.err, "Files that are not the plane's stay in it: %s\n", strings.Join(left, ", "))
	}
	return nil
}
