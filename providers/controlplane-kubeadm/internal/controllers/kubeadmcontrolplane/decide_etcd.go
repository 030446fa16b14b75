package kubeadmcontrolplane

import (
	"cmp"
	"slices"
	"strings"
	"time"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/quorum"
)

const etcdMemberHealthy = controlplanev1.KubeadmControlPlaneMachineEtcdMemberHealthyCondition

// quorumMembers pairs the members that etcd reports with what is known of their machines.
func quorumMembers(w World) []quorum.Member {
	var list []quorum.Member
	if w.Etcd.State == nil {
		return nil
	}
	for _, member := range w.Etcd.State.Members {
		m := w.machineOnNode(member.Name)
		list = append(list, quorum.Member{
			Name: member.Name, Learner: member.Learner, Orphan: m == nil, Alarm: len(member.Alarms) > 0,
			Healthy: m != nil && (conditions.IsTrue(m, etcdMemberHealthy) || leavingInHealth(w, m)),
		})
	}
	return list
}

// leavingInHealth: the condition of a deleting machine says Deleting, so its member is judged by what etcd says.
func leavingInHealth(w World, m *Machine) bool {
	member := w.Etcd.State.Member(m.nodeName())
	return m.deleting() && member != nil && !member.Learner && len(member.Alarms) == 0
}

// removeStrayMember takes out one member that no machine stands for, such as the rest of a failed join, which would
// make etcd refuse every later one. Never while a machine is joining: the member may be its.
func removeStrayMember(w World, p *plan) bool {
	if !w.managedEtcd() || w.Etcd.State == nil || !w.Workload.NodesKnown || w.provisioning() > 0 || len(w.Etcd.State.Members) < 2 {
		return false
	}
	members := quorumMembers(w)
	for i, member := range w.Etcd.State.Members { // sorted by name
		if w.machineOnNode(member.Name) != nil {
			continue
		}
		judge := quorum.RemoveAt
		if member.Name == "" {
			judge = quorum.RemoveUnstarted
		}
		if !judge(members, i).Allowed {
			continue
		}
		p.do(RemoveMember{
			ID: member.ID, Name: member.Name, Through: nodesToAsk(w, member.Name),
			Why: decision.Because("StrayMember", "no machine stands for etcd member %q", member.Name),
		})
		p.again(time.Second)
		return true
	}
	return false
}

// nodesToAsk are the nodes whose member can be asked, healthy ones first; without the one that is to go.
func nodesToAsk(w World, without string) []string {
	var list []*Machine
	for _, m := range w.Machines {
		if m.nodeName() != "" && m.nodeName() != without && !m.deleting() {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *Machine) int {
		return cmp.Compare(rank(conditions.IsTrue(b, etcdMemberHealthy)), rank(conditions.IsTrue(a, etcdMemberHealthy)))
	})
	nodes := make([]string, 0, len(list))
	for _, m := range list {
		nodes = append(nodes, m.nodeName())
	}
	return nodes
}

func rank(good bool) int {
	if good {
		return 1
	}
	return 0
}

// moveLeadershipFrom plans to move etcd's leadership off a machine before it goes. It returns why it cannot.
func moveLeadershipFrom(w World, p *plan, from *Machine) string {
	if !w.managedEtcd() || from.nodeName() == "" {
		return ""
	}
	if w.Etcd.State == nil {
		return "the etcd members cannot be read"
	}
	member := w.Etcd.State.Member(from.nodeName())
	switch {
	case w.Etcd.State.Leader == 0:
		return "etcd has no leader"
	case member == nil || member.ID != w.Etcd.State.Leader:
		return ""
	}
	candidates := leaderCandidates(w, from)
	if len(candidates) == 0 {
		return "no other machine can take over the leadership of etcd"
	}
	p.do(MoveLeadership{From: from.nodeName(), Candidates: candidates,
		Why: decision.Because("MoveLeadership", "machine %s leads etcd and is to go", from.Name)})
	return ""
}

