package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/core/internal/apply"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
)

// onMachine carries out what a set has decided about a Machine, and says whether that changed anything.
func (p *play) onMachine(m *member, action machineset.Action) bool {
	switch a := action.(type) {
	case machineset.Create:
		n := a.Machine
		n.UID, n.CreationTimestamp = types.UID(n.Name), metav1.NewTime(p.now)
		becomeAvailable(n)
		m.world.Machines = append(m.world.Machines, n)
		p.created++
	case machineset.Delete:
		p.remove(m, a.Machine, a.Why.Because)
	case machineset.Remediate:
		p.remove(m, a.Machine, a.Why.Because)
	case machineset.Adopt:
		n := a.Machine.DeepCopy()
		ownership.Ensure(n, ownership.ControllerReference(m.world.Set, clusterv1.GroupVersion.WithKind("MachineSet")))
		labels.Set(n, clusterv1.MachineSetNameLabel, labels.Value(m.world.Set.Name))
		m.world.Orphans = slices.DeleteFunc(slices.Clone(m.world.Orphans), func(o *clusterv1.Machine) bool { return o.UID == n.UID })
		m.world.Machines = append(m.world.Machines, n)
	case machineset.Move:
		p.move(m, a)
	case machineset.Sync:
		return p.sync(m, a)
	default: // what is told or labelled besides changes no Machine's fate
		return false
	}
	return true
}

// move hands a Machine over to another set.
func (p *play) move(m *member, a machineset.Move) {
	n := a.Machine.DeepCopy()
	m.drop(func(o *clusterv1.Machine) bool { return o.UID == n.UID })
	n.OwnerReferences = []metav1.OwnerReference{ownership.ControllerReference(a.To, clusterv1.GroupVersion.WithKind("MachineSet"))}
	inplace.HandOver(n)
	to := p.sets[p.find(a.To.UID)]
	to.world.Machines = append(slices.Clone(to.world.Machines), n)
}

// receiver is the set to which a set hands Machines over; nil if there is none.
func (p *play) receiver(s *clusterv1.MachineSet) *clusterv1.MachineSet {
	for _, o := range p.sets {
		if inplace.Agree(s, o.world.Set) {
			return o.world.Set
		}
	}
	return nil
}

// begin updates the Machines that a set has been given and counts, at once and to the end.
func (m *member) begin() bool {
	changed := false
	m.world.Machines = slices.Clone(m.world.Machines)
	for i, o := range m.world.Machines {
		if inplace.Arriving(o) && inplace.Awaited(m.world.Set, o) {
			n, wanted := o.DeepCopy(), m.world.Set.Spec.Template.Spec
			n.Spec.Version, n.Spec.FailureDomain = wanted.Version, wanted.FailureDomain
			inplace.Begin(n)
			becomeAvailable(n)
			m.world.Machines[i], changed = n, true
		}
	}
	return changed
}

func (p *play) remove(m *member, machine *clusterv1.Machine, because string) {
	m.drop(func(o *clusterv1.Machine) bool { return o.UID == machine.UID })
	if p.original(machine.UID) == nil {
		p.created--
		return
	}
	p.left = append(p.left, leaver{uid: machine.UID, because: because})
}

func (m *member) drop(which func(*clusterv1.Machine) bool) bool {
	n := len(m.world.Machines)
	m.world.Machines = slices.DeleteFunc(slices.Clone(m.world.Machines), which)
	return len(m.world.Machines) < n
}

// vanish lets Machines go that were being deleted already. The set has counted that by the time anybody looks.
func (m *member) vanish() bool {
	gone := m.drop(func(o *clusterv1.Machine) bool { return !o.DeletionTimestamp.IsZero() })
	if gone && m.world.Set.Status.Replicas != nil {
		n := int32(len(m.world.Machines))
		m.world.Set.Status.Replicas = &n
	}
	return gone
}

func (p *play) original(uid types.UID) *original {
	for i := range p.first {
		if p.first[i].machine.UID == uid {
			return &p.first[i]
		}
	}
	return nil
}

// sync does what the API server does with an apply: what is wanted comes, what was wanted before and is no longer goes,
// the rest stays.
func (p *play) sync(m *member, a machineset.Sync) bool {
	i := slices.IndexFunc(m.world.Machines, func(o *clusterv1.Machine) bool { return o.UID == a.Machine.UID })
	was := a.Wanted
	if o := p.original(a.Machine.UID); o != nil {
		was = o.wanted
	}
	n := a.Machine.DeepCopy()
	n.Labels = applied(n.Labels, was.Labels, a.Wanted.Labels)
	n.Annotations = applied(n.Annotations, was.Annotations, a.Wanted.Annotations)
	if !apply.Owned(n, a.Wanted.OwnerReferences) {
		n.OwnerReferences = a.Wanted.OwnerReferences
	}
	from, to := was.Spec, a.Wanted.Spec
	n.Spec.ReadinessGates, n.Spec.Taints = to.ReadinessGates, to.Taints
	follow(&n.Spec.MinReadySeconds, from.MinReadySeconds, to.MinReadySeconds)
	follow(&n.Spec.Deletion.NodeDrainTimeoutSeconds, from.Deletion.NodeDrainTimeoutSeconds, to.Deletion.NodeDrainTimeoutSeconds)
	follow(&n.Spec.Deletion.NodeVolumeDetachTimeoutSeconds, from.Deletion.NodeVolumeDetachTimeoutSeconds, to.Deletion.NodeVolumeDetachTimeoutSeconds)
	follow(&n.Spec.Deletion.NodeDeletionTimeoutSeconds, from.Deletion.NodeDeletionTimeoutSeconds, to.Deletion.NodeDeletionTimeoutSeconds)
	m.world.Machines[i] = n
	return !equality.Semantic.DeepEqual(a.Machine, n)
}

func applied(have, was, want map[string]string) map[string]string {
	rest := map[string]string{}
	for k, v := range have {
		if _, ours := was[k]; !ours {
			rest[k] = v
		}
	}
	return labels.Merge(rest, want)
}

func follow(have **int32, was, want *int32) {
	if want != nil || was != nil {
		*have = want
	}
}

// recover lets the Machines that exist become available when nothing moves without that, and notes it if it helps.
func (p *play) recover() bool {
	var names []string
	for _, m := range p.sets {
		for i, o := range m.world.Machines {
			if (!conditions.IsTrue(o, clusterv1.AvailableCondition) || inplace.Pending(o)) && o.DeletionTimestamp.IsZero() {
				names = append(names, o.Name)
				m.world.Machines[i] = o.DeepCopy()
				becomeAvailable(m.world.Machines[i])
			}
		}
	}
	if len(names) == 0 {
		return false
	}
	slices.Sort(names)
	p.awaited, p.movedBefore = strings.Join(names, ", "), len(p.left)+p.created
	return true
}

func becomeAvailable(m *clusterv1.Machine) {
	inplace.Unmark(m)
	inplace.End(m)
	if m.Status.NodeRef.Name == "" {
		m.Status.NodeRef.Name = m.Name
	}
	for _, t := range []string{clusterv1.ReadyCondition, clusterv1.AvailableCondition, clusterv1.MachineNodeHealthyCondition} {
		conditions.Set(m, metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: "Planned"})
	}
}
