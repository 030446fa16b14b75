package clusterclass

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

func variable(name, kind string) clusterv1.ClusterClassVariable {
	return clusterv1.ClusterClassVariable{Name: name, Schema: clusterv1.VariableSchema{OpenAPIV3Schema: clusterv1.JSONSchemaProps{Type: kind}}}
}

func aWorld(discoveries ...Discovery) World {
	w := World{Class: &clusterv1.ClusterClass{ObjectMeta: metav1.ObjectMeta{Name: "class", Generation: 2}}, Discoveries: discoveries}
	w.Class.Spec.Variables = []clusterv1.ClusterClassVariable{variable("b", "string")}
	w.Class.Status.ObservedGeneration = 1
	w.Class.Status.Variables = []clusterv1.ClusterClassVariableStatus{{Name: "old"}}
	return w
}

// Conformance: RT-38
func TestVariablesOfExtensions(t *testing.T) {
	d := Decide(t.Context(), aWorld(
		Discovery{Patch: "p", Variables: []clusterv1.ClusterClassVariable{variable("a", "string"), variable("b", "string")}},
		Discovery{Patch: "q", Variables: []clusterv1.ClusterClassVariable{variable("a", "integer")}},
	))
	require.NoError(t, d.Err)
	var got []string
	for _, v := range d.Class.Status.Variables {
		var from []string
		for _, definition := range v.Definitions {
			from = append(from, definition.From)
		}
		text := v.Name + " " + strings.Join(from, ",")
		if *v.DefinitionsConflict {
			text += " conflict"
		}
		got = append(got, text)
	}
	assert.Equal(t, []string{"a p,q conflict", "b inline,p"}, got)
	assert.EqualValues(t, 2, d.Class.Status.ObservedGeneration)
	assert.True(t, conditions.IsTrue(d.Class, clusterv1.ClusterClassVariablesReadyCondition))
}

// Conformance: RT-38
func TestVariablesThatExtensionsMustNotDefine(t *testing.T) {
	for want, bad := range map[string]Discovery{
		"variables of patch p: it refuses the connection":                              {Err: errors.New("it refuses the connection")},
		"its variable 0 has no name":                                                   {Variables: []clusterv1.ClusterClassVariable{variable("", "string")}},
		"it defines the variable builtin, which every cluster has":                     {Variables: []clusterv1.ClusterClassVariable{variable("builtin", "string")}},
		"it defines the variable a twice":                                              {Variables: []clusterv1.ClusterClassVariable{variable("a", "string"), variable("a", "string")}},
		"its variable a: schema.openAPIV3Schema.type: Unsupported value: \"nonsense\"": {Variables: []clusterv1.ClusterClassVariable{variable("a", "nonsense")}},
		"it defines 1001 variables":                                                    {Variables: make([]clusterv1.ClusterClassVariable, 1001)},
	} {
		bad.Patch = "p"
		d := Decide(t.Context(), aWorld(Discovery{Patch: "good"}, bad))
		require.ErrorContains(t, d.Err, want)
		assert.Equal(t, clusterv1.ClusterClassVariablesReadyVariableDiscoveryFailedReason, conditions.Reason(d.Class, clusterv1.ClusterClassVariablesReadyCondition))
		assert.Equal(t, d.Err.Error(), conditions.Message(d.Class, clusterv1.ClusterClassVariablesReadyCondition))
		assert.EqualValues(t, 1, d.Class.Status.ObservedGeneration, "the change is not yet seen")
		assert.Equal(t, []clusterv1.ClusterClassVariableStatus{{Name: "old"}}, d.Class.Status.Variables, "those known before stay")
	}
}
