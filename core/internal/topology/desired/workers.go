package desired

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
)

func referenceTo(o *unstructured.Unstructured) clusterv1.ContractVersionedObjectReference {
	gvk := o.GroupVersionKind()
	return clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: o.GetName()}
}

func (p *plan) deployment(d deploymentPlan) (Deployment, error) {
	group := map[string]string{clusterv1.ClusterTopologyMachineDeploymentNameLabel: d.topology.Name}
	out := Deployment{
		Name:           d.topology.Name,
		Bootstrap:      p.copyOf(p.template(patches.MachineDeploymentBootstrap, d.names.object), d.names.bootstrap, group),
		Infrastructure: p.copyOf(p.template(patches.MachineDeploymentInfrastructure, d.names.object), d.names.infrastructure, group),
	}
	meta := mergedMeta(d.class.Metadata, d.topology.Metadata)
	md := &clusterv1.MachineDeployment{}
	md.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineDeployment"))
	md.Namespace, md.Name = p.Cluster.Namespace, d.names.object
	md.Labels, md.Annotations = p.owned(meta.Labels, group), meta.Annotations
	md.OwnerReferences = []metav1.OwnerReference{p.owner(false)}
	md.Spec.ClusterName = p.Cluster.Name
	md.Spec.Replicas = d.topology.Replicas
	md.Spec.Selector.MatchLabels = p.owned(group)
	md.Spec.Rollout = d.topology.Rollout
	if md.Spec.Rollout.Strategy == (clusterv1.MachineDeploymentRolloutStrategy{}) {
		md.Spec.Rollout.Strategy = d.class.Rollout.Strategy
	}
	md.Spec.Deletion.Order = or(d.topology.Deletion.Order, d.class.Deletion.Order)
	md.Spec.Remediation.MaxInFlight = first(d.topology.HealthCheck.Remediation.MaxInFlight, d.class.HealthCheck.Remediation.MaxInFlight)
	md.Spec.Template = p.machineTemplate(meta, group, d.version, out.Bootstrap, out.Infrastructure)
	spec := &md.Spec.Template.Spec
	spec.FailureDomain = or(d.topology.FailureDomain, d.class.FailureDomain)
	spec.MinReadySeconds = first(d.topology.MinReadySeconds, d.class.MinReadySeconds)
	spec.ReadinessGates = gates(either(d.topology.ReadinessGates, d.class.ReadinessGates))
	spec.Taints = either(d.topology.Taints, d.class.Taints)
	spec.Deletion = deletion(timeouts(d.class.Deletion), timeouts(d.topology.Deletion))
	out.Object = md
	out.HealthCheck = p.deploymentHealthCheck(d, group)
	return out, nil
}

func timeouts(d clusterv1.MachineDeploymentTopologyDeletion) clusterv1.MachineDeletionSpec {
	return clusterv1.MachineDeletionSpec{
		NodeDrainTimeoutSeconds: d.NodeDrainTimeoutSeconds, NodeVolumeDetachTimeoutSeconds: d.NodeVolumeDetachTimeoutSeconds,
		NodeDeletionTimeoutSeconds: d.NodeDeletionTimeoutSeconds,
	}
}

func gates(in []clusterv1.ClusterAvailabilityGate) []clusterv1.MachineReadinessGate {
	var out []clusterv1.MachineReadinessGate
	for _, g := range in {
		out = append(out, clusterv1.MachineReadinessGate(g))
	}
	return out
}

func (p *plan) machineTemplate(meta clusterv1.ObjectMeta, group map[string]string, version string, bootstrap, infrastructure *unstructured.Unstructured) clusterv1.MachineTemplateSpec {
	out := clusterv1.MachineTemplateSpec{}
	out.Metadata = clusterv1.ObjectMeta{Labels: p.owned(meta.Labels, group), Annotations: meta.Annotations}
	out.Spec.ClusterName, out.Spec.Version = p.Cluster.Name, version
	out.Spec.Bootstrap.ConfigRef = referenceTo(bootstrap)
	out.Spec.InfrastructureRef = referenceTo(infrastructure)
	return out
}

