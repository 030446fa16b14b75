// Package dockertest holds a container engine that exists only in memory, for tests.
package dockertest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
)

// Engine implements docker.Engine. Its functions, where set, stand in for what happens inside containers.
type Engine struct {
	// OnExec runs commands; nil lets all succeed.
	OnExec func(ctx context.Context, container string, command docker.Command) (docker.Result, error)
	// OnWrite may change what a write leaves behind, as a broken engine would.
	OnWrite func(path string, content []byte) []byte
	// OnStart may fail.
	OnStart func(container string) error

	mu         sync.Mutex
	containers map[string]*docker.Container
	specs      map[string]docker.ContainerSpec
	files      map[string][]byte
	images     map[string]bool
	networks   map[string]bool
	calls      []string
}

// New returns an engine that holds the images.
func New(images ...string) *Engine {
	e := &Engine{
		containers: map[string]*docker.Container{}, specs: map[string]docker.ContainerSpec{},
		files: map[string][]byte{}, images: map[string]bool{}, networks: map[string]bool{},
	}
	for _, image := range images {
		e.images[image] = true
	}
	return e
}

func (e *Engine) record(format string, args ...any) {
	e.calls = append(e.calls, fmt.Sprintf(format, args...))
}

// Changes returns the calls that changed something, and forgets them.
func (e *Engine) Changes() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	calls := e.calls
	e.calls = nil
	return calls
}

// Spec returns how a container was made.
func (e *Engine) Spec(name string) docker.ContainerSpec {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.specs[name]
}

// Put adds a container that somebody else has made.
func (e *Engine) Put(c docker.Container) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.containers[c.Name] = &c
}

// Stop ends a container.
func (e *Engine) Stop(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.containers[name]
	c.Running, c.Status, c.IPv4 = false, "exited", ""
}

// List implements docker.Engine.
func (e *Engine) List(_ context.Context, labels map[string]string) ([]docker.Container, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []docker.Container
	for _, name := range slices.Sorted(maps.Keys(e.containers)) {
		c, all := e.containers[name], true
		for k, v := range labels {
			all = all && c.Labels[k] == v
		}
		if all {
			out = append(out, *c)
		}
	}
	return out, nil
}

// Inspect implements docker.Engine.
func (e *Engine) Inspect(_ context.Context, name string) (docker.Container, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.containers[name]; c != nil {
		return *c, nil
	}
	return docker.Container{}, docker.ErrNotFound
}

// Create implements docker.Engine.
func (e *Engine) Create(_ context.Context, spec docker.ContainerSpec) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.containers[spec.Name] != nil:
		return fmt.Errorf("container %s exists", spec.Name)
	case !e.images[spec.Image]:
		return docker.ErrNotFound
	case !e.networks[spec.Network]:
		return fmt.Errorf("network %s does not exist", spec.Network)
	}
	e.record("create %s", spec.Name)
	e.containers[spec.Name] = &docker.Container{Name: spec.Name, Image: spec.Image, Labels: spec.Labels, Status: "created", FixedIPv4: spec.IPv4.String()}
	e.specs[spec.Name] = spec
	return nil
}

// Start implements docker.Engine.
func (e *Engine) Start(_ context.Context, name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.OnStart != nil {
		if err := e.OnStart(name); err != nil {
			return err
		}
	}
	e.record("start %s", name)
	c := e.containers[name]
	c.Running, c.Status, c.IPv4 = true, "running", c.FixedIPv4
	return nil
}

// Remove implements docker.Engine.
func (e *Engine) Remove(_ context.Context, name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record("remove %s", name)
	delete(e.containers, name)
	maps.DeleteFunc(e.files, func(file string, _ []byte) bool { return strings.HasPrefix(file, name+":") })
	return nil
}

// Signal implements docker.Engine.
func (e *Engine) Signal(_ context.Context, name, signal string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record("signal %s %s", name, signal)
	return nil
}

// Exec implements docker.Engine. It carries out the one command that renames the load balancer's configuration.
func (e *Engine) Exec(ctx context.Context, name string, command docker.Command) (docker.Result, error) {
	if e.OnExec != nil {
		return e.OnExec(ctx, name, command)
	}
	if command.Stdin != nil {
		_, _ = io.Copy(io.Discard, command.Stdin)
	}
	return docker.Result{}, nil
}

// ReadFile implements docker.Engine.
func (e *Engine) ReadFile(_ context.Context, name, path string) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	content, ok := e.files[name+":"+path]
	if !ok {
		return nil, docker.ErrNotFound
	}
	return bytes.Clone(content), nil
}

// WriteFile implements docker.Engine.
func (e *Engine) WriteFile(_ context.Context, name, path string, content []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.OnWrite != nil {
		content = e.OnWrite(path, content)
	}
	e.record("write %s %s", name, path)
	e.files[name+":"+path] = bytes.Clone(content)
	return nil
}

// HasImage implements docker.Engine.
func (e *Engine) HasImage(_ context.Context, image string) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.images[image], nil
}

// Pull implements docker.Engine: there is no registry.
func (e *Engine) Pull(_ context.Context, image string) error {
	return fmt.Errorf("no registry has %s", image)
}

// Save implements docker.Engine.
func (e *Engine) Save(_ context.Context, image string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("archive of " + image)), nil
}

// EnsureNetwork implements docker.Engine.
func (e *Engine) EnsureNetwork(_ context.Context, name string) (docker.Network, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.networks[name] = true
	return docker.Network{Subnet: netip.MustParsePrefix("172.18.0.0/16"), Gateway: netip.MustParseAddr("172.18.0.1")}, nil
}

// Machine implements docker.Engine.
func (e *Engine) Machine(context.Context) (docker.MachineInfo, error) {
	return docker.MachineInfo{CPUs: 2, Memory: 8 << 30, Architecture: "amd64"}, nil
}
