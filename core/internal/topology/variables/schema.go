package variables

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// types are those a value may have.
var types = []string{"object", "array", "string", "integer", "number", "boolean"}

// ValidateSchema says what is wrong with the schema of a variable. Path is that of the schema.
func ValidateSchema(ctx context.Context, props clusterv1.JSONSchemaProps, path *field.Path) field.ErrorList {
	if props.Type == "" && (props.XPreserveUnknownFields == nil || !*props.XPreserveUnknownFields) && (props.XIntOrString == nil || !*props.XIntOrString) {
		return field.ErrorList{field.Required(path.Child("type"), "must be one of "+strings.Join(types, ", "))}
	}
	if props.Type != "" && !slices.Contains(types, props.Type) {
		return field.ErrorList{field.NotSupported(path.Child("type"), props.Type, types)}
	}
	value, err := external(props)
	if err != nil {
		return field.ErrorList{field.Invalid(path, "schema", err.Error())}
	}
	// A definition of a custom resource whose field x is the variable: the API server's own rules judge it.
	crd := definition(*value)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil); err != nil {
		return field.ErrorList{field.Invalid(path, "schema", err.Error())}
	}
	var out field.ErrorList
	for _, e := range apiextensionsvalidation.ValidateCustomResourceDefinition(ctx, &internal) {
		out = append(out, relocate(e, path))
	}
	return out
}

// external is the schema in the words of CustomResourceDefinitions. What those do not know is an error, but for the metadata
// that a schema of a variable may have in addition.
func external(props clusterv1.JSONSchemaProps) (*apiextensionsv1.JSONSchemaProps, error) {
	raw, err := json.Marshal(props)
	if err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, fmt.Errorf("decoding the schema: %w", err)
	}
	raw, err = json.Marshal(withoutMetadata(tree, false))
	if err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	var out apiextensionsv1.JSONSchemaProps
	strict, err := kjson.UnmarshalStrict(raw, &out, kjson.DisallowUnknownFields)
	if err != nil {
		return nil, fmt.Errorf("this is no schema: %w", err)
	}
	if len(strict) > 0 {
		return nil, fmt.Errorf("this is no schema: %w", strict[0])
	}
	return &out, nil
}

// withoutMetadata takes x-metadata out of a schema and those below it. Below properties the keys are names, not words.
func withoutMetadata(node any, names bool) any {
	switch n := node.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range n {
			switch {
			case names:
				out[key] = withoutMetadata(value, false)
			case key == "x-metadata":
			case key == "default" || key == "example" || key == "enum":
				out[key] = value
			default:
				out[key] = withoutMetadata(value, key == "properties")
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(n))
		for _, value := range n {
			out = append(out, withoutMetadata(value, false))
		}
		return out
	}
	return node
}

// variableField is the field of the made-up custom resource that has the schema of the variable.
const variableField = "x"

func definition(value apiextensionsv1.JSONSchemaProps) apiextensionsv1.CustomResourceDefinition {
	crd := apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "values.variables.cluster.x-k8s.io"
	// The group is one that needs no approval for names below k8s.io.
	crd.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, never installed"}
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "variables.cluster.x-k8s.io", Scope: apiextensionsv1.NamespaceScoped,
		Names:      apiextensionsv1.CustomResourceDefinitionNames{Plural: "values", Singular: "value", Kind: "Value", ListKind: "ValueList"},
		Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{variableField: value},
			}},
		}},
	}
	crd.Status.StoredVersions = []string{"v1"}
	return crd
}

// relocate gives an error about the made-up custom resource the path of the variable's schema.
func relocate(e *field.Error, path *field.Path) *field.Error {
	out := *e
	const marker = ".properties[" + variableField + "]"
	if _, rest, found := strings.Cut(e.Field, marker); found {
		out.Field = path.String() + rest
	} else {
		out.Field = path.String()
	}
	return &out
}
