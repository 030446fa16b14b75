package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// These are set when a release is linked (see the Makefile); else what Go has recorded counts.
var version, commit string

// build says what this program was built from.
type build struct {
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

func thisBuild() build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info, version, commit)
}

// buildOf prefers what was set at link time.
func buildOf(info *debug.BuildInfo, version, commit string) build {
	b := build{Version: version, Commit: commit, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info != nil && b.Version == "" {
		b.Version = info.Main.Version
	}
	modified := ""
	for _, s := range settings(info) {
		switch {
		case s.Key == "vcs.revision" && commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true" && commit == "":
			modified = "-dirty"
		}
	}
	if b.Commit != "" {
		b.Commit += modified
	}
	if b.Version == "" {
		b.Version = "unknown"
	}
	return b
}

func settings(info *debug.BuildInfo) []debug.BuildSetting {
	if info == nil {
		return nil
	}
	return info.Settings
}

func newVersion(o *options) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Tell what this program was built from",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			switch output {
			case "json":
				encoder := json.NewEncoder(o.out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(b)
			case "yaml":
				content, err := yaml.Marshal(b)
				if err != nil {
					return err
				}
				_, err = o.out.Write(content)
				return err
			}
			fmt.Fprintf(o.out, "slipway %s", b.Version)
			if b.Commit != "" {
				fmt.Fprintf(o.out, ", commit %s", b.Commit)
			}
			fmt.Fprintf(o.out, ", %s, %s\n", b.GoVersion, b.Platform)
			return nil
		},
	}
	addFormats(cmd, &output, "text", "json", "yaml")
	return cmd
}
