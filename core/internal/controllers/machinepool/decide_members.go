package machinepool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/apply"
)

// lonely is how long a Machine may be without its infrastructure machine before it counts as left behind: the two come
// from different caches.
const lonely = time.Minute

// members keeps one Machine for each infrastructure machine, of the same name. Members leave by their Machine: its deletion
// drains the Node and takes the infrastructure machine along. A member that left the other way round takes its Machine along.
func (d *Decision) members(w World) {
	if w.Members.Err != nil {
		d.fail(w.Members.Err)
		return
	}
	if w.Members.Kind.Kind == "" {
		return
	}
	machines, objects := map[string]*clusterv1.Machine{}, map[string]bool{}
	for _, m := range w.Members.Machines {
		machines[m.Name] = m
	}
	for _, o := range w.Members.Infrastructure {
		objects[o.GetName()] = true
		d.member(w, o, machines[o.GetName()])
	}
	for _, m := range w.Members.Machines {
		d.judge(w, m)
		if !objects[m.Name] && m.DeletionTimestamp.IsZero() && ofKind(m.Spec.InfrastructureRef, w.Members.Kind) {
			d.retireMachine(w, m)
		}
	}
}

func ofKind(ref clusterv1.ContractVersionedObjectReference, kind schema.GroupKind) bool {
	return ref.Kind == kind.Kind && ref.APIGroup == kind.Group
}

// member creates the Machine of an infrastructure machine, or brings it what changed in the template.
func (d *Decision) member(w World, o *unstructured.Unstructured, have *clusterv1.Machine) {
	switch {
	case have != nil:
		d.syncMachine(w, have)
	case !o.GetDeletionTimestamp().IsZero() || w.Members.Unseen[o.GetName()]:
	case d.foreign(w, o.GetName()):
	default:
		d.Actions = append(d.Actions, ApplyMachine{Wanted: machineFor(w, o),
			Why: decision.Because("SuccessfulCreate", "%s %s is a member of the pool", o.GetKind(), o.GetName())})
	}
}

func (d *Decision) foreign(w World, name string) bool {
	for _, m := range w.Members.Foreign {
		if m.Name == name {
			d.fail(fmt.Errorf("the member %s needs a Machine of its name, but Machine %s does not belong to the pool", name, name))
			return true
		}
	}
	return false
}

// machineFor is the Machine that a member gets. Its bootstrap data is the pool's, so it names none.
func machineFor(w World, o *unstructured.Unstructured) *clusterv1.Machine {
	m := intent(w, o.GetName())
	m.Spec.InfrastructureRef = external.Reference(o)
	m.Spec.Version = w.Pool.Spec.Template.Spec.Version
	return m
}

// intent is what the pool decides about a Machine, whoever it stands for.
func intent(w World, name string) *clusterv1.Machine {
	p, none := w.Pool, ""
	template := p.Spec.Template.DeepCopy()
	m := &clusterv1.Machine{}
	m.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Machine"))
	m.Namespace, m.Name = p.Namespace, name
	m.Finalizers = []string{clusterv1.MachineFinalizer}
	m.OwnerReferences = []metav1.OwnerReference{ownerReference(p)}
	m.Labels = labels.Merge(template.Metadata.Labels, labels.OfCluster(p.Spec.ClusterName), map[string]string{clusterv1.MachinePoolNameLabel: labels.Value(p.Name)})
	m.Annotations = labels.Merge(template.Metadata.Annotations)
	m.Spec = clusterv1.MachineSpec{
		ClusterName: p.Spec.ClusterName, Bootstrap: clusterv1.Bootstrap{DataSecretName: &none},
		Deletion: template.Spec.Deletion, MinReadySeconds: template.Spec.MinReadySeconds, ReadinessGates: template.Spec.ReadinessGates,
	}
	return m
}

// syncMachine brings what changes in place. The version is what the Node runs: the infrastructure may replace its machines
// at its own pace.
func (d *Decision) syncMachine(w World, have *clusterv1.Machine) {
	m := intent(w, have.Name)
	m.Spec.InfrastructureRef, m.Spec.Version = have.Spec.InfrastructureRef, have.Spec.Version
	if kubelet := have.Status.NodeInfo.KubeletVersion; kubelet != "" {
		m.Spec.Version = kubelet
	}
	leaving := !have.DeletionTimestamp.IsZero()
	if leaving {
		m.Labels, m.Annotations = have.Labels, have.Annotations
	}
	if !slices.Contains(have.Finalizers, clusterv1.MachineFinalizer) {
		if leaving {
			return // as good as gone
		}
		// A finalizer that somebody took away is not asked for: to leave it out while it is there would take the Machine away.
		m.Finalizers = nil
	}
	covered, err := apply.Contains(have, m)
	d.fail(err)
	if surplus := surplus(have, m); err == nil && (!covered || surplus) {
		d.Actions = append(d.Actions, ApplyMachine{Have: have, Wanted: m, Covered: covered, Surplus: surplus})
	}
}

