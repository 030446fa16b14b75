package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/slipway-capi/slipway/internal/binaries"
	"github.com/slipway-capi/slipway/internal/plane"
)

func newBinaries(o *options) *cobra.Command {
	var version, set string
	var list bool
	cmd := &cobra.Command{
		Use:   "binaries [PROGRAM...]",
		Short: "Build Kubernetes and etcd from their Go modules into the cache",
		Long: "Builds what is missing of the programs that the management plane, the tests and node images run. It happens once: the\n" +
			"cache ($" + binaries.CacheVariable + ", else slipway in the user's cache folder) is keyed by version.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, err := findSources()
			if err != nil {
				return err
			}
			if list {
				return sources.print(o)
			}
			return sources.build(cmd.Context(), o, set, version, args)
		},
	}
	cmd.Flags().StringVar(&set, "set", binaries.Kubernetes, "set that the programs belong to: kubernetes or etcd")
	cmd.Flags().StringVar(&version, "version", "", "version or minor to build (default the newest under hack/)")
	cmd.Flags().BoolVar(&list, "list", false, "list the programs and where they are instead of building")
	return cmd
}

// sources are the sets that can be built and the cache that they are built into.
type sources struct {
	sets  []binaries.Set
	cache binaries.Cache
}

// findSources looks for the modules around the working folder and around this program.
func findSources() (*sources, error) {
	cache, err := binaries.DefaultCache()
	if err != nil {
		return nil, err
	}
	working, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	program, err := executable()
	if err != nil {
		return nil, err
	}
	root, err := binaries.FindRoot(working, filepath.Dir(program))
	if err != nil {
		return nil, err
	}
	sets, err := binaries.Discover(root)
	return &sources{sets: sets, cache: cache}, err
}

func (s *sources) build(ctx context.Context, o *options, set, version string, names []string) error {
	chosen, err := binaries.Pick(s.sets, set, version)
	if err != nil {
		return err
	}
	reporter := newBuildReporter(o.err)
	builder := binaries.Builder{Cache: s.cache, Report: reporter.report, Every: reporter.every()}
	return builder.Ensure(ctx, chosen, names...)
}

func (s *sources) print(o *options) error {
	w := tabwriter.NewWriter(o.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "PROGRAM\tVERSION\tBUILT\tPATH")
	for _, set := range s.sets {
		for _, p := range set.Programs {
			path := s.cache.Path(set, p.Name)
			built := "yes"
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
				built = "no"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, set.Version, built, path)
		}
	}
	return w.Flush()
}

// planePrograms builds what a plane needs and says where it is.
func planePrograms(ctx context.Context, o *options, version string) (map[string]string, error) {
	s, err := findSources()
	if err != nil {
		return nil, err
	}
	kubernetes, err := binaries.Pick(s.sets, binaries.Kubernetes, version)
	if err != nil {
		return nil, err
	}
	etcd, err := binaries.Pick(s.sets, binaries.Etcd, "")
	if err != nil {
		return nil, err
	}
	if err := s.build(ctx, o, binaries.Etcd, etcd.Version, nil); err != nil {
		return nil, err
	}
	if err := s.build(ctx, o, binaries.Kubernetes, kubernetes.Version, plane.KubernetesPrograms); err != nil {
		return nil, err
	}
	return plane.ProgramsFrom(s.cache, kubernetes, etcd), nil
}
