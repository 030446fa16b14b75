package desired

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/cloning"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
)

// owned are the labels of every object of a topology.
func (p *plan) owned(more ...map[string]string) map[string]string {
	own := map[string]string{clusterv1.ClusterNameLabel: p.Cluster.Name, clusterv1.ClusterTopologyOwnedLabel: ""}
	return labels.Merge(append(more, own)...)
}

func (p *plan) owner(controller bool) metav1.OwnerReference {
	gvk := clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)
	if controller {
		return ownership.ControllerReference(p.Cluster, gvk)
	}
	return ownership.Reference(p.Cluster, gvk)
}

func (p *plan) topology() (*Topology, error) {
	out := &Topology{}
	var err error
	if out.Infrastructure, err = p.infrastructure(); err != nil {
		return nil, err
	}
	if machine := p.template(patches.ControlPlaneMachine, p.controlPlaneName); machine != nil {
		out.ControlPlaneMachine = p.copyOf(machine, p.controlPlaneMachineName, nil)
	}
	if out.ControlPlane, err = p.controlPlane(out.ControlPlaneMachine); err != nil {
		return nil, err
	}
	out.ControlPlaneHealthCheck = p.controlPlaneHealthCheck()
	for _, d := range p.deployments {
		made, err := p.deployment(d)
		if err != nil {
			return nil, fmt.Errorf("machineDeployment %s: %w", d.topology.Name, err)
		}
		out.MachineDeployments = append(out.MachineDeployments, made)
	}
	for _, d := range p.pools {
		made, err := p.pool(d)
		if err != nil {
			return nil, fmt.Errorf("machinePool %s: %w", d.topology.Name, err)
		}
		out.MachinePools = append(out.MachinePools, made)
	}
	return out, nil
}

// instance makes an object from a template, owned by the Cluster.
func (p *plan) instance(template *unstructured.Unstructured, name string, more map[string]string, controller bool) (*unstructured.Unstructured, error) {
	owner := p.owner(controller)
	out, err := cloning.FromTemplate(cloning.Request{Template: template, Name: name, ClusterName: p.Cluster.Name, Owner: &owner, Labels: p.owned(more)})
	if err != nil {
		return nil, err
	}
	out.SetNamespace(p.Cluster.Namespace)
	return out, nil
}

func (p *plan) infrastructure() (*unstructured.Unstructured, error) {
	out, err := p.instance(p.template(patches.InfrastructureCluster, p.Cluster.Name), p.infrastructureName, nil, true)
	if err != nil {
		return nil, err
	}
	// The endpoint is what the provider finds out, even where a class has one by mistake: it would be that of all clusters.
	unstructured.RemoveNestedField(out.Object, "spec", "controlPlaneEndpoint")
	return out, nil
}

// copyOf is a template of the class for this cluster: same content, another name.
func (p *plan) copyOf(template *unstructured.Unstructured, name string, more map[string]string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion(template.GetAPIVersion())
	out.SetKind(template.GetKind())
	out.SetNamespace(p.Cluster.Namespace)
	out.SetName(name)
	out.SetLabels(p.owned(template.GetLabels(), more))
	annotations := maps.Clone(template.GetAnnotations())
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	out.SetAnnotations(labels.Merge(annotations, map[string]string{
		clusterv1.TemplateClonedFromNameAnnotation:      template.GetName(),
		clusterv1.TemplateClonedFromGroupKindAnnotation: template.GroupVersionKind().GroupKind().String(),
	}))
	out.SetOwnerReferences([]metav1.OwnerReference{p.owner(false)})
	if inner, found, _ := unstructured.NestedMap(template.Object, "spec", "template"); found {
		out.Object["spec"] = map[string]any{"template": inner}
	}
	return out
}

