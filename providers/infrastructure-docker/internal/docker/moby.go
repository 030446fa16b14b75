package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"path"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// Moby is a Docker engine, reached through its API.
type Moby struct{ api *client.Client }

// Connect prepares the connection to the engine that DOCKER_HOST names, or to the one of this host.
func Connect() (*Moby, error) {
	api, err := client.New(client.FromEnv)
	if err != nil {
		return nil, fmt.Errorf("connecting to the container engine: %w", err)
	}
	return &Moby{api: api}, nil
}

func translate(err error) error {
	if cerrdefs.IsNotFound(err) {
		return fmt.Errorf("%w: %s", ErrNotFound, err.Error())
	}
	return err
}

// List implements Engine.
func (m *Moby) List(ctx context.Context, labels map[string]string) ([]Container, error) {
	filters := client.Filters{}
	for k, v := range labels {
		filters.Add("label", k+"="+v)
	}
	list, err := m.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters})
	if err != nil {
		return nil, err
	}
	var out []Container
	for _, s := range list.Items {
		if len(s.Names) == 0 {
			continue
		}
		c := Container{
			Name: strings.TrimPrefix(s.Names[0], "/"), Image: s.Image, Labels: s.Labels,
			Running: s.State == container.StateRunning, Status: string(s.State),
		}
		if s.NetworkSettings != nil {
			c.addresses(s.NetworkSettings.Networks)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Container) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (c *Container) addresses(networks map[string]*network.EndpointSettings) {
	for _, n := range networks {
		if n.IPAMConfig != nil && n.IPAMConfig.IPv4Address.IsValid() {
			c.FixedIPv4 = n.IPAMConfig.IPv4Address.String()
		}
		if n.IPAddress.IsValid() {
			c.IPv4 = n.IPAddress.String()
		}
		if n.GlobalIPv6Address.IsValid() {
			c.IPv6 = n.GlobalIPv6Address.String()
		}
	}
}

// Inspect implements Engine.
func (m *Moby) Inspect(ctx context.Context, name string) (Container, error) {
	r, err := m.api.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	if err != nil {
		return Container{}, translate(err)
	}
	c := Container{Name: strings.TrimPrefix(r.Container.Name, "/")}
	if r.Container.Config != nil {
		c.Image, c.Labels = r.Container.Config.Image, r.Container.Config.Labels
	}
	if s := r.Container.State; s != nil {
		c.Running, c.Status = s.Running, string(s.Status)
	}
	if r.Container.NetworkSettings != nil {
		c.addresses(r.Container.NetworkSettings.Networks)
	}
	return c, nil
}

// Create implements Engine.
func (m *Moby) Create(ctx context.Context, spec ContainerSpec) error {
	config := &container.Config{
		Image: spec.Image, Hostname: spec.Name, Labels: spec.Labels, Env: spec.Environment,
		Entrypoint: spec.Entrypoint, Cmd: spec.Command, ExposedPorts: network.PortSet{},
	}
	off := false
	host := &container.HostConfig{
		NetworkMode: container.NetworkMode(spec.Network), PortBindings: network.PortMap{}, Init: &off,
		// Clusters come back with their engine; what somebody stopped or killed stays so, for a health check to see.
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyUnlessStopped},
		Sysctls:       map[string]string{},
	}
	for _, p := range spec.Ports {
		port, _ := network.PortFrom(p.Container, network.TCP)
		config.ExposedPorts[port] = struct{}{}
		binding := network.PortBinding{}
		if p.Address != "" {
			address, err := netip.ParseAddr(p.Address)
			if err != nil {
				return fmt.Errorf("publishing port %d: %w", p.Container, err)
			}
			binding.HostIP = address
		}
		host.PortBindings[port] = []network.PortBinding{binding}
	}
	for _, b := range spec.Mounts {
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeBind, Source: b.Host, Target: b.Container, ReadOnly: b.ReadOnly})
	}
	if spec.Node {
		forNode(config, host)
	}
	options := client.ContainerCreateOptions{Config: config, HostConfig: host, Name: spec.Name}
	if spec.IPv4.IsValid() {
		endpoint := &network.EndpointSettings{IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: spec.IPv4}}
		options.NetworkingConfig = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{spec.Network: endpoint}}
	}
	_, err := m.api.ContainerCreate(ctx, options)
	return translate(err)
}

// forNode gives a container what systemd as its first process and a kubelet need.
func forNode(config *container.Config, host *container.HostConfig) {
	config.Tty = true
	config.Volumes = map[string]struct{}{"/var": {}}
	host.Privileged = true
	host.SecurityOpt = []string{"seccomp=unconfined", "apparmor=unconfined"}
	host.CgroupnsMode = container.CgroupnsModePrivate
	host.Tmpfs = map[string]string{"/tmp": "", "/run": ""}
	// Unlike a mount, a bind does not fail on hosts without modules.
	host.Binds = []string{"/lib/modules:/lib/modules:ro"}
	host.Sysctls["net.ipv6.conf.all.disable_ipv6"] = "0"
	host.Sysctls["net.ipv6.conf.all.forwarding"] = "1"
}

// Start implements Engine.
func (m *Moby) Start(ctx context.Context, name string) error {
	_, err := m.api.ContainerStart(ctx, name, client.ContainerStartOptions{})
	return translate(err)
}

// Remove implements Engine.
func (m *Moby) Remove(ctx context.Context, name string) error {
	_, err := m.api.ContainerRemove(ctx, name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// Signal implements Engine.
func (m *Moby) Signal(ctx context.Context, name, signal string) error {
	_, err := m.api.ContainerKill(ctx, name, client.ContainerKillOptions{Signal: signal})
	return translate(err)
}

// ReadFile implements Engine.
func (m *Moby) ReadFile(ctx context.Context, name, file string) ([]byte, error) {
	r, err := m.api.CopyFromContainer(ctx, name, client.CopyFromContainerOptions{SourcePath: file})
	if err != nil {
		return nil, translate(err)
	}
	defer r.Content.Close()
	archive := tar.NewReader(r.Content)
	if _, err := archive.Next(); err != nil {
		return nil, fmt.Errorf("reading %s of container %s: %w", file, name, err)
	}
	return io.ReadAll(archive)
}

// WriteFile implements Engine.
func (m *Moby) WriteFile(ctx context.Context, name, file string, content []byte) error {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	header := &tar.Header{Name: strings.TrimPrefix(file, "/"), Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}
	var parents []string
	for dir := path.Dir(header.Name); dir != "."; dir = path.Dir(dir) {
		parents = append(parents, dir)
	}
	var err error
	for _, dir := range slices.Backward(parents) {
		err = errors.Join(err, archive.WriteHeader(&tar.Header{Name: dir + "/", Mode: 0o755, Typeflag: tar.TypeDir}))
	}
	err = errors.Join(err, archive.WriteHeader(header))
	if _, writing := archive.Write(content); err != nil || writing != nil {
		return errors.Join(err, writing)
	}
	if err := archive.Close(); err != nil {
		return err
	}
	_, err = m.api.CopyToContainer(ctx, name, client.CopyToContainerOptions{DestinationPath: "/", Content: &buffer})
	return translate(err)
}
