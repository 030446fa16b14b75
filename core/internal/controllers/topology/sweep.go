package topology

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
)

// sweep notes what is no longer part of the topology. Groups that may not be created yet are still part of it.
func (d *Decision) sweep(w World, t *desired.Topology) {
	workers := w.Cluster.Spec.Topology.Workers
	for _, name := range sortedNames(w.Current.MachineDeployments) {
		if !slices.ContainsFunc(workers.MachineDeployments, func(m clusterv1.MachineDeploymentTopology) bool { return m.Name == name }) {
			d.remove(toUnstructured(w.Current.MachineDeployments[name].Object, false), "the topology has no MachineDeployment "+name+" any more")
		}
	}
	for _, name := range sortedNames(w.Current.MachinePools) {
		if !slices.ContainsFunc(workers.MachinePools, func(m clusterv1.MachinePoolTopology) bool { return m.Name == name }) {
			d.remove(toUnstructured(w.Current.MachinePools[name].Object, false), "the topology has no MachinePool "+name+" any more")
		}
	}
	checks := map[string]bool{}
	if t.ControlPlaneHealthCheck != nil {
		checks[t.ControlPlaneHealthCheck.Name] = true
	}
	for _, g := range t.MachineDeployments {
		if g.HealthCheck != nil {
			checks[g.HealthCheck.Name] = true
		}
	}
	for _, h := range w.HealthChecks {
		if !checks[h.Name] {
			d.remove(toUnstructured(h, false), "the topology wants no such health check any more")
		}
	}
	needed := w.needed(t)
	for _, template := range w.Templates {
		if !needed[keyOf(template)] {
			d.remove(template, "no MachineSet and no control plane refers to it any more")
		}
	}
}

func (d *Decision) remove(o *unstructured.Unstructured, because string) {
	if o != nil && o.GetDeletionTimestamp() == nil {
		d.Actions = append(d.Actions, Delete{Object: o, Because: because})
	}
}

type templateKey struct{ kind, name string }

func keyOf(o *unstructured.Unstructured) templateKey { return templateKey{o.GetKind(), o.GetName()} }

func keyOfRef(ref clusterv1.ContractVersionedObjectReference) templateKey {
	return templateKey{ref.Kind, ref.Name}
}

// needed are the templates in use: those wanted now, those that the objects as they are refer to, and those of older MachineSets.
func (w World) needed(t *desired.Topology) map[templateKey]bool {
	needed := map[templateKey]bool{}
	for _, o := range []*unstructured.Unstructured{t.ControlPlaneMachine, w.Current.ControlPlaneMachine} {
		if o != nil {
			needed[keyOf(o)] = true
		}
	}
	for _, g := range t.MachineDeployments {
		needed[keyOf(g.Bootstrap)], needed[keyOf(g.Infrastructure)] = true, true
	}
	for _, g := range w.Current.MachineDeployments {
		spec := g.Object.Spec.Template.Spec
		needed[keyOfRef(spec.Bootstrap.ConfigRef)], needed[keyOfRef(spec.InfrastructureRef)] = true, true
	}
	for _, s := range w.Sets {
		spec := s.Spec.Template.Spec
		needed[keyOfRef(spec.Bootstrap.ConfigRef)], needed[keyOfRef(spec.InfrastructureRef)] = true, true
	}
	return needed
}
