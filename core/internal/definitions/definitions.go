// Package definitions does with objects, outside of an API server, what one does that has their CustomResourceDefinitions: it fills
// in the defaults, and says which fields do not exist and which values are not allowed.
package definitions

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Set is the kinds that are defined. It is safe for concurrent use once it is made.
type Set map[schema.GroupVersionKind]*kind

// kind is one version of a kind. What judges objects takes long to compile and is made when it is asked for.
type kind struct {
	schema *structuralschema.Structural
	judge  func() (*judge, error)
}

type judge struct {
	validator apiservervalidation.SchemaValidator
	rules     *cel.Validator
}

// New reads definitions.
func New(crds []*apiextensionsv1.CustomResourceDefinition) (Set, error) {
	out := Set{}
	for _, crd := range crds {
		for _, v := range crd.Spec.Versions {
			if !v.Served || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil || crd.Spec.PreserveUnknownFields {
				continue
			}
			k, err := read(v.Schema.OpenAPIV3Schema)
			if err != nil {
				return nil, fmt.Errorf("reading the schema of CustomResourceDefinition %s: %w", crd.Name, err)
			}
			out[schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}] = k
		}
	}
	return out, nil
}

func read(props *apiextensionsv1.JSONSchemaProps) (*kind, error) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	return &kind{schema: structural, judge: sync.OnceValues(func() (*judge, error) {
		validator, _, err := apiservervalidation.NewSchemaValidator(&internal)
		if err != nil {
			return nil, err
		}
		return &judge{validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
	})}, nil
}

// Schemas are the schemas of all kinds.
func (s Set) Schemas() map[schema.GroupVersionKind]*structuralschema.Structural {
	out := map[schema.GroupVersionKind]*structuralschema.Structural{}
	for gvk, k := range s {
		out[gvk] = k.schema
	}
	return out
}

// Default is an object with the defaults of its kind; the object itself where its kind is not defined.
func (s Set) Default(o *unstructured.Unstructured) *unstructured.Unstructured {
	k, ok := s[o.GroupVersionKind()]
	if !ok {
		return o
	}
	out := o.DeepCopy()
	defaulting.PruneNonNullableNullsWithoutDefaults(out.Object, k.schema)
	defaulting.Default(out.Object, k.schema)
	return out
}

// Validate says why an API server would refuse an object, or drop fields of it. Kinds that are not defined pass.
func (s Set) Validate(ctx context.Context, o *unstructured.Unstructured) field.ErrorList {
	k, ok := s[o.GroupVersionKind()]
	if !ok {
		return nil
	}
	j, err := k.judge()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("reading the schema of %s: %w", o.GetKind(), err))}
	}
	problems := apiservervalidation.ValidateCustomResource(nil, o.Object, j.validator)
	track := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(runtime.DeepCopyJSON(o.Object), k.schema, true, track) {
		problems = append(problems, field.Forbidden(field.NewPath(path), "the kind has no such field"))
	}
	if len(problems) > 0 {
		return problems // rules may rely on the types
	}
	found, _ := j.rules.Validate(ctx, nil, k.schema, o.Object, nil, celconfig.RuntimeCELCostBudget)
	return found
}
