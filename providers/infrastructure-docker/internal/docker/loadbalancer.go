package docker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

const (
	haproxyConfig = "/usr/local/etc/haproxy/haproxy.cfg"
	haproxyNew    = haproxyConfig + ".new"
	// haproxyLoaded holds the hash of what HAProxy was last told to load: a crash between writing and reloading shows.
	haproxyLoaded = "/usr/local/etc/haproxy/loaded"
)

// LoadBalancerSpec is the load balancer of a cluster.
type LoadBalancerSpec struct {
	Cluster, Owner string
	// Recorded says that the endpoint was accepted before, so a container with another owner is this cluster's too: the
	// object may have moved here from another management cluster.
	Recorded bool
	// Image is what the user wants; empty means the first of LoadBalancerImages that is here.
	Image string
	// Port of the endpoint; 0 means that of API servers.
	Port int
	// Template is the user's template of the configuration, if any.
	Template string
	Backends []Backend
}

func (s LoadBalancerSpec) port() int {
	if s.Port == 0 {
		return APIServerPort
	}
	return s.Port
}

// FindLoadBalancer returns a cluster's load balancer, or nil if there is none. A stranger of its name is an error.
func (h *Host) FindLoadBalancer(ctx context.Context, s LoadBalancerSpec) (*Container, error) {
	c, err := h.Find(ctx, LoadBalancerName(s.Cluster))
	if c == nil || err != nil {
		return nil, err
	}
	if err := Claim(*c, s.Cluster, s.Owner); err != nil && !s.Recorded {
		return nil, err
	}
	return c, nil
}

// EnsureLoadBalancer makes and starts the load balancer of a cluster, with its configuration, and returns it.
func (h *Host) EnsureLoadBalancer(ctx context.Context, s LoadBalancerSpec) (*Container, error) {
	c, err := h.FindLoadBalancer(ctx, s)
	if err != nil {
		return nil, err
	}
	name := LoadBalancerName(s.Cluster)
	if c == nil {
		if err := h.createLoadBalancer(ctx, s); err != nil {
			return nil, fmt.Errorf("creating load balancer %s: %w", name, err)
		}
	}
	if c == nil || !c.Running {
		if err := h.Engine.Start(ctx, name); err != nil {
			return nil, fmt.Errorf("starting load balancer %s: %w", name, err)
		}
	}
	return h.FindLoadBalancer(ctx, s)
}

func (h *Host) createLoadBalancer(ctx context.Context, s LoadBalancerSpec) error {
	config, err := RenderHAProxy(s.Template, s.port(), s.Backends)
	if err != nil {
		return err
	}
	images := LoadBalancerImages()
	if s.Image != "" {
		images = []string{s.Image}
	}
	image, err := h.imageFor(ctx, images)
	if err != nil {
		return err
	}
	name := LoadBalancerName(s.Cluster)
	err = h.create(ctx, ContainerSpec{
		Name: name, Image: image, Network: h.Network,
		Labels:     map[string]string{ClusterLabel: s.Cluster, RoleLabel: LoadBalancerRole, OwnerLabel: s.Owner},
		Entrypoint: []string{"haproxy"}, Command: []string{"-W", "-db", "-f", haproxyConfig},
		Ports: []Port{{Container: uint16(s.port()), Address: loopback}, {Container: statsPort, Address: loopback}},
	})
	if err != nil {
		return err
	}
	if err := errors.Join(h.Engine.WriteFile(ctx, name, haproxyConfig, config), h.Engine.WriteFile(ctx, name, haproxyLoaded, digest(config))); err != nil {
		// Without its configuration it would never run: the next attempt starts anew.
		return errors.Join(err, h.Engine.Remove(ctx, name))
	}
	return nil
}

func digest(content []byte) []byte {
	sum := sha256.Sum256(content)
	return []byte(hex.EncodeToString(sum[:]))
}

// UpdateLoadBalancer brings the configuration of a running load balancer up to date. HAProxy is told to reload only when
// the file in place is whole and differs from what it loaded before; it keeps its connections.
func (h *Host) UpdateLoadBalancer(ctx context.Context, s LoadBalancerSpec) (changed bool, err error) {
	want, err := RenderHAProxy(s.Template, s.port(), s.Backends)
	if err != nil {
		return false, err
	}
	h.balancing.Lock()
	defer h.balancing.Unlock()
	name := LoadBalancerName(s.Cluster)
	loaded, err := h.Engine.ReadFile(ctx, name, haproxyLoaded)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false, fmt.Errorf("reading what load balancer %s has loaded: %w", name, err)
	}
	if bytes.Equal(loaded, digest(want)) {
		return false, nil
	}
	if err := h.replaceConfig(ctx, name, want); err != nil {
		return false, fmt.Errorf("configuring load balancer %s: %w", name, err)
	}
	if err := h.Engine.Signal(ctx, name, "SIGHUP"); err != nil {
		return false, fmt.Errorf("reloading load balancer %s: %w", name, err)
	}
	return true, h.Engine.WriteFile(ctx, name, haproxyLoaded, digest(want))
}

// replaceConfig writes under another name, reads back, and renames only what is whole and what HAProxy accepts.
func (h *Host) replaceConfig(ctx context.Context, name string, want []byte) error {
	if err := h.Engine.WriteFile(ctx, name, haproxyNew, want); err != nil {
		return err
	}
	have, err := h.Engine.ReadFile(ctx, name, haproxyNew)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, want) {
		return errors.New("the file that was written is not the file that is there")
	}
	result, err := h.Engine.Exec(ctx, name, shell("haproxy -c -q -f "+haproxyNew+" && mv "+haproxyNew+" "+haproxyConfig))
	if err != nil {
		return err
	}
	if result.Status != 0 {
		return fmt.Errorf("HAProxy refuses the configuration: %s", lastLines(result.Stderr+result.Stdout, 3))
	}
	return nil
}

// DeleteLoadBalancer removes the load balancer of a cluster.
func (h *Host) DeleteLoadBalancer(ctx context.Context, s LoadBalancerSpec) error {
	return h.remove(ctx, LoadBalancerName(s.Cluster), s.Cluster, s.Owner, s.Recorded)
}

// Balanced says whether the load balancer has loaded the configuration that is wanted.
func (h *Host) Balanced(ctx context.Context, s LoadBalancerSpec) (bool, error) {
	want, err := RenderHAProxy(s.Template, s.port(), s.Backends)
	if err != nil {
		return false, err
	}
	loaded, err := h.Engine.ReadFile(ctx, LoadBalancerName(s.Cluster), haproxyLoaded)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false, fmt.Errorf("reading what load balancer %s has loaded: %w", LoadBalancerName(s.Cluster), err)
	}
	return bytes.Equal(loaded, digest(want)), nil
}
