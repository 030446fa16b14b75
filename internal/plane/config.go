package plane

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-capi/slipway/internal/binaries"
)

// StateVariable is the environment variable that moves the state folder.
const StateVariable = "SLIPWAY_STATE_DIR"

// Config says what a plane runs. It is stored in the state folder for the supervisor to read.
type Config struct {
	// Programs are the paths of etcd, kube-apiserver and kube-controller-manager.
	Programs map[string]string `json:"programs"`
	// ManagerDir holds the managers' binaries.
	ManagerDir string `json:"managerDir"`
	// Without names the managers that do not run.
	Without []string `json:"without,omitempty"`
	// FeatureGates and Verbosity are handed to every manager.
	FeatureGates string `json:"featureGates,omitempty"`
	Verbosity    int    `json:"verbosity"`
	// APIPort is the port of the API server; 0 takes any that is free, and keeps it as long as it is.
	APIPort int `json:"apiPort,omitempty"`
}

// DefaultStateDir is $SLIPWAY_STATE_DIR, else slipway in the folder that XDG names for state.
func DefaultStateDir() (string, error) {
	if dir := os.Getenv(StateVariable); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "slipway"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for state (set %s instead): %w", StateVariable, err)
	}
	return filepath.Join(home, ".local", "state", "slipway"), nil
}

// KubernetesPrograms are those of the kubernetes set that a plane runs.
var KubernetesPrograms = []string{"kube-apiserver", "kube-controller-manager"}

// ProgramsFrom finds a plane's programs in a cache.
func ProgramsFrom(cache binaries.Cache, kubernetes, etcd binaries.Set) map[string]string {
	programs := map[string]string{"etcd": cache.Path(etcd, "etcd")}
	for _, name := range KubernetesPrograms {
		programs[name] = cache.Path(kubernetes, name)
	}
	return programs
}

// Validate says what in the configuration cannot be run.
func (c Config) Validate() error {
	var errs []error
	for _, name := range c.Without {
		if !slices.ContainsFunc(Components(), func(k Component) bool { return k.Name == name }) {
			errs = append(errs, fmt.Errorf("there is no manager %q; there are %s", name, strings.Join(componentNames(), ", ")))
		}
	}
	for _, k := range c.components() {
		if _, err := os.Stat(k.binary(c.ManagerDir)); err != nil {
			errs = append(errs, fmt.Errorf("manager %s: %w (run `make build`, or leave it out with --without %s)", k.Name, err, k.Name))
		}
	}
	return errors.Join(errs...)
}

// components are the managers that run.
func (c Config) components() []Component {
	return slices.DeleteFunc(Components(), func(k Component) bool { return slices.Contains(c.Without, k.Name) })
}

func readJSON(path string, into any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// writeJSON replaces a file at once, so that readers see the old or the new content and nothing between.
func writeJSON(path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, append(content, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
