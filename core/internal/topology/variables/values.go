package variables

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Schema is a schema that is ready to judge values. It is safe for concurrent use.
type Schema struct {
	// around is the schema of an object with the value as its only field, since defaults belong to fields.
	around    *structuralschema.Structural
	value     *structuralschema.Structural
	validator apiservervalidation.SchemaValidator
	rules     *cel.Validator
}

// Compile reads a schema that ValidateSchema has accepted.
func Compile(props clusterv1.JSONSchemaProps) (*Schema, error) {
	v1, err := external(props)
	if err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v1, &internal, nil); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	around, err := structuralschema.NewStructural(&apiextensions.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{variableField: internal},
	})
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	validator, _, err := apiservervalidation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	value := around.Properties[variableField]
	return &Schema{around: around, value: &value, validator: validator, rules: cel.NewValidator(&value, false, celconfig.PerCallLimit)}, nil
}

// Default returns a value with all defaults of its schema filled in. An absent value becomes the default of the variable, or
// stays absent if there is none.
func (s *Schema) Default(value clusterv1.JSON) (clusterv1.JSON, error) {
	holder := map[string]any{}
	if !value.IsZero() {
		decoded, err := decode(value)
		if err != nil {
			return value, err
		}
		holder[variableField] = decoded
	}
	defaulting.Default(holder, s.around)
	out, ok := holder[variableField]
	if !ok {
		return clusterv1.JSON{}, nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return value, fmt.Errorf("encoding the value: %w", err)
	}
	return clusterv1.JSON{Raw: raw}, nil
}

// Validate says what is wrong with a value. Old is the value before, for rules that compare; absent for a new one.
func (s *Schema) Validate(ctx context.Context, value, old clusterv1.JSON, path *field.Path) field.ErrorList {
	decoded, err := decode(value)
	if err != nil {
		return field.ErrorList{field.Invalid(path, string(value.Raw), err.Error())}
	}
	var before any
	if !old.IsZero() {
		if before, err = decode(old); err != nil {
			before = nil // a value that was never good has nothing to compare with
		}
	}
	errs := apiservervalidation.ValidateCustomResource(path, decoded, s.validator)
	errs = append(errs, s.unknown(decoded, path)...)
	if len(errs) > 0 {
		return errs // rules may rely on the types
	}
	found, _ := s.rules.Validate(ctx, path, s.value, decoded, before, celconfig.RuntimeCELCostBudget)
	return found
}

// unknown lists fields that the schema does not have: a custom resource would lose them silently, a variable refuses them.
func (s *Schema) unknown(value any, path *field.Path) field.ErrorList {
	holder := map[string]any{variableField: value}
	track := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	var errs field.ErrorList
	for _, p := range pruning.PruneWithOptions(runtime.DeepCopyJSONValue(holder), s.around, false, track) {
		name := strings.TrimPrefix(strings.TrimPrefix(p, variableField), ".")
		errs = append(errs, field.Invalid(path, name, "the schema of the variable has no such field"))
	}
	return errs
}

func decode(value clusterv1.JSON) (any, error) {
	var out any
	if err := json.Unmarshal(value.Raw, &out); err != nil {
		return nil, fmt.Errorf("this is no JSON: %w", err)
	}
	return out, nil
}
