package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
)

// schemas remembers the compiled schemas of classes: compiling takes milliseconds.
type schemas struct {
	mu      sync.Mutex
	classes map[types.UID]compiled
}

type compiled struct {
	version string
	schemas map[string]*variables.Schema
}

func (s *schemas) of(class *clusterv1.ClusterClass) (map[string]*variables.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, ok := s.classes[class.UID]; ok && have.version == versionOf(class) {
		return have.schemas, nil
	}
	known, err := definitions(class)
	if err != nil {
		return nil, err
	}
	out := map[string]*variables.Schema{}
	for _, v := range known {
		schema, err := variables.Compile(v.Schema.OpenAPIV3Schema)
		if err != nil {
			return nil, fmt.Errorf("variable %s of class %s: %w", v.Name, class.Name, err)
		}
		out[v.Name] = schema
	}
	if s.classes == nil {
		s.classes = map[types.UID]compiled{}
	}
	s.classes[class.UID] = compiled{versionOf(class), out}
	return out, nil
}

// versionOf tells versions of a class apart, with what extensions have added to it.
func versionOf(class *clusterv1.ClusterClass) string {
	return fmt.Sprintf("%d/%s", class.Generation, class.ResourceVersion)
}

// definitions are the variables of a class, those that its extensions define included.
func definitions(class *clusterv1.ClusterClass) ([]clusterv1.ClusterClassVariable, error) {
	out := slices.Clone(class.Spec.Variables)
	for _, v := range class.Status.Variables {
		if v.DefinitionsConflict != nil && *v.DefinitionsConflict {
			var from []string
			for _, d := range v.Definitions {
				from = append(from, d.From)
			}
			return nil, fmt.Errorf("variable %s of class %s is defined in different ways: by %s", v.Name, class.Name, strings.Join(from, ", "))
		}
		known := slices.ContainsFunc(out, func(have clusterv1.ClusterClassVariable) bool { return have.Name == v.Name })
		if !known && len(v.Definitions) > 0 && v.Definitions[0].From != clusterv1.VariableDefinitionFromInline {
			out = append(out, clusterv1.ClusterClassVariable{Name: v.Name, Required: v.Definitions[0].Required, Schema: v.Definitions[0].Schema})
		}
	}
	return out, nil
}

func (s *schemas) forget(class types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.classes, class)
}

// values are those of a Cluster, with the defaults of its class.
func values(ctx context.Context, class *clusterv1.ClusterClass, cluster *clusterv1.Cluster, known map[string]*variables.Schema) (patches.Values, error) {
	given := map[string]clusterv1.JSON{}
	path := field.NewPath("spec", "topology", "variables")
	for _, v := range cluster.Spec.Topology.Variables {
		if known[v.Name] == nil {
			return nil, fmt.Errorf("%s: class %s has no variable of this name", path.Key(v.Name), class.Name)
		}
		given[v.Name] = v.Value
	}
	all, err := definitions(class)
	if err != nil {
		return nil, err
	}
	out := patches.Values{}
	for _, definition := range all {
		value, err := complete(ctx, known[definition.Name], given[definition.Name], path.Key(definition.Name))
		if err != nil {
			return nil, err
		}
		switch {
		case !value.IsZero():
			out[definition.Name] = value
		case definition.Required:
			return nil, fmt.Errorf("%s: class %s requires a value", path.Key(definition.Name), class.Name)
		}
	}
	return out, nil
}

// complete fills defaults in and judges the result; an absent value without default stays absent.
func complete(ctx context.Context, schema *variables.Schema, value clusterv1.JSON, path *field.Path) (clusterv1.JSON, error) {
	value, err := schema.Default(value)
	if err != nil {
		return value, fmt.Errorf("%s: %w", path, err)
	}
	if value.IsZero() {
		return value, nil
	}
	return value, schema.Validate(ctx, value, clusterv1.JSON{}, path).ToAggregate()
}

// overrides are the values that the control plane and worker groups have of their own.
func overrides(ctx context.Context, class *clusterv1.ClusterClass, cluster *clusterv1.Cluster, known map[string]*variables.Schema) (map[desired.Group]patches.Values, error) {
	out := map[desired.Group]patches.Values{}
	add := func(group desired.Group, o clusterv1.VariableOverrides, path *field.Path) error {
		for _, v := range o.Overrides {
			at := path.Child("variables", "overrides").Key(v.Name)
			if known[v.Name] == nil {
				return fmt.Errorf("%s: class %s has no variable of this name", at, class.Name)
			}
			value, err := complete(ctx, known[v.Name], v.Value, at)
			if err != nil {
				return err
			}
			if out[group] == nil {
				out[group] = patches.Values{}
			}
			out[group][v.Name] = value
		}
		return nil
	}
	topology, path := cluster.Spec.Topology, field.NewPath("spec", "topology")
	if err := add(desired.Group{Kind: desired.ControlPlaneGroup}, topology.ControlPlane.Variables, path.Child("controlPlane")); err != nil {
		return nil, err
	}
	for i, g := range topology.Workers.MachineDeployments {
		if err := add(desired.Group{Kind: desired.MachineDeploymentGroup, Name: g.Name}, g.Variables, path.Child("workers", "machineDeployments").Index(i)); err != nil {
			return nil, err
		}
	}
	for i, g := range topology.Workers.MachinePools {
		if err := add(desired.Group{Kind: desired.MachinePoolGroup, Name: g.Name}, g.Variables, path.Child("workers", "machinePools").Index(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
