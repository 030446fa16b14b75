package topology

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
	"github.com/slipway-capi/slipway/core/internal/topology/intent"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// Decide says what to do about the topology of a Cluster. It is pure: same world, same decision.
func Decide(ctx context.Context, w World) Decision {
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
	versions, err := upgrade.Decide(w.versions())
	if err != nil {
		return d.fail(err)
	}
	topology, err := desired.Compute(ctx, w.desired(versions))
	if err != nil {
		return d.fail(err)
	}
	if err := d.compare(w, topology); err != nil {
		return d.fail(err)
	}
	d.sweep(w, topology)
	d.note(w)
	condition := describe(w, versions)
	d.Condition = &condition
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

// versions is the world of the upgrade decision.
func (w World) versions() upgrade.World {
	topology := w.Cluster.Spec.Topology
	u := upgrade.World{Wanted: topology.Version, Steps: w.Steps, WorkerSteps: w.WorkerSteps, ControlPlane: w.ControlPlane, Concurrency: 1,
		Hold: w.Lifecycle.Hold, HoldWorkers: w.Lifecycle.HoldWorkers}
	if n, err := strconv.Atoi(w.Cluster.Annotations[clusterv1.ClusterTopologyUpgradeConcurrencyAnnotation]); err == nil {
		u.Concurrency = n
	}
	for _, t := range topology.Workers.MachineDeployments {
		g := workers(t.Name, t.Metadata.Annotations)
		if md := w.Current.MachineDeployments[t.Name].Object; md != nil {
			g.Version = md.Spec.Template.Spec.Version
			g.Upgrading = md.Status.ObservedGeneration < md.Generation || behind(md.Status.Versions, g.Version)
		}
		u.MachineDeployments = append(u.MachineDeployments, g)
	}
	for _, t := range topology.Workers.MachinePools {
		g := workers(t.Name, t.Metadata.Annotations)
		if mp := w.Current.MachinePools[t.Name].Object; mp != nil {
			g.Version = mp.Spec.Template.Spec.Version
			g.Upgrading = mp.Status.ObservedGeneration < mp.Generation || behind(mp.Status.Versions, g.Version)
		}
		u.MachinePools = append(u.MachinePools, g)
	}
	return u
}

func workers(name string, annotations map[string]string) upgrade.Workers {
	_, hold := annotations[clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation]
	_, later := annotations[clusterv1.ClusterTopologyDeferUpgradeAnnotation]
	return upgrade.Workers{Name: name, Hold: hold, Defer: later}
}

func behind(have []clusterv1.StatusVersion, wanted string) bool {
	return slices.ContainsFunc(have, func(v clusterv1.StatusVersion) bool { return v.Version != wanted })
}

func (w World) desired(versions upgrade.Decision) desired.World {
	return desired.World{
		Cluster: w.Cluster, Blueprint: w.Blueprint, Current: w.Current, Versions: versions, Values: w.Values, Overrides: w.Overrides, Extensions: w.Extensions,
		Suffix: func(purpose string) string { return suffix(w.Cluster, purpose) },
	}
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
		d.Actions = append(d.Actions, Apply{Object: want, Because: because(differences)})
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
