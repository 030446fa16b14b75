package topology

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
	"github.com/slipway-capi/slipway/core/internal/topology/intent"
)

// Decide says what to do about the topology of a Cluster. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{}
	if !w.Cluster.DeletionTimestamp.IsZero() {
		return d.deletion(w)
	}
	if w.Err != nil {
		return d.fail(w.Err)
	}
	if w.Class == nil {
		return d.hold(clusterv1.ClusterTopologyReconciledClusterClassNotReconciledReason,
			fmt.Sprintf("ClusterClass %s does not exist", classref.Text(w.Cluster)))
	}
	if w.Class.Status.ObservedGeneration != w.Class.Generation {
		return d.hold(clusterv1.ClusterTopologyReconciledClusterClassNotReconciledReason,
			fmt.Sprintf("ClusterClass %s has changed and is not yet reconciled", classref.Text(w.Cluster)))
	}
	if w.Lifecycle.HoldCreation {
		d.blocked(w.Lifecycle)
		return d
	}
	topology := w.Topology.Copy() // templates that differ get other names
	if err := d.compare(w, topology); err != nil {
		return d.fail(err)
	}
	d.sweep(w, topology)
	d.note(w)
	condition := describe(w, w.Versions)
	d.Condition = &condition
	d.Plans = plansOf(w)
	if len(w.Lifecycle.Waits) > 0 {
		d.blocked(w.Lifecycle)
	}
	return d
}

// deletion lets a Cluster go when nobody has anything against it.
func (d Decision) deletion(w World) Decision {
	_, given := w.Cluster.Annotations[runtimev1.OkToDeleteAnnotation]
	switch {
	case !w.ConsentBeforeDelete || given:
	case w.Err != nil:
		return d.fail(w.Err)
	case len(w.Lifecycle.Waits) > 0:
		d.blocked(w.Lifecycle)
	default:
		d.Actions = append(d.Actions, Consent{})
	}
	return d
}

// fail reports what the user must mend. It is an error, too, so that it is tried again, each time later.
func (d Decision) fail(err error) Decision {
	d.Condition = condition(metav1.ConditionFalse, clusterv1.ClusterTopologyReconciledFailedReason, err.Error())
	d.Err = err
	return d
}

// hold waits for something that a watch reports.
func (d Decision) hold(reason, message string) Decision {
	d.Condition = condition(metav1.ConditionFalse, reason, message)
	return d
}

func condition(status metav1.ConditionStatus, reason, message string) *metav1.Condition {
	return &metav1.Condition{Type: clusterv1.ClusterTopologyReconciledCondition, Status: status, Reason: reason, Message: message}
}

// compare lists what must be applied, in the order in which one object needs the other.
func (d *Decision) compare(w World, t *desired.Topology) error {
	d.apply(w.Current.Infrastructure, t.Infrastructure)
	if t.ControlPlaneMachine != nil {
		d.template(w.Cluster, w.Current.ControlPlaneMachine, t.ControlPlaneMachine)
		if err := unstructured.SetNestedField(t.ControlPlane.Object, t.ControlPlaneMachine.GetName(), "spec", "machineTemplate", "spec", "infrastructureRef", "name"); err != nil {
			return fmt.Errorf("referring to the template of the control plane's machines: %w", err)
		}
	}
	d.apply(w.Current.ControlPlane, t.ControlPlane)
	d.refer(w.Cluster, t)
	if err := d.healthCheck(w, t.ControlPlaneHealthCheck); err != nil {
		return err
	}
	for _, group := range t.MachineDeployments {
		if err := d.deployment(w, group); err != nil {
			return err
		}
	}
	for _, group := range t.MachinePools {
		have := w.Current.MachinePools[group.Name]
		d.apply(have.Bootstrap, group.Bootstrap)
		d.apply(have.Infrastructure, group.Infrastructure)
		if err := d.typed(toUnstructured(have.Object, have.Object == nil), group.Object); err != nil {
			return err
		}
	}
	return nil
}

func (d *Decision) deployment(w World, group desired.Deployment) error {
	have := w.Current.MachineDeployments[group.Name]
	d.template(w.Cluster, have.Bootstrap, group.Bootstrap)
	d.template(w.Cluster, have.Infrastructure, group.Infrastructure)
	group.Object.Spec.Template.Spec.Bootstrap.ConfigRef.Name = group.Bootstrap.GetName()
	group.Object.Spec.Template.Spec.InfrastructureRef.Name = group.Infrastructure.GetName()
	if err := d.typed(toUnstructured(have.Object, have.Object == nil), group.Object); err != nil {
		return err
	}
	return d.healthCheck(w, group.HealthCheck)
}

func (d *Decision) healthCheck(w World, want *clusterv1.MachineHealthCheck) error {
	if want == nil {
		return nil
	}
	i := slices.IndexFunc(w.HealthChecks, func(h *clusterv1.MachineHealthCheck) bool { return h.Name == want.Name })
	if i < 0 {
		return d.typed(nil, want)
	}
	return d.typed(toUnstructured(w.HealthChecks[i], false), want)
}

// apply notes an object that differs from what is wanted.
func (d *Decision) apply(have, want *unstructured.Unstructured) {
	if have == nil || have.GetName() != want.GetName() {
		d.Actions = append(d.Actions, Apply{Object: want, New: true, Because: "it does not exist"})
		return
	}
	if differences := intent.Differences(have, want, FieldOwner); len(differences) > 0 {
		d.Actions = append(d.Actions, Apply{Object: want, Because: because(differences), Differences: differences})
	}
}

// template notes a template that differs: by another name if its content does, since content never changes in place.
func (d *Decision) template(cluster *clusterv1.Cluster, have, want *unstructured.Unstructured) {
	if have != nil && len(intent.Differences(have, want, FieldOwner, "spec", "template", "spec")) > 0 {
		want.SetName(replaced(cluster, want))
	}
	d.apply(have, want)
}

func (d *Decision) typed(have *unstructured.Unstructured, want any) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return fmt.Errorf("converting: %w", err)
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	d.apply(have, &unstructured.Unstructured{Object: content})
	return nil
}

// toUnstructured is a typed object as a tree; nil if it does not exist.
func toUnstructured(o any, missing bool) *unstructured.Unstructured {
	if missing {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil // typed objects can always be converted
	}
	return &unstructured.Unstructured{Object: content}
}

func (d *Decision) refer(cluster *clusterv1.Cluster, t *desired.Topology) {
	r := Refer{Infrastructure: reference(t.Infrastructure), ControlPlane: reference(t.ControlPlane)}
	if cluster.Spec.InfrastructureRef != r.Infrastructure || cluster.Spec.ControlPlaneRef != r.ControlPlane {
		d.Actions = append(d.Actions, r)
	}
}

func reference(o *unstructured.Unstructured) clusterv1.ContractVersionedObjectReference {
	gvk := o.GroupVersionKind()
	return clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: o.GetName()}
}

func because(differences []intent.Difference) string {
	const shown = 3
	var parts []string
	for i, d := range differences {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(differences)-shown))
			break
		}
		parts = append(parts, d.String())
	}
	return strings.Join(parts, "; ")
}
