package desired

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// Blueprint is the class with the templates that it refers to.
type Blueprint struct {
	Class *clusterv1.ClusterClass
	// ControlPlaneMachine is nil for control planes without machines.
	Infrastructure, ControlPlane, ControlPlaneMachine *unstructured.Unstructured
	// MachineDeployments and MachinePools are by the names of worker classes, those that the Cluster uses.
	MachineDeployments, MachinePools map[string]WorkerTemplates
}

// WorkerTemplates are the templates of a worker class.
type WorkerTemplates struct{ Bootstrap, Infrastructure *unstructured.Unstructured }

// Current is what exists of the topology. Worker groups are by their names in the topology.
type Current struct {
	Infrastructure, ControlPlane, ControlPlaneMachine *unstructured.Unstructured
	MachineDeployments                                map[string]CurrentDeployment
	MachinePools                                      map[string]CurrentPool
}

// CurrentDeployment is a MachineDeployment that exists; its templates may be nil while they are not found.
type CurrentDeployment struct {
	Object                    *clusterv1.MachineDeployment
	Bootstrap, Infrastructure *unstructured.Unstructured
}

// CurrentPool is a MachinePool that exists.
type CurrentPool struct {
	Object                    *clusterv1.MachinePool
	Bootstrap, Infrastructure *unstructured.Unstructured
}

// World is all that the objects are computed from.
type World struct {
	Cluster   *clusterv1.Cluster
	Blueprint Blueprint
	Current   Current
	Versions  upgrade.Decision
	// Values are those of the cluster's variables, defaults included.
	Values patches.Values
	// Overrides are those of worker groups and of the control plane, defaults included. Groups are by kind and name.
	Overrides map[Group]patches.Values
	// Extensions are behind external patches; nil where extensions are off.
	Extensions patches.Extensions
	// Suffix makes the five characters that end the name of a new object, always the same for one purpose: who is interrupted
	// after creating an object finds it again by its name.
	Suffix func(purpose string) string
}

// Group names the control plane or a worker group.
type Group struct {
	// Kind is ControlPlane, MachineDeployment or MachinePool.
	Kind, Name string
}

// Kinds of groups.
const (
	ControlPlaneGroup      = "ControlPlane"
	MachineDeploymentGroup = "MachineDeployment"
	MachinePoolGroup       = "MachinePool"
)

// Topology is the objects as they should be.
type Topology struct {
	Infrastructure, ControlPlane *unstructured.Unstructured
	// ControlPlaneMachine is a template; nil for control planes without machines.
	ControlPlaneMachine     *unstructured.Unstructured
	ControlPlaneHealthCheck *clusterv1.MachineHealthCheck
	MachineDeployments      []Deployment
	MachinePools            []Pool
}

// Copy is a topology that can be changed without changing this one.
func (t *Topology) Copy() *Topology {
	out := &Topology{
		Infrastructure: t.Infrastructure.DeepCopy(), ControlPlane: t.ControlPlane.DeepCopy(), ControlPlaneMachine: t.ControlPlaneMachine.DeepCopy(),
		ControlPlaneHealthCheck: t.ControlPlaneHealthCheck.DeepCopy(),
	}
	for _, g := range t.MachineDeployments {
		out.MachineDeployments = append(out.MachineDeployments, Deployment{
			Name: g.Name, Object: g.Object.DeepCopy(), Bootstrap: g.Bootstrap.DeepCopy(), Infrastructure: g.Infrastructure.DeepCopy(), HealthCheck: g.HealthCheck.DeepCopy(),
		})
	}
	for _, g := range t.MachinePools {
		out.MachinePools = append(out.MachinePools, Pool{Name: g.Name, Object: g.Object.DeepCopy(), Bootstrap: g.Bootstrap.DeepCopy(), Infrastructure: g.Infrastructure.DeepCopy()})
	}
	return out
}

// Deployment is one worker group as a MachineDeployment. Bootstrap and Infrastructure are templates.
type Deployment struct {
	Name                      string
	Object                    *clusterv1.MachineDeployment
	Bootstrap, Infrastructure *unstructured.Unstructured
	HealthCheck               *clusterv1.MachineHealthCheck
}

// Pool is one worker group as a MachinePool. Bootstrap and Infrastructure are no templates: a pool has one of each.
type Pool struct {
	Name                      string
	Object                    *clusterv1.MachinePool
	Bootstrap, Infrastructure *unstructured.Unstructured
}
