package devmachine

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
)

// observeDocker asks the engine, which is near and fast, what it knows of the machine.
func (c *Controller) observeDocker(ctx context.Context, w World) DockerView {
	if c.Docker == nil {
		return DockerView{Err: errNoEngine}
	}
	spec := machineSpec(w)
	view := DockerView{Progress: c.Docker.Progress(spec.Container())}
	view.Container, view.Err = c.Docker.FindMachine(ctx, spec)
	return view
}

// carryOutDocker does the actions of the docker backend and says whether the action was one.
func (c *Controller) carryOutDocker(ctx context.Context, w World, action Action) (bool, error) {
	switch action.(type) {
	case StartMachine:
		c.Docker.Start(ctx, machineSpec(w), c.bootstrapData(w))
		return true, nil
	case RemoveMachine:
		return true, c.Docker.DeleteMachine(ctx, machineSpec(w))
	}
	return false, nil
}

// bootstrapData reads the Secret when it is needed; no cache holds bootstrap data.
func (c *Controller) bootstrapData(w World) func(context.Context) ([]byte, error) {
	key := client.ObjectKey{Namespace: w.Machine.Namespace, Name: w.dataSecret()}
	return func(ctx context.Context) ([]byte, error) {
		secret := &corev1.Secret{}
		if err := c.Live.Get(ctx, key, secret); err != nil {
			return nil, fmt.Errorf("reading the bootstrap data: %w", err)
		}
		if format := string(secret.Data["format"]); format != "" && format != "cloud-config" {
			return nil, docker.ErrData("bootstrap data of format %q cannot be carried out in a container, use cloud-config", format)
		}
		if len(secret.Data["value"]) == 0 {
			return nil, docker.ErrData("Secret %s has no bootstrap data under its key \"value\"", key.Name)
		}
		return secret.Data["value"], nil
	}
}

// machineSpec translates the objects for the engine.
func machineSpec(w World) docker.MachineSpec {
	m := w.DevMachine
	spec := docker.MachineSpec{
		Key: m.Namespace + "/" + m.Name, Cluster: labels.ClusterName(m), Name: m.Name, Owner: string(m.UID),
		ControlPlane: w.controlPlane(), Recorded: m.Spec.ProviderID != "",
	}
	if w.Machine != nil {
		spec.Cluster, spec.FailureDomain = w.Machine.Spec.ClusterName, w.Machine.Spec.FailureDomain
	}
	spec.Images = docker.NodeImages(w.version())
	backend := m.Spec.Backend.Docker
	if backend == nil {
		return spec
	}
	if backend.CustomImage != "" {
		spec.Images = []string{backend.CustomImage}
	}
	if backend.BootstrapTimeout != nil {
		spec.Timeout = backend.BootstrapTimeout.Duration
	}
	spec.PreloadImages = backend.PreLoadImages
	for _, x := range backend.ExtraMounts {
		spec.Mounts = append(spec.Mounts, docker.Mount{Host: x.HostPath, Container: x.ContainerPath, ReadOnly: isTrue(x.ReadOnly)})
	}
	return spec
}
