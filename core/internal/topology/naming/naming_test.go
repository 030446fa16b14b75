package naming

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Conformance: TP-28
func TestRender(t *testing.T) {
	for _, c := range []struct {
		name, text string
		data       Data
		want, err  string
	}{
		{name: "infrastructure", text: Infrastructure, data: Data{Cluster: "c", Random: "abcde"}, want: "c-abcde"},
		{name: "a worker group", text: MachineDeployment, data: Data{Cluster: "c", MachineDeployment: "md", Random: "abcde"}, want: "c-md-abcde"},
		{name: "a pool", text: MachinePool, data: Data{Cluster: "c", MachinePool: "mp", Random: "abcde"}, want: "c-mp-abcde"},
		{name: "without anything random", text: "{{ .cluster.name }}-fixed", data: Data{Cluster: "c", Random: "abcde"}, want: "c-fixed"},
		{name: "too long", text: MachineDeployment, data: Data{Cluster: strings.Repeat("c", 50), MachineDeployment: "workers", Random: "abcde"}, want: strings.Repeat("c", 50) + "-workersabcde"},
		{name: "a worker group where there is none", text: MachineDeployment, data: Data{Cluster: "c", Random: "abcde"}, err: "machineDeployment"},
		{name: "no template", text: "{{ .cluster", data: Data{}, err: "unclosed action"},
		{name: "no name", text: "{{ .cluster.name }}_X", data: Data{Cluster: "c"}, err: "the name c_X that it gives is not valid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Render(c.text, c.data)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.LessOrEqual(t, len(got), maxLength)
		})
	}
}
