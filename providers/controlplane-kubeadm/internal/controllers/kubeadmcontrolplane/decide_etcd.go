package kubeadmcontrolplane

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/quorum"
)

const etcdMemberHealthy = controlplanev1.KubeadmControlPlaneMachineEtcdMemberHealthyCondition

// quorumMembers pairs the members that etcd reports with what is known of their machines.
func quorumMembers(w World) []quorum.Member {
	if w.Etcd.State == nil {
		return nil
	}
	var list []quorum.Member
	for _, member := range w.Etcd.State.Members {
		m := w.machineOnNode(member.Name)
		list = append(list, quorum.Member{
			Name: member.Name, Learner: member.Learner, Orphan: m == nil, Alarm: len(member.Alarms) > 0,
			Healthy: m != nil && memberRuns(w, m, member),
		})
	}
	return list
}

// memberRuns: etcd lists members whether they run or not, so the node must be there and the pod must be ready as well.
// It goes by what is seen and not by conditions, which say Deleting for every machine that is to go.
func memberRuns(w World, m *Machine, member etcd.Member) bool {
	pod := m.Pods["etcd"]
	return !member.Learner && len(member.Alarms) == 0 && w.Workload.Problem == "" &&
		m.Node != nil && nodeLost(m.Node) == "" && pod != nil && judgePod(pod, "").Status == metav1.ConditionTrue
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
	case from.Node == nil || nodeLost(from.Node) != "":
		// Only the leader can hand over, and it cannot be asked. etcd elects another one when the member goes.
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
	waiting := "waiting for machine " + names(deleting) + " to be deleted"
	p.blocked = append(p.blocked, waiting)
	deferRemediation(w, waiting)
	slices.SortStableFunc(deleting, func(a, b *Machine) int { return a.DeletionTimestamp.Compare(b.DeletionTimestamp.Time) })
	for _, m := range deleting {
		if _, hooked := m.Annotations[machines.CleanupHook]; !hooked {
			return true // one is on its way already
		}
	}
	// The oldest deletion comes first, but one that must wait for another machine does not hold that one up.
	for _, m := range deleting {
		if !readyToRelease(m) {
			continue
		}
		blocked := release(w, p, m)
		if blocked == "" {
			return true
		}
		p.blocked = append(p.blocked, blocked)
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

// release lets a machine go, or says why it must stay.
func release(w World, p *plan, m *Machine) string {
	let := func(reason, because string) string {
		p.do(ReleaseMachine{Machine: m, Why: decision.Because(reason, "%s", because)})
		return ""
	}
	switch {
	case len(w.Machines) == 1:
		return let("LastMachine", "it is the last control plane machine")
	case !w.managedEtcd():
		if trouble := componentsWithout(w, m); trouble != "" {
			return trouble
		}
		return let("ExternalEtcd", "etcd does not run on it")
	case m.nodeName() == "":
		return let("NoNode", "it never became a node")
	case w.Etcd.State == nil || len(w.Etcd.State.Members) == 0:
		return "the etcd members cannot be read"
	}
	if trouble := componentsWithout(w, m); trouble != "" {
		return trouble
	}
	member := w.Etcd.State.Member(m.nodeName())
	if member == nil {
		return let("MemberRemoved", "its etcd member is gone")
	}
	if verdict := quorum.Remove(quorumMembers(w), m.nodeName()); !verdict.Allowed {
		return "etcd member " + m.nodeName() + " must stay: " + verdict.Because
	}
	if blocked := moveLeadershipFrom(w, p, m); blocked != "" {
		return blocked
	}
	p.do(RemoveMember{ID: member.ID, Name: member.Name, Through: nodesToAsk(w, m.nodeName()),
		Why: decision.Because("MachineDeleting", "machine %s is being deleted", m.Name)})
	return let("MemberRemoved", "its etcd member is removed")
}
