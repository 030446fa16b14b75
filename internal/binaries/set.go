package binaries

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// The names of the sets.
const (
	Kubernetes = "kubernetes"
	Etcd       = "etcd"
)

// ErrNoSources says that no folder with the modules to build from was found.
var ErrNoSources = errors.New("the sources of Slipway (its hack/ folder) are not here")

// Program is one command of a set.
type Program struct {
	// Name is the file's name in the cache.
	Name string
	// Package is the import path of its main package.
	Package string
	// Cold is about how long its build takes on two cores after those listed before it, with an empty build cache.
	Cold time.Duration
}

// Set is a group of programs that one module pins and builds.
type Set struct {
	Name     string
	Version  string
	Programs []Program
	// Module is the folder of the go.mod to build in.
	Module string
}

type source struct {
	module   string
	programs []Program
	// stamp are linker flags that put the version into the programs.
	stamp func(version string) []string
}

var sources = map[string]source{
	Kubernetes: {
		module: "k8s.io/kubernetes",
		programs: []Program{
			{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", 6 * time.Minute},
			{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", 80 * time.Second},
			{"kubeadm", "k8s.io/kubernetes/cmd/kubeadm", 30 * time.Second},
			{"kubelet", "k8s.io/kubernetes/cmd/kubelet", 40 * time.Second},
			{"kubectl", "k8s.io/kubernetes/cmd/kubectl", 20 * time.Second},
			{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", 20 * time.Second},
			{"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy", 20 * time.Second},
		},
		stamp: stampKubernetes,
	},
	Etcd: {
		module:   "go.etcd.io/etcd/server/v3",
		programs: []Program{{"etcd", "go.etcd.io/etcd/server/v3", time.Minute}},
		stamp:    func(string) []string { return nil },
	},
}

// Discover lists the sets that the hack/ folder under root holds, by name and then version, oldest first.
func Discover(root string) ([]Set, error) {
	patterns := map[string]string{
		Kubernetes: filepath.Join(root, "hack", Kubernetes, "v*", "go.mod"),
		Etcd:       filepath.Join(root, "hack", Etcd, "go.mod"),
	}
	var sets []Set
	for name, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", pattern, err)
		}
		for _, file := range files {
			set, err := load(name, file)
			if err != nil {
				return nil, err
			}
			sets = append(sets, set)
		}
	}
	slices.SortFunc(sets, func(a, b Set) int {
		if a.Name != b.Name {
			return strings.Compare(a.Name, b.Name)
		}
		return semver.Compare(a.Version, b.Version)
	})
	return sets, nil
}

func load(name, file string) (Set, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return Set{}, fmt.Errorf("reading the module of %s: %w", name, err)
	}
	parsed, err := modfile.ParseLax(file, content, nil)
	if err != nil {
		return Set{}, fmt.Errorf("reading the module of %s: %w", name, err)
	}
	for _, r := range parsed.Require {
		if r.Mod.Path == sources[name].module {
			return Set{Name: name, Version: r.Mod.Version, Programs: sources[name].programs, Module: filepath.Dir(file)}, nil
		}
	}
	return Set{}, fmt.Errorf("%s does not require %s", file, sources[name].module)
}

// Pick chooses from the sets of one name: the newest whose version starts with the given one ("", "v1.37", "1.36.4").
func Pick(sets []Set, name, version string) (Set, error) {
	if version != "" && !strings.HasPrefix(version, "v") {
		version = "v" + version
	}
	for _, s := range slices.Backward(sets) {
		exact := s.Version == version || strings.HasPrefix(s.Version, version+".")
		if s.Name == name && (version == "" || exact) {
			return s, nil
		}
	}
	return Set{}, fmt.Errorf("%s %s has no module under hack/%s", name, version, name)
}

// Select returns the named programs in the set's order; no names means all.
func (s Set) Select(names ...string) ([]Program, error) {
	for _, name := range names {
		if !slices.ContainsFunc(s.Programs, func(p Program) bool { return p.Name == name }) {
			return nil, fmt.Errorf("%s %s has no program %q", s.Name, s.Version, name)
		}
	}
	if len(names) == 0 {
		return s.Programs, nil
	}
	return slices.DeleteFunc(slices.Clone(s.Programs), func(p Program) bool { return !slices.Contains(names, p.Name) }), nil
}

// FindRoot walks from the given folders upwards to the first that holds the modules to build from.
func FindRoot(from ...string) (string, error) {
	for _, start := range from {
		dir, err := filepath.Abs(start)
		if err != nil {
			return "", err
		}
		for {
			if _, err := os.Stat(filepath.Join(dir, "hack", Etcd, "go.mod")); err == nil {
				return dir, nil
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return "", ErrNoSources
}

// stampKubernetes gives the programs the version that they report. The other values are constants, so that the build cache
// of the same version is always warm.
func stampKubernetes(version string) []string {
	const pkg = "k8s.io/component-base/version."
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return []string{
		"-X", pkg + "gitVersion=" + version,
		"-X", pkg + "gitMajor=" + parts[0],
		"-X", pkg + "gitMinor=" + parts[1],
		"-X", pkg + "gitTreeState=clean",
		"-X", pkg + "gitCommit=0000000000000000000000000000000000000000",
	}
}
