package variables

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

func classOf(t *testing.T, variables map[string]string, required ...string) *clusterv1.ClusterClass {
	t.Helper()
	class := &clusterv1.ClusterClass{}
	class.Name = "class"
	for _, name := range []string{"cpus", "zone", "net"} {
		if schema, ok := variables[name]; ok {
			v := clusterv1.ClusterClassVariable{Name: name, Schema: clusterv1.VariableSchema{OpenAPIV3Schema: schemaOf(t, schema)}}
			for _, r := range required {
				v.Required = v.Required || r == name
			}
			class.Spec.Variables = append(class.Spec.Variables, v)
		}
	}
	return class
}

func topologyOf(t *testing.T, values map[string]string, overrides map[string]string) *clusterv1.Topology {
	t.Helper()
	out := &clusterv1.Topology{}
	for _, name := range []string{"cpus", "zone", "net", "unknown"} {
		if value, ok := values[name]; ok {
			out.Variables = append(out.Variables, clusterv1.ClusterVariable{Name: name, Value: jsonOf(t, value)})
		}
	}
	g := clusterv1.MachineDeploymentTopology{Name: "workers"}
	for name, value := range overrides {
		g.Variables.Overrides = append(g.Variables.Overrides, clusterv1.VariableOverridesOverride{Name: name, Value: jsonOf(t, value)})
	}
	out.Workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{g}
	return out
}

// Conformance: TP-19, TP-30
func TestCatalog(t *testing.T) {
	class := classOf(t, map[string]string{
		"cpus": `{type: integer, default: 4, maximum: 64, x-kubernetes-validations: [{rule: "self >= oldSelf", message: "never fewer"}]}`,
		"zone": `{type: string}`,
		"net":  `{type: object, properties: {mtu: {type: integer, default: 1500}}}`,
	}, "zone")
	for _, c := range []struct {
		name                   string
		values, overrides, old map[string]string
		// want is the topology's variables after defaulting, problem a part of the only message.
		want    map[string]string
		problem string
	}{
		{name: "missing values", values: map[string]string{"zone": "a"}, want: map[string]string{"cpus": "4", "zone": `"a"`}},
		{name: "values that are there", values: map[string]string{"zone": "a", "cpus": "8", "net": "{}"}, want: map[string]string{"cpus": "8", "zone": `"a"`, "net": `{"mtu":1500}`}},
		{name: "a required value", values: nil, want: map[string]string{"cpus": "4"}, problem: "spec.topology.variables[zone]: Required value: class class requires a value"},
		{name: "an unknown one", values: map[string]string{"zone": "a", "unknown": "1"}, want: map[string]string{"cpus": "4", "zone": `"a"`, "unknown": "1"}, problem: "class class has no variable of this name; it has cpus, zone, net"},
		{name: "one that does not fit", values: map[string]string{"zone": "a", "cpus": "65"}, want: map[string]string{"cpus": "65", "zone": `"a"`}, problem: "spec.topology.variables[cpus].value: Invalid value"},
		{name: "an override that does not fit", values: map[string]string{"zone": "a"}, overrides: map[string]string{"zone": "3"}, want: map[string]string{"cpus": "4", "zone": `"a"`},
			problem: "spec.topology.workers.machineDeployments[0].variables.overrides[zone].value: Invalid value"},
		{name: "a rule that compares", values: map[string]string{"zone": "a", "cpus": "2"}, old: map[string]string{"cpus": "4"}, want: map[string]string{"cpus": "2", "zone": `"a"`}, problem: "never fewer"},
		{name: "no old value to compare with", values: map[string]string{"zone": "a", "cpus": "2"}, want: map[string]string{"cpus": "2", "zone": `"a"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			known, err := NewCatalog(class)
			require.NoError(t, err)
			topology := topologyOf(t, c.values, c.overrides)
			known.Default(topology)
			got := map[string]string{}
			for _, v := range topology.Variables {
				got[v.Name] = string(v.Value.Raw)
			}
			assert.Equal(t, c.want, got)
			again := topology.DeepCopy()
			known.Default(again)
			assert.Equal(t, topology, again, "a second time changes nothing")
			var before *clusterv1.Topology
			if c.old != nil {
				before = topologyOf(t, c.old, nil)
			}
			problems := known.Validate(t.Context(), topology, before, field.NewPath("spec", "topology"))
			if c.problem == "" {
				assert.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1, "%v", problems)
			assert.ErrorContains(t, problems[0], c.problem)
		})
	}
}

func TestCatalogOfExtensions(t *testing.T) {
	class := classOf(t, map[string]string{"cpus": `{type: integer}`})
	told := func(from string, schema string) clusterv1.ClusterClassVariableDefinitionStatus {
		return clusterv1.ClusterClassVariableDefinitionStatus{From: from, Required: true, Schema: clusterv1.VariableSchema{OpenAPIV3Schema: schemaOf(t, schema)}}
	}
	conflict := true
	class.Status.Variables = []clusterv1.ClusterClassVariableStatus{{Name: "zone", Definitions: []clusterv1.ClusterClassVariableDefinitionStatus{told("patch-a", `{type: string}`)}}}
	known, err := NewCatalog(class)
	require.NoError(t, err)
	problems := known.Validate(t.Context(), topologyOf(t, map[string]string{"zone": "3"}, nil), nil, field.NewPath("spec", "topology"))
	assert.Len(t, problems, 1, "the schema of the extension holds")
	assert.Len(t, known.Validate(t.Context(), topologyOf(t, nil, nil), nil, field.NewPath("spec", "topology")), 1, "it is required")

	class.Status.Variables[0].DefinitionsConflict = &conflict
	class.Status.Variables[0].Definitions = append(class.Status.Variables[0].Definitions, told("patch-b", `{type: integer}`))
	_, err = NewCatalog(class)
	assert.EqualError(t, err, "variable zone of class class is defined in different ways by patch-a, patch-b")
}
