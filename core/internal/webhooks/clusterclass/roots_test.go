package clusterclass

import (
	"testing"

	"github.com/stretchr/testify/assert"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// TestMisspeltNamesAreWarnedAbout: also where they are only tested, and not where extensions may define them.
//
// Conformance: TP-41
func TestMisspeltNamesAreWarnedAbout(t *testing.T) {
	spec := clusterv1.ClusterClassSpec{Variables: []clusterv1.ClusterClassVariable{{Name: "region"}, {Name: "proxy"}}}
	spec.Patches = []clusterv1.ClusterClassPatch{{EnabledIf: "{{ if .regoin }}true{{ end }}", Definitions: []clusterv1.PatchDefinition{{JSONPatches: []clusterv1.JSONPatch{
		{ValueFrom: &clusterv1.JSONPatchValueFrom{Template: "{{ if .proxy }}{{ .builtin.cluster.name }}{{ end }}"}},
		{ValueFrom: &clusterv1.JSONPatchValueFrom{Variable: "region"}},
		{ValueFrom: &clusterv1.JSONPatchValueFrom{Template: "{{ with .something }}{{ .proxxy }}{{ end }}"}},
	}}}}}
	assert.Equal(t, []string{
		"spec.patches[0].enabledIf: regoin is no variable of the class; did you mean region?",
		"spec.patches[0].definitions[0].jsonPatches[2].valueFrom.template: something is no variable of the class",
	}, Strangers(spec))
	spec.Patches = append(spec.Patches, clusterv1.ClusterClassPatch{External: &clusterv1.ClusterClassPatchExternal{DiscoverVariablesExtension: "x"}})
	assert.Empty(t, Strangers(spec))
}