func (p *plan) pool(d poolPlan) (Pool, error) {
	group := map[string]string{clusterv1.ClusterTopologyMachinePoolNameLabel: d.topology.Name}
	out := Pool{Name: d.topology.Name}
	var err error
	if out.Bootstrap, err = p.instance(p.template(patches.MachinePoolBootstrap, d.names.object), d.names.bootstrap, group, false); err != nil {
		return out, err
	}
	if out.Infrastructure, err = p.instance(p.template(patches.MachinePoolInfrastructure, d.names.object), d.names.infrastructure, group, false); err != nil {
		return out, err
	}
	meta := mergedMeta(d.class.Metadata, d.topology.Metadata)
	pool := &clusterv1.MachinePool{}
	pool.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachinePool"))
	pool.Namespace, pool.Name = p.Cluster.Namespace, d.names.object
	pool.Labels, pool.Annotations = p.owned(meta.Labels, group), meta.Annotations
	pool.OwnerReferences = []metav1.OwnerReference{p.owner(false)}
	pool.Spec.ClusterName, pool.Spec.Replicas = p.Cluster.Name, d.topology.Replicas
	pool.Spec.FailureDomains = either(d.topology.FailureDomains, d.class.FailureDomains)
	pool.Spec.Template = p.machineTemplate(meta, group, d.version, out.Bootstrap, out.Infrastructure)
	pool.Spec.Template.Spec.MinReadySeconds = first(d.topology.MinReadySeconds, d.class.MinReadySeconds)
	pool.Spec.Template.Spec.Deletion = deletion(d.class.Deletion, d.topology.Deletion)
	pool.Spec.Template.Spec.Taints = either(d.topology.Taints, d.class.Taints)
	out.Object = pool
	return out, nil
}

// controlPlaneHealthCheck is nil where none is wanted.
func (p *plan) controlPlaneHealthCheck() *clusterv1.MachineHealthCheck {
	topology, class := p.Cluster.Spec.Topology.ControlPlane.HealthCheck, p.Blueprint.Class.Spec.ControlPlane.HealthCheck
	if p.Blueprint.ControlPlaneMachine == nil || !wanted(topology.Enabled, topology.Checks.Any() || class.Checks.Any()) {
		return nil
	}
	checks, remediation := class.Checks, class.Remediation
	if topology.Checks.Any() {
		checks, remediation = topology.Checks, topology.Remediation
	}
	out := p.healthCheck(p.controlPlaneName, map[string]string{clusterv1.MachineControlPlaneLabel: ""}, checks)
	out.Spec.Remediation = remediation
	return out
}

func (p *plan) deploymentHealthCheck(d deploymentPlan, group map[string]string) *clusterv1.MachineHealthCheck {
	topology, class := d.topology.HealthCheck, d.class.HealthCheck
	if !wanted(topology.Enabled, topology.Checks.Any() || class.Checks.Any()) {
		return nil
	}
	checks, remediation := class.Checks, class.Remediation
	if topology.Checks.Any() {
		checks, remediation = topology.Checks, topology.Remediation
	}
	out := p.healthCheck(d.names.object, group, checks)
	out.Spec.Remediation = clusterv1.MachineHealthCheckRemediation{TemplateRef: remediation.TemplateRef, TriggerIf: remediation.TriggerIf}
	return out
}

func wanted(enabled *bool, checks bool) bool { return checks && (enabled == nil || *enabled) }

func (p *plan) healthCheck(name string, selector map[string]string, checks clusterv1.MachineHealthCheckChecks) *clusterv1.MachineHealthCheck {
	out := &clusterv1.MachineHealthCheck{}
	out.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineHealthCheck"))
	out.Namespace, out.Name, out.Labels = p.Cluster.Namespace, name, p.owned()
	out.OwnerReferences = []metav1.OwnerReference{p.owner(false)}
	out.Spec.ClusterName = p.Cluster.Name
	out.Spec.Selector.MatchLabels = labels.Merge(selector, map[string]string{clusterv1.ClusterTopologyOwnedLabel: ""})
	out.Spec.Checks = checks
	return out
}
