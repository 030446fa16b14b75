package paths

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Schemas are those of kinds of templates. Kinds that are not in it are not judged.
type Schemas map[schema.GroupVersionKind]*structuralschema.Structural

// Of reads the schema that a definition has for a version of its kind. It is nil for a definition that lets everything pass.
func Of(crd *apiextensionsv1.CustomResourceDefinition, version string) (*structuralschema.Structural, error) {
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version && v.Served })
	if i < 0 {
		return nil, fmt.Errorf("CustomResourceDefinition %s serves no version %s; it serves %s", crd.Name, version, served(crd))
	}
	v := crd.Spec.Versions[i]
	if crd.Spec.PreserveUnknownFields || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, fmt.Errorf("reading the schema of CustomResourceDefinition %s: %w", crd.Name, err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of CustomResourceDefinition %s: %w", crd.Name, err)
	}
	return structural, nil
}

func served(crd *apiextensionsv1.CustomResourceDefinition) string {
	var names []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Kinds are those that the patches of a class change, each once, in their order.
func Kinds(patches []clusterv1.ClusterClassPatch) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, p := range patches {
		for _, d := range p.Definitions {
			if gvk := kindOf(d.Selector); !slices.Contains(out, gvk) {
				out = append(out, gvk)
			}
		}
	}
	return out
}

func kindOf(s clusterv1.PatchSelector) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(s.APIVersion, s.Kind)
}
