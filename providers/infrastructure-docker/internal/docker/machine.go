package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// MachineSpec is a machine: a container that runs systemd, containerd and a kubelet.
type MachineSpec struct {
	// Key names the machine to whoever wants to know of changes.
	Key                  string
	Cluster, Name, Owner string
	ControlPlane         bool
	FailureDomain        string
	// Images are tried in order; the last is pulled if none is here.
	Images        []string
	Mounts        []Mount
	PreloadImages []string
	// Recorded says that the machine was provisioned before: a container with another owner is this machine's too, and a
	// container that is gone or has stopped must not be made anew.
	Recorded bool
	// Timeout of the bootstrap.
	Timeout time.Duration
}

// Container is the name of the machine's container.
func (s MachineSpec) Container() string { return ContainerName(s.Cluster, s.Name) }

func (s MachineSpec) role() string {
	if s.ControlPlane {
		return ControlPlaneRole
	}
	return WorkerRole
}

// FindMachine returns the container of a machine, or nil if there is none. A stranger of its name is an error.
func (h *Host) FindMachine(ctx context.Context, s MachineSpec) (*Container, error) {
	c, err := h.Find(ctx, s.Container())
	if c == nil || err != nil {
		return nil, err
	}
	if err := Claim(*c, s.Cluster, s.Owner); err != nil && !s.Recorded {
		return nil, err
	}
	return c, nil
}

// ControlPlanes returns the containers of a cluster's control plane machines.
func (h *Host) ControlPlanes(ctx context.Context, cluster string) ([]Container, error) {
	list, err := h.Engine.List(ctx, map[string]string{ClusterLabel: cluster, RoleLabel: ControlPlaneRole})
	if err != nil {
		return nil, fmt.Errorf("listing the control plane containers of cluster %s: %w", cluster, err)
	}
	return list, nil
}

// ensureContainer makes and starts the container of a machine. One that was never provisioned and has stopped is made anew.
func (h *Host) ensureContainer(ctx context.Context, s MachineSpec) error {
	c, err := h.FindMachine(ctx, s)
	if err != nil {
		return err
	}
	if c != nil && c.Running {
		return nil
	}
	if s.Recorded {
		return errors.New("the container has stopped or is gone")
	}
	if c != nil {
		if err := h.Engine.Remove(ctx, c.Name); err != nil {
			return fmt.Errorf("removing stopped container %s: %w", c.Name, err)
		}
	}
	image, err := h.imageFor(ctx, s.Images)
	if err != nil {
		return err
	}
	if err := h.create(ctx, h.machineContainer(s, image)); err != nil {
		return fmt.Errorf("creating container %s: %w", s.Container(), err)
	}
	if err := h.Engine.Start(ctx, s.Container()); err != nil {
		return errors.Join(fmt.Errorf("starting container %s: %w", s.Container(), err), h.Engine.Remove(ctx, s.Container()))
	}
	return nil
}

func (h *Host) machineContainer(s MachineSpec, image string) ContainerSpec {
	spec := ContainerSpec{
		Name: s.Container(), Image: image, Network: h.Network, Node: true, Mounts: s.Mounts,
		Labels: map[string]string{ClusterLabel: s.Cluster, RoleLabel: s.role(), OwnerLabel: s.Owner},
	}
	if s.FailureDomain != "" {
		spec.Labels[FailureDomainLabel] = s.FailureDomain
	}
	for _, name := range slices.Sorted(maps.Keys(h.Proxy)) {
		value := h.Proxy[name]
		if strings.EqualFold(name, "NO_PROXY") {
			value = strings.Trim(value+",.svc,.cluster.local,"+s.Container()+","+LoadBalancerName(s.Cluster), ",")
		}
		spec.Environment = append(spec.Environment, name+"="+value)
	}
	if s.ControlPlane {
		spec.Environment = append(spec.Environment, "KUBECONFIG=/etc/kubernetes/admin.conf")
		spec.Ports = []Port{{Container: APIServerPort, Address: loopback}}
	}
	return spec
}

// DeleteMachine ends what runs for a machine and removes its container.
func (h *Host) DeleteMachine(ctx context.Context, s MachineSpec) error {
	h.cancel(s.Container())
	return h.remove(ctx, s.Container(), s.Cluster, s.Owner, s.Recorded)
}

// lastLines is the end of a text, fit for a message.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// ProxyOfEnvironment returns the proxy variables of this process, for machines to inherit.
func ProxyOfEnvironment() map[string]string {
	out := map[string]string{}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"} {
		if value := os.Getenv(name); value != "" {
			out[name] = value
		}
	}
	return out
}