func (p *plan) controlPlane(machine *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	topology, class := p.Cluster.Spec.Topology.ControlPlane, p.Blueprint.Class.Spec.ControlPlane
	meta := mergedMeta(class.Metadata, topology.Metadata)
	out, err := p.instance(p.template(patches.ControlPlane, p.Cluster.Name), p.controlPlaneName, meta.Labels, true)
	if err != nil {
		return nil, err
	}
	out.SetAnnotations(labels.Merge(out.GetAnnotations(), meta.Annotations))
	set := setter{object: out}
	set.value(p.Versions.ControlPlane, "spec", "version")
	if topology.Replicas != nil {
		set.value(int64(*topology.Replicas), "spec", "replicas")
	}
	if !topology.Rollout.After.IsZero() {
		set.value(topology.Rollout.After.UTC().Format("2006-01-02T15:04:05Z"), "spec", "rollout", "after")
	}
	if machine == nil {
		return out, set.err
	}
	own := p.owned()
	set.merge(labels.Merge(meta.Labels, own), "spec", "machineTemplate", "metadata", "labels")
	set.merge(meta.Annotations, "spec", "machineTemplate", "metadata", "annotations")
	gvk := machine.GroupVersionKind()
	set.value(map[string]any{"apiGroup": gvk.Group, "kind": gvk.Kind, "name": machine.GetName()}, "spec", "machineTemplate", "spec", "infrastructureRef")
	set.convert(deletion(class.Deletion, topology.Deletion), "spec", "machineTemplate", "spec", "deletion")
	set.convert(either(topology.ReadinessGates, class.ReadinessGates), "spec", "machineTemplate", "spec", "readinessGates")
	set.convert(either(topology.Taints, class.Taints), "spec", "machineTemplate", "spec", "taints")
	return out, set.err
}

// setter writes fields and keeps the first error.
type setter struct {
	object *unstructured.Unstructured
	err    error
}

func (s *setter) value(value any, path ...string) {
	if err := unstructured.SetNestedField(s.object.Object, value, path...); err != nil && s.err == nil {
		s.err = fmt.Errorf("%s %s: setting %s: %w", s.object.GetKind(), s.object.GetName(), strings.Join(path, "."), err)
	}
}

// merge adds to a map of strings; what the template has under the same keys gives way.
func (s *setter) merge(values map[string]string, path ...string) {
	have, _, err := unstructured.NestedStringMap(s.object.Object, path...)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("%s %s: reading %s: %w", s.object.GetKind(), s.object.GetName(), strings.Join(path, "."), err)
		return
	}
	merged := map[string]any{}
	for k, v := range labels.Merge(have, values) {
		merged[k] = v
	}
	if len(merged) > 0 {
		s.value(merged, path...)
	}
}

// convert writes a typed value; empty ones are left out.
func (s *setter) convert(value any, path ...string) {
	raw, err := json.Marshal(value)
	if err != nil {
		s.err = err
		return
	}
	var out any
	if string(raw) == "null" || string(raw) == "{}" || string(raw) == "[]" {
		return
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		s.err = err
		return
	}
	s.value(integers(out), path...)
}

// integers turns whole floats into int64, the only number that unstructured objects copy.
func integers(v any) any {
	switch x := v.(type) {
	case float64:
		if x == float64(int64(x)) {
			return int64(x)
		}
	case map[string]any:
		for k := range x {
			x[k] = integers(x[k])
		}
	case []any:
		for i := range x {
			x[i] = integers(x[i])
		}
	}
	return v
}

// mergedMeta is the metadata of a class and of a topology, which wins.
func mergedMeta(class, topology clusterv1.ObjectMeta) clusterv1.ObjectMeta {
	return clusterv1.ObjectMeta{Labels: labels.Merge(class.Labels, topology.Labels), Annotations: labels.Merge(class.Annotations, topology.Annotations)}
}

func deletion(class, topology clusterv1.MachineDeletionSpec) clusterv1.MachineDeletionSpec {
	return clusterv1.MachineDeletionSpec{
		NodeDrainTimeoutSeconds:        first(topology.NodeDrainTimeoutSeconds, class.NodeDrainTimeoutSeconds),
		NodeVolumeDetachTimeoutSeconds: first(topology.NodeVolumeDetachTimeoutSeconds, class.NodeVolumeDetachTimeoutSeconds),
		NodeDeletionTimeoutSeconds:     first(topology.NodeDeletionTimeoutSeconds, class.NodeDeletionTimeoutSeconds),
	}
}

func first[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

func either[T any](a, b []T) []T {
	if a != nil {
		return a
	}
	return b
}

func withoutTemplate(kind string) string { return strings.TrimSuffix(kind, "Template") }
