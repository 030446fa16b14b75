package desired

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/core/internal/topology/naming"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
)

// Compute returns the objects as they should be. Objects and templates that exist keep their names; whether a template must be
// replaced by one of a new name is up to the caller, who can compare.
func Compute(ctx context.Context, w World) (*Topology, error) {
	p, err := newPlan(w)
	if err != nil {
		return nil, err
	}
	patched, err := patches.Apply(ctx, w.Blueprint.Class.Spec.Patches, p.values(), p.templates, w.Extensions)
	if err != nil {
		return nil, err
	}
	p.templates = patched
	return p.topology()
}

// plan is what is settled before templates are patched: names, versions and which template is for what.
type plan struct {
	World
	infrastructureName, controlPlaneName, controlPlaneMachineName string
	deployments                                                   []deploymentPlan
	pools                                                         []poolPlan
	templates                                                     []patches.Template
}

type workerNames struct{ object, bootstrap, infrastructure string }

type deploymentPlan struct {
	topology clusterv1.MachineDeploymentTopology
	class    clusterv1.MachineDeploymentClass
	names    workerNames
	version  string
}

type poolPlan struct {
	topology clusterv1.MachinePoolTopology
	class    clusterv1.MachinePoolClass
	names    workerNames
	version  string
}

func newPlan(w World) (*plan, error) {
	p := &plan{World: w}
	class := w.Blueprint.Class.Spec
	var err error
	p.infrastructureName, err = p.objectName(w.Current.Infrastructure, or(class.Infrastructure.Naming.Template, naming.Infrastructure), "Infrastructure")
	if err != nil {
		return nil, err
	}
	p.controlPlaneName, err = p.objectName(w.Current.ControlPlane, or(class.ControlPlane.Naming.Template, naming.ControlPlane), "ControlPlane")
	if err != nil {
		return nil, err
	}
	p.controlPlaneMachineName = p.templateName(w.Current.ControlPlaneMachine, p.controlPlaneName, patches.ControlPlaneMachine)
	if err := p.planDeployments(); err != nil {
		return nil, err
	}
	if err := p.planPools(); err != nil {
		return nil, err
	}
	p.collect()
	return p, nil
}

func (p *plan) objectName(existing *unstructured.Unstructured, text, purpose string) (string, error) {
	if existing != nil {
		return existing.GetName(), nil
	}
	name, err := naming.Render(text, naming.Data{Cluster: p.Cluster.Name, Random: p.Suffix(purpose)})
	if err != nil {
		return "", fmt.Errorf("naming template of the class: %w", err)
	}
	return name, nil
}

func (p *plan) templateName(existing *unstructured.Unstructured, holder string, role patches.Role) string {
	if existing != nil {
		return existing.GetName()
	}
	return holder + "-" + p.Suffix(string(role)+"/"+holder)
}

func (p *plan) planDeployments() error {
	for _, t := range p.Cluster.Spec.Topology.Workers.MachineDeployments {
		version, ok := p.Versions.MachineDeployments.Versions[t.Name]
		if !ok {
			continue // not to be created yet
		}
		classes := p.Blueprint.Class.Spec.Workers.MachineDeployments
		i := slices.IndexFunc(classes, func(c clusterv1.MachineDeploymentClass) bool { return c.Class == t.Class })
		if i < 0 {
			return fmt.Errorf("machineDeployment %s: class %s has no worker class %q", t.Name, p.Blueprint.Class.Name, t.Class)
		}
		d := deploymentPlan{topology: t, class: classes[i], version: version}
		current := p.Current.MachineDeployments[t.Name]
		have := objects{bootstrap: current.Bootstrap, infrastructure: current.Infrastructure}
		if current.Object != nil {
			have.name = current.Object.Name
		}
		var err error
		d.names, err = p.workerNames(have, or(d.class.Naming.Template, naming.MachineDeployment), naming.Data{MachineDeployment: t.Name},
			[2]patches.Role{patches.MachineDeploymentBootstrap, patches.MachineDeploymentInfrastructure})
		if err != nil {
			return fmt.Errorf("machineDeployment %s: naming template of the class: %w", t.Name, err)
		}
		p.deployments = append(p.deployments, d)
	}
	return nil
}

