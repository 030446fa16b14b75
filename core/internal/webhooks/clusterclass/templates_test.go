package clusterclass

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-capi/slipway/core/internal/topology/patches/paths"
)

func ofType(kind string, fields map[string]structuralschema.Structural) structuralschema.Structural {
	return structuralschema.Structural{Generic: structuralschema.Generic{Type: kind}, Properties: fields}
}

// machineSchemas know the fields of the template that the good class changes, but for those that are left out.
func machineSchemas(without ...string) paths.Schemas {
	text := ofType("string", nil)
	fields := map[string]structuralschema.Structural{
		"tag": text, "name": text, "other": ofType("object", map[string]structuralschema.Structural{"a": ofType("integer", nil)}),
		"list": {Generic: structuralschema.Generic{Type: "array"}, Items: &text},
	}
	for _, name := range without {
		delete(fields, name)
	}
	root := ofType("object", fields)
	for _, name := range []string{"spec", "template", "spec"} {
		root = ofType("object", map[string]structuralschema.Structural{name: root})
	}
	return paths.Schemas{schema.GroupVersionKind{Group: "infra.io", Version: "v1", Kind: "DevMachineTemplate"}: &root}
}

// Conformance: TP-33
func TestPatchesFitTheirTemplates(t *testing.T) {
	warnings, problems := ValidateTemplates(class(t, ""), nil, Templates{Schemas: machineSchemas()})
	assert.Empty(t, warnings)
	assert.Empty(t, problems)

	_, problems = ValidateTemplates(class(t, ""), nil, Templates{Schemas: machineSchemas("tag", "list")})
	require.Len(t, problems, 2)
	assert.Equal(t, `spec.patches[0].definitions[0].jsonPatches[0].path: Invalid value: "/spec/template/spec/tag": `+
		`DevMachineTemplate has no field spec.template.spec.tag; there is name, other`, problems[0].Error())
}

// Conformance: TP-34
func TestWhatCannotBeComparedIsWarnedAbout(t *testing.T) {
	warnings, problems := ValidateTemplates(class(t, ""), nil, Templates{Unknown: []string{"CustomResourceDefinition a does not exist"}, Missing: []string{"ATemplate a", "BTemplate b"}})
	assert.Empty(t, problems)
	assert.Equal(t, []string{"patches are not compared with their templates: CustomResourceDefinition a does not exist",
		"clusters wait for templates that do not exist yet: ATemplate a, BTemplate b"}, warnings)
}

// Conformance: TP-35
func TestAClassStaysChangeableWhenAFieldIsDropped(t *testing.T) {
	known := Templates{Schemas: machineSchemas("tag")}
	moved := class(t, `{op: add, path: /spec/patches/0, value: {name: first, definitions: []}}`)
	warnings, problems := ValidateTemplates(moved, class(t, ""), known)
	assert.Empty(t, problems, "the patch was there before, at another position")
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "spec.patches[1].definitions[0].jsonPatches[0].path")

	more := class(t, `{op: add, path: /spec/patches/0/definitions/0/jsonPatches/-, value: {op: add, path: /spec/template/spec/nmae, value: x}}`)
	_, problems = ValidateTemplates(more, class(t, ""), known)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Error(), "jsonPatches[5].path")
	assert.Contains(t, problems[0].Error(), "did you mean name?")
}
