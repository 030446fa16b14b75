package devmachinetemplate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/controllers/devmachinetemplate"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
)

func TestDecide(t *testing.T) {
	template := &infrav1.DevMachineTemplate{}
	for _, tt := range []struct {
		name                      string
		host                      *docker.MachineInfo
		cpu, memory, architecture string
	}{
		{"a container finds all of its host", &docker.MachineInfo{CPUs: 6, Memory: 16 << 30, Architecture: "arm64"}, "6", "16Gi", "arm64"},
		{"an architecture that the contract has no name for", &docker.MachineInfo{CPUs: 6, Memory: 16 << 30, Architecture: "riscv64"}, "6", "16Gi", ""},
		{"a simulation offers what its Nodes offer", nil, "4", "8Gi", "amd64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := devmachinetemplate.Decide(devmachinetemplate.World{Template: template, Host: tt.host}).Status
			assert.Equal(t, tt.cpu, s.Capacity.Cpu().String())
			assert.Equal(t, tt.memory, s.Capacity.Memory().String())
			assert.Equal(t, infrav1.DevMachineTemplateNodeInfo{Architecture: tt.architecture, OperatingSystem: "linux"}, s.NodeInfo)
			assert.Empty(t, template.Status.Capacity, "the template itself is not changed")
		})
	}
}
