package desired

import (
	"encoding/json"
	"maps"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
)

// values are those that all templates have.
func (p *plan) values() patches.Values {
	c := p.Cluster
	topology := c.Spec.Topology
	namespace := or(topology.ClassRef.Namespace, c.Namespace)
	b := hooks.Builtins{Cluster: &hooks.ClusterBuiltins{
		Name: c.Name, Namespace: c.Namespace, UID: c.UID, Metadata: &hooks.ObjectMeta{Labels: c.Labels, Annotations: withoutLastApplied(c.Annotations)},
		Topology: &hooks.ClusterTopologyBuiltins{
			Version: topology.Version, Class: topology.ClassRef.Name, ClassNamespace: namespace,
			ClassRef: hooks.ClusterTopologyClusterClassRefBuiltins{Name: topology.ClassRef.Name, Namespace: namespace},
		},
		Network: &hooks.ClusterNetworkBuiltins{Services: c.Spec.ClusterNetwork.Services.CIDRBlocks, Pods: c.Spec.ClusterNetwork.Pods.CIDRBlocks},
	}}
	if domain := c.Spec.ClusterNetwork.ServiceDomain; domain != "" {
		b.Cluster.Network.ServiceDomain = &domain
	}
	return with(p.Values, b)
}

// withoutLastApplied leaves out the copy of the whole object that kubectl keeps in an annotation.
func withoutLastApplied(annotations map[string]string) map[string]string {
	out := maps.Clone(annotations)
	delete(out, "kubectl.kubernetes.io/last-applied-configuration")
	return out
}

func (p *plan) controlPlaneValues() patches.Values {
	topology, class := p.Cluster.Spec.Topology.ControlPlane, p.Blueprint.Class.Spec.ControlPlane
	b := &hooks.ControlPlaneBuiltins{
		Version: p.Versions.ControlPlane, Name: p.controlPlaneName, Replicas: topology.Replicas,
		Metadata: builtinMeta(class.Metadata, topology.Metadata),
	}
	if p.Blueprint.ControlPlaneMachine != nil {
		b.MachineTemplate = &hooks.ControlPlaneMachineTemplateBuiltins{
			InfrastructureRef: hooks.ControlPlaneMachineTemplateInfrastructureRefBuiltins{Name: p.controlPlaneMachineName},
		}
	}
	return with(p.Overrides[Group{Kind: ControlPlaneGroup}], hooks.Builtins{ControlPlane: b})
}

func (p *plan) deploymentValues(d deploymentPlan) patches.Values {
	return with(p.Overrides[Group{MachineDeploymentGroup, d.topology.Name}], hooks.Builtins{MachineDeployment: &hooks.MachineDeploymentBuiltins{
		Version: d.version, Class: d.class.Class, Name: d.names.object, TopologyName: d.topology.Name, Replicas: wide(d.topology.Replicas),
		Metadata:          builtinMeta(d.class.Metadata, d.topology.Metadata),
		Bootstrap:         &hooks.MachineBootstrapBuiltins{ConfigRef: &hooks.MachineBootstrapConfigRefBuiltins{Name: d.names.bootstrap}},
		InfrastructureRef: &hooks.MachineInfrastructureRefBuiltins{Name: d.names.infrastructure},
	}})
}

func (p *plan) poolValues(d poolPlan) patches.Values {
	return with(p.Overrides[Group{MachinePoolGroup, d.topology.Name}], hooks.Builtins{MachinePool: &hooks.MachinePoolBuiltins{
		Version: d.version, Class: d.class.Class, Name: d.names.object, TopologyName: d.topology.Name, Replicas: wide(d.topology.Replicas),
		Metadata:          builtinMeta(d.class.Metadata, d.topology.Metadata),
		Bootstrap:         &hooks.MachineBootstrapBuiltins{ConfigRef: &hooks.MachineBootstrapConfigRefBuiltins{Name: d.names.bootstrap}},
		InfrastructureRef: &hooks.MachineInfrastructureRefBuiltins{Name: d.names.infrastructure},
	}})
}

func builtinMeta(class, topology clusterv1.ObjectMeta) *hooks.ObjectMeta {
	m := mergedMeta(class, topology)
	return &hooks.ObjectMeta{Labels: m.Labels, Annotations: m.Annotations}
}

func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	w := int64(*n)
	return &w
}

// with adds the variable that every cluster has.
func with(values patches.Values, b hooks.Builtins) patches.Values {
	out := maps.Clone(values)
	if out == nil {
		out = patches.Values{}
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return out // builtins hold nothing that cannot be encoded
	}
	out[hooks.BuiltinsName] = clusterv1.JSON{Raw: raw}
	return out
}
