package devmachine

import (
	"errors"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

// DockerView is what the container engine knows about a machine.
type DockerView struct{}

// errNoEngine tells what a user who asked for containers must do.
var errNoEngine = errors.New("no container engine is configured: start the manager with access to a Docker socket, or use backend.inMemory")

func (d *Decision) docker(World) {
	d.set(infrav1.DevMachineDockerContainerProvisionedCondition, false, clusterv1.NotProvisionedReason, errNoEngine.Error())
	d.summarize([]string{infrav1.DevMachineDockerContainerProvisionedCondition})
	d.Err = errNoEngine
}

func (d *Decision) deleteDocker(World) { d.release() }
