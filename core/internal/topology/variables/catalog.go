package variables

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	kubetypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Catalog is the variables of one class, ready to judge values of Clusters. It is safe for concurrent use.
type Catalog struct {
	class string
	known []variable
}

type variable struct {
	name     string
	required bool
	schema   *Schema
}

// NewCatalog compiles the variables of a class: those it defines itself, and those that extensions have told the class's controller.
func NewCatalog(class *clusterv1.ClusterClass) (*Catalog, error) {
	c := &Catalog{class: class.Name}
	add := func(name string, required bool, schema clusterv1.VariableSchema) error {
		compiled, err := Compile(schema.OpenAPIV3Schema)
		if err != nil {
			return fmt.Errorf("variable %s of class %s: %w", name, class.Name, err)
		}
		c.known = append(c.known, variable{name: name, required: required, schema: compiled})
		return nil
	}
	for _, v := range class.Spec.Variables {
		if err := add(v.Name, v.Required, v.Schema); err != nil {
			return nil, err
		}
	}
	for _, v := range class.Status.Variables {
		if c.find(v.Name) != nil || len(v.Definitions) == 0 || v.Definitions[0].From == clusterv1.VariableDefinitionFromInline {
			continue
		}
		if v.DefinitionsConflict != nil && *v.DefinitionsConflict {
			return nil, fmt.Errorf("variable %s of class %s is defined in different ways by %s", v.Name, class.Name, sources(v))
		}
		if err := add(v.Name, v.Definitions[0].Required, v.Definitions[0].Schema); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func sources(v clusterv1.ClusterClassVariableStatus) string {
	var out []string
	for _, d := range v.Definitions {
		out = append(out, d.From)
	}
	return strings.Join(out, ", ")
}

// FromExtensions says whether extensions define variables of a class.
func FromExtensions(class *clusterv1.ClusterClass) bool {
	return slices.ContainsFunc(class.Spec.Patches, func(p clusterv1.ClusterClassPatch) bool {
		return p.External != nil && p.External.DiscoverVariablesExtension != ""
	})
}

func (c *Catalog) find(name string) *variable {
	i := slices.IndexFunc(c.known, func(v variable) bool { return v.name == name })
	if i < 0 {
		return nil
	}
	return &c.known[i]
}

// Default fills the defaults of the class in: missing variables that have one are added, values get those of their fields. Overrides
// are completed but not added. What cannot be read is left for Validate to report.
func (c *Catalog) Default(topology *clusterv1.Topology) {
	for _, v := range c.known {
		i := slices.IndexFunc(topology.Variables, func(given clusterv1.ClusterVariable) bool { return given.Name == v.name })
		if i >= 0 {
			continue
		}
		if value, err := v.schema.Default(clusterv1.JSON{}); err == nil && !value.IsZero() {
			topology.Variables = append(topology.Variables, clusterv1.ClusterVariable{Name: v.name, Value: value})
		}
	}
	for _, l := range lists(topology, nil) {
		for _, given := range l.values {
			v := c.find(given.name)
			if v == nil {
				continue
			}
			if value, err := v.schema.Default(*given.value); err == nil {
				*given.value = value
			}
		}
	}
}

// list is one place of a topology that holds values.
type list struct {
	values   []entry
	override bool
	// group tells lists apart that belong to different parts of a topology.
	group string
	path  *field.Path
}

// entry is a value in its place.
type entry struct {
	name  string
	value *clusterv1.JSON
}

// lists are all places of a topology that hold values; path is that of the topology.
func lists(t *clusterv1.Topology, path *field.Path) []list {
	first := list{path: path.Child("variables")}
	for i := range t.Variables {
		first.values = append(first.values, entry{t.Variables[i].Name, &t.Variables[i].Value})
	}
	out := []list{first}
	add := func(o clusterv1.VariableOverrides, group string, at *field.Path) {
		l := list{override: true, group: group, path: at.Child("variables", "overrides")}
		for i := range o.Overrides {
			l.values = append(l.values, entry{o.Overrides[i].Name, &o.Overrides[i].Value})
		}
		out = append(out, l)
	}
	add(t.ControlPlane.Variables, "controlPlane", path.Child("controlPlane"))
	for i, g := range t.Workers.MachineDeployments {
		add(g.Variables, "machineDeployment "+g.Name, path.Child("workers", "machineDeployments").Index(i))
	}
	for i, g := range t.Workers.MachinePools {
		add(g.Variables, "machinePool "+g.Name, path.Child("workers", "machinePools").Index(i))
	}
	return out
}

// Validate judges the values of a topology whose defaults are filled in. Before is the topology as it was, for rules that compare
// with old values; nil for a new one. Path is that of the topology.
func (c *Catalog) Validate(ctx context.Context, topology, before *clusterv1.Topology, path *field.Path) field.ErrorList {
	old := map[string]clusterv1.JSON{}
	if before != nil {
		for _, l := range lists(before, nil) {
			for _, v := range l.values {
				old[l.group+"/"+v.name] = *v.value
			}
		}
	}
	var problems field.ErrorList
	for _, l := range lists(topology, path) {
		seen := map[string]bool{}
		for _, given := range l.values {
			at := l.path.Key(given.name)
			v := c.find(given.name)
			switch {
			case seen[given.name]:
				problems = append(problems, field.Duplicate(at, given.name))
			case v == nil:
				problems = append(problems, field.Invalid(at, given.name, c.unknown()))
			default:
				problems = append(problems, v.schema.Validate(ctx, *given.value, old[l.group+"/"+given.name], at.Child("value"))...)
			}
			seen[given.name] = true
		}
		if !l.override {
			problems = append(problems, c.missing(seen, l.path)...)
		}
	}
	return problems
}

func (c *Catalog) missing(given map[string]bool, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for _, v := range c.known {
		if v.required && !given[v.name] {
			problems = append(problems, field.Required(path.Key(v.name), "class "+c.class+" requires a value"))
		}
	}
	return problems
}

// unknown says which names would be right.
func (c *Catalog) unknown() string {
	if len(c.known) == 0 {
		return "class " + c.class + " has no variables"
	}
	const shown = 20
	var names []string
	for i, v := range c.known {
		if i == shown {
			names = append(names, fmt.Sprintf("and %d more", len(c.known)-shown))
			break
		}
		names = append(names, v.name)
	}
	return "class " + c.class + " has no variable of this name; it has " + strings.Join(names, ", ")
}

// Catalogs remembers the catalogs of classes, since compiling schemas takes milliseconds. The zero value is ready; it is safe for
// concurrent use.
type Catalogs struct {
	mu    sync.Mutex
	known map[kubetypes.UID]remembered
}

type remembered struct {
	version string
	catalog *Catalog
}

// mostCatalogs bounds the memory: classes that are gone are not told from those that are not used for a while.
const mostCatalogs = 500

// Of returns the catalog of a class.
func (c *Catalogs) Of(class *clusterv1.ClusterClass) (*Catalog, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have, ok := c.known[class.UID]; ok && class.UID != "" && have.version == class.ResourceVersion {
		return have.catalog, nil
	}
	catalog, err := NewCatalog(class)
	if err != nil {
		return nil, err
	}
	if c.known == nil || len(c.known) >= mostCatalogs {
		c.known = map[kubetypes.UID]remembered{}
	}
	c.known[class.UID] = remembered{class.ResourceVersion, catalog}
	return catalog, nil
}