// leaderCandidates orders the machines that could lead: healthy, not failing a health check, up to date, newest.
func leaderCandidates(w World, without *Machine) []string {
	var list []*Machine
	for _, m := range w.Machines {
		member := w.Etcd.State.Member(m.nodeName())
		if m != without && !m.deleting() && member != nil && !member.Learner {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *Machine) int {
		return cmp.Or(
			cmp.Compare(rank(conditions.IsTrue(b, etcdMemberHealthy)), rank(conditions.IsTrue(a, etcdMemberHealthy))),
			cmp.Compare(rank(conditions.IsFalse(a, clusterv1.MachineHealthCheckSucceededCondition)),
				rank(conditions.IsFalse(b, clusterv1.MachineHealthCheckSucceededCondition))),
			cmp.Compare(len(outdated(w, a)), len(outdated(w, b))),
			oldestFirst(b, a),
		)
	})
	nodes := make([]string, 0, len(list))
	for _, m := range list {
		nodes = append(nodes, m.nodeName())
	}
	return nodes
}

// releaseDeletingMachine lets machines that are being deleted go, one at a time: when the drain is over the etcd member
// is removed, if the rest keeps quorum, and then the hook. It ends the run while any machine is being deleted.
func releaseDeletingMachine(w World, p *plan) bool {
	deleting := w.deletingMachines()
	if len(deleting) == 0 {
		return false
	}
	p.blocked = append(p.blocked, "waiting for machine "+names(deleting)+" to be deleted")
	slices.SortStableFunc(deleting, func(a, b *Machine) int { return a.DeletionTimestamp.Compare(b.DeletionTimestamp.Time) })
	for _, m := range deleting {
		if _, hooked := m.Annotations[machines.CleanupHook]; !hooked {
			return true // one is on its way already
		}
	}
	if m := deleting[0]; readyToRelease(m) {
		release(w, p, m)
	}
	return true
}

// readyToRelease: the drain is over and no other hook holds the machine, since etcd and the API server on it stop
// when its member goes.
func readyToRelease(m *Machine) bool {
	for key := range m.Annotations {
		if strings.HasPrefix(key, clusterv1.PreTerminateDeleteHookAnnotationPrefix+"/") && key != machines.CleanupHook {
			return false
		}
	}
	return conditions.Reason(m, clusterv1.DeletingCondition) == clusterv1.MachineDeletingWaitingForPreTerminateHookReason
}

func release(w World, p *plan, m *Machine) {
	let := func(reason, because string) {
		p.do(ReleaseMachine{Machine: m, Why: decision.Because(reason, "%s", because)})
	}
	switch {
	case len(w.Machines) == 1:
		let("LastMachine", "it is the last control plane machine")
		return
	case !w.managedEtcd():
		let("ExternalEtcd", "etcd does not run on it")
		return
	case m.nodeName() == "":
		let("NoNode", "it never became a node")
		return
	case w.Etcd.State == nil || len(w.Etcd.State.Members) == 0:
		p.blocked = append(p.blocked, "the etcd members cannot be read")
		return
	}
	if trouble := componentsWithout(w, m); trouble != "" {
		p.blocked = append(p.blocked, trouble)
		return
	}
	member := w.Etcd.State.Member(m.nodeName())
	if member == nil {
		let("MemberRemoved", "its etcd member is gone")
		return
	}
	if verdict := quorum.Remove(quorumMembers(w), m.nodeName()); !verdict.Allowed {
		p.blocked = append(p.blocked, "etcd member "+m.nodeName()+" must stay: "+verdict.Because)
		return
	}
	if blocked := moveLeadershipFrom(w, p, m); blocked != "" {
		p.blocked = append(p.blocked, blocked)
		return
	}
	p.do(RemoveMember{ID: member.ID, Name: member.Name, Through: nodesToAsk(w, m.nodeName()),
		Why: decision.Because("MachineDeleting", "machine %s is being deleted", m.Name)})
	let("MemberRemoved", "its etcd member is removed")
}

// componentsWithout says why no working control plane would be left without a machine, or "".
func componentsWithout(w World, without *Machine) string {
	for _, m := range w.Machines {
		if m != without && !m.deleting() && unhealthy(w, m) == "" {
			return ""
		}
	}
	return "no other machine has all control plane components healthy"
}