func (p *plan) planPools() error {
	for _, t := range p.Cluster.Spec.Topology.Workers.MachinePools {
		version, ok := p.Versions.MachinePools.Versions[t.Name]
		if !ok {
			continue
		}
		classes := p.Blueprint.Class.Spec.Workers.MachinePools
		i := slices.IndexFunc(classes, func(c clusterv1.MachinePoolClass) bool { return c.Class == t.Class })
		if i < 0 {
			return fmt.Errorf("machinePool %s: class %s has no worker class %q", t.Name, p.Blueprint.Class.Name, t.Class)
		}
		d := poolPlan{topology: t, class: classes[i], version: version}
		current := p.Current.MachinePools[t.Name]
		have := objects{bootstrap: current.Bootstrap, infrastructure: current.Infrastructure}
		if current.Object != nil {
			have.name = current.Object.Name
		}
		var err error
		d.names, err = p.workerNames(have, or(d.class.Naming.Template, naming.MachinePool), naming.Data{MachinePool: t.Name},
			[2]patches.Role{patches.MachinePoolBootstrap, patches.MachinePoolInfrastructure})
		if err != nil {
			return fmt.Errorf("machinePool %s: naming template of the class: %w", t.Name, err)
		}
		p.pools = append(p.pools, d)
	}
	return nil
}

// objects are those of a worker group that exist.
type objects struct {
	name                      string
	bootstrap, infrastructure *unstructured.Unstructured
}

func (p *plan) workerNames(have objects, text string, data naming.Data, roles [2]patches.Role) (workerNames, error) {
	n := workerNames{object: have.name}
	if have.name == "" {
		data.Cluster, data.Random = p.Cluster.Name, p.Suffix(string(roles[0])+"/"+data.MachineDeployment+data.MachinePool)
		var err error
		if n.object, err = naming.Render(text, data); err != nil {
			return n, err
		}
	}
	n.bootstrap, n.infrastructure = p.templateName(have.bootstrap, n.object, roles[0]), p.templateName(have.infrastructure, n.object, roles[1])
	return n, nil
}

// collect lists the templates with the values that each has of its own.
func (p *plan) collect() {
	core := clusterv1.GroupVersion.String()
	holder := func(kind, name, path string) hooks.HolderReference {
		return hooks.HolderReference{APIVersion: core, Kind: kind, Namespace: p.Cluster.Namespace, Name: name, FieldPath: path}
	}
	add := func(role patches.Role, class string, object *unstructured.Unstructured, h hooks.HolderReference, values patches.Values) {
		if object == nil {
			return
		}
		uid := types.UID(fmt.Sprintf("%s/%s", role, h.Name))
		p.templates = append(p.templates, patches.Template{UID: uid, Role: role, Class: class, Object: object, Holder: h, Values: values})
	}
	add(patches.InfrastructureCluster, "", p.Blueprint.Infrastructure, holder("Cluster", p.Cluster.Name, "spec.infrastructureRef"), nil)
	values := p.controlPlaneValues()
	add(patches.ControlPlane, "", p.Blueprint.ControlPlane, holder("Cluster", p.Cluster.Name, "spec.controlPlaneRef"), values)
	controlPlane := holder("", p.controlPlaneName, "spec.machineTemplate.spec.infrastructureRef")
	gvk := schema.FromAPIVersionAndKind(p.Blueprint.ControlPlane.GetAPIVersion(), withoutTemplate(p.Blueprint.ControlPlane.GetKind()))
	controlPlane.APIVersion, controlPlane.Kind = gvk.GroupVersion().String(), gvk.Kind
	add(patches.ControlPlaneMachine, "", p.Blueprint.ControlPlaneMachine, controlPlane, values)
	for _, d := range p.deployments {
		t := p.Blueprint.MachineDeployments[d.class.Class]
		values := p.deploymentValues(d)
		add(patches.MachineDeploymentBootstrap, d.class.Class, t.Bootstrap, holder("MachineDeployment", d.names.object, "spec.template.spec.bootstrap.configRef"), values)
		add(patches.MachineDeploymentInfrastructure, d.class.Class, t.Infrastructure, holder("MachineDeployment", d.names.object, "spec.template.spec.infrastructureRef"), values)
	}
	for _, d := range p.pools {
		t := p.Blueprint.MachinePools[d.class.Class]
		values := p.poolValues(d)
		add(patches.MachinePoolBootstrap, d.class.Class, t.Bootstrap, holder("MachinePool", d.names.object, "spec.template.spec.bootstrap.configRef"), values)
		add(patches.MachinePoolInfrastructure, d.class.Class, t.Infrastructure, holder("MachinePool", d.names.object, "spec.template.spec.infrastructureRef"), values)
	}
}

// template returns the patched template of a role and holder.
func (p *plan) template(role patches.Role, holder string) *unstructured.Unstructured {
	for _, t := range p.templates {
		if t.Role == role && t.Holder.Name == holder {
			return t.Object
		}
	}
	return nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
