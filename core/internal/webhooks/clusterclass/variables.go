package clusterclass

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// variableDefinitions judges the definitions of a class.
func variableDefinitions(ctx context.Context, definitions []clusterv1.ClusterClassVariable, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	seen := map[string]bool{}
	for i, v := range definitions {
		at := path.Index(i)
		problems = append(problems, variableName(v.Name, seen, at.Child("name"))...)
		problems = append(problems, rules.TemplateMetadata(v.Schema.OpenAPIV3Schema.XMetadata, at.Child("schema", "openAPIV3Schema", "x-metadata"))...)
		problems = append(problems, variables.ValidateSchema(ctx, v.Schema.OpenAPIV3Schema, at.Child("schema", "openAPIV3Schema"))...)
	}
	return problems
}

func variableName(name string, seen map[string]bool, path *field.Path) field.ErrorList {
	switch {
	case seen[name]:
		return field.ErrorList{field.Duplicate(path, name)}
	case strings.TrimSpace(name) == "":
		return field.ErrorList{field.Required(path, "every variable has a name")}
	case name == hooks.BuiltinsName:
		return field.ErrorList{field.Invalid(path, name, "must be another name: this variable exists in every class")}
	case strings.ContainsAny(name, ".[]"):
		return field.ErrorList{field.Invalid(path, name, "must not contain dots or brackets, which lead into the value")}
	}
	seen[name] = true
	return nil
}