// surplus says whether a Machine has something beyond an intent that an earlier one may have brought.
func surplus(have, want *clusterv1.Machine) bool {
	a, b := have.Spec, want.Spec
	left := func(have, want *int32) bool { return want == nil && have != nil }
	return len(have.Labels) > len(want.Labels) || len(have.Annotations) > len(want.Annotations) || len(a.ReadinessGates) > len(b.ReadinessGates) ||
		left(a.Deletion.NodeDrainTimeoutSeconds, b.Deletion.NodeDrainTimeoutSeconds) ||
		left(a.Deletion.NodeVolumeDetachTimeoutSeconds, b.Deletion.NodeVolumeDetachTimeoutSeconds) || left(a.MinReadySeconds, b.MinReadySeconds)
}

// retireMachine deletes the Machine of a member that the infrastructure has taken away.
func (d *Decision) retireMachine(w World, m *clusterv1.Machine) {
	age := w.Now.Sub(m.CreationTimestamp.Time)
	if !isTrue(m.Status.Initialization.InfrastructureProvisioned) && age < lonely {
		d.look(lonely - age)
		return
	}
	d.Actions = append(d.Actions, DeleteMachine{Machine: m,
		Why: decision.Because("SuccessfulDelete", "its %s does not exist any more", m.Spec.InfrastructureRef.Kind)})
}

// judge tells whether a Machine is as the pool wants it, as the owners of other Machines do, and replaces one that a health
// check has given to its owner: its deletion takes the member along, and the infrastructure makes another.
func (d *Decision) judge(w World, m *clusterv1.Machine) {
	upToDate := metav1.Condition{Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineUpToDateReason}
	if version, want := versionOf(m), w.Pool.Spec.Template.Spec.Version; outdated(version, want) {
		upToDate.Status, upToDate.Reason, upToDate.Message = metav1.ConditionFalse, clusterv1.MachineNotUpToDateReason, fmt.Sprintf("* Version %s, %s required", version, want)
	}
	list := []metav1.Condition{upToDate}
	unhealthy := conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) && conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition)
	if unhealthy {
		list = append(list, metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse,
			Reason: clusterv1.MachineSetMachineRemediationMachineDeletingReason, Message: "Machine is being deleted: it is not healthy"})
	}
	if after := m.DeepCopy(); changes(after, list, w.Now) {
		d.Actions = append(d.Actions, JudgeMachine{Machine: m, Conditions: pick(after, list)})
	}
	if unhealthy && m.DeletionTimestamp.IsZero() {
		d.Actions = append(d.Actions, DeleteMachine{Machine: m, Why: decision.Because("SuccessfulDelete", "it is not healthy: %s", conditions.Reason(m, clusterv1.MachineHealthCheckSucceededCondition))})
	}
}

// changes sets conditions and says whether one differs from what was there.
func changes(m *clusterv1.Machine, list []metav1.Condition, now time.Time) bool {
	changed := false
	for _, c := range list {
		have := conditions.Get(m, c.Type)
		changed = changed || have == nil || !conditions.Same(*have, c)
		c.LastTransitionTime = metav1.NewTime(now) // counts only if the status changes
		conditions.Set(m, c)
	}
	return changed
}

// pick returns the conditions of a Machine that are in a list, with their times.
func pick(m *clusterv1.Machine, list []metav1.Condition) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range list {
		out = append(out, *conditions.Get(m, c.Type))
	}
	return out
}

func versionOf(m *clusterv1.Machine) string {
	if kubelet := m.Status.NodeInfo.KubeletVersion; kubelet != "" {
		return kubelet
	}
	return m.Spec.Version
}

// outdated compares versions; one that is not known or not wanted cannot be wrong.
func outdated(have, want string) bool {
	return have != "" && want != "" && !strings.EqualFold(strings.TrimPrefix(have, "v"), strings.TrimPrefix(want, "v"))
}
