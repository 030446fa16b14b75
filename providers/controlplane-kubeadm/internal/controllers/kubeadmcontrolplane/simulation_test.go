package kubeadmcontrolplane

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// simulate does to the world what an action does in the end. New machines join at once.
func simulate(w *World, action Action, made *int) {
	switch a := action.(type) {
	case UpdateKubeadmConfig:
		w.Joining.Config = kubeadmConfig(w.ControlPlane.Spec.Version)
	case CreateMachine:
		*made++
		m := machine(w, 100+*made)
		m.Spec.FailureDomain = a.FailureDomain
		m.CreationTimestamp = metav1.NewTime(w.Now)
		if a.RemediationFor != "" {
			m.Annotations[controlplanev1.RemediationForAnnotation] = a.RemediationFor
		}
		w.Machines = append(w.Machines, m)
	case MoveLeadership:
		w.Etcd.State.Leader = w.Etcd.State.Member(a.Candidates[0]).ID
	case DeleteMachine:
		i := slices.IndexFunc(w.Machines, func(m *Machine) bool { return m.Name == a.Machine.Name })
		deleting(i, drained)(w)
	case RemoveMember:
		for i, member := range w.Etcd.State.Members {
			if member.ID == a.ID {
				w.Etcd.State.Members = slices.Delete(slices.Clone(w.Etcd.State.Members), i, i+1)
				break
			}
		}
		elect(w)
	case ReleaseMachine:
		w.Machines = slices.DeleteFunc(slices.Clone(w.Machines), func(m *Machine) bool { return m.Name == a.Machine.Name })
	case BeginRemediation:
		w.ControlPlane.Annotations = map[string]string{controlplanev1.RemediationInProgressAnnotation: a.Record.String()}
	case EndRemediation:
		annotations := maps.Clone(w.ControlPlane.Annotations)
		delete(annotations, controlplanev1.RemediationInProgressAnnotation)
		w.ControlPlane.Annotations = annotations
	}
}

// elect gives etcd a leader if it has none and a majority of its voters runs.
func elect(w *World) {
	state, lives := w.Etcd.State, 0
	voters := 0
	var candidate uint64
	for _, member := range state.Members {
		if member.Learner || member.Name == "" {
			continue
		}
		voters++
		if alive(*w, member.Name) {
			lives++
			candidate = member.ID
		}
	}
	if leader := slices.IndexFunc(state.Members, func(m etcdMember) bool { return m.ID == state.Leader }); leader >= 0 && alive(*w, state.Members[leader].Name) {
		return
	}
	if state.Leader = 0; 2*lives > voters {
		state.Leader = candidate
	}
}

// alive says whether a member really runs, whatever the controller believes.
func alive(w World, name string) bool {
	m := w.machineOnNode(name)
	if m == nil || m.Node == nil || nodeLost(m.Node) != "" {
		return false
	}
	member := w.Etcd.State.Member(name)
	return member != nil && len(member.Alarms) == 0 && m.Pods["etcd"] != nil && m.Pods["etcd"].Status.Phase == corev1.PodRunning
}

// hasQuorum says whether etcd can still write.
func hasQuorum(w World) bool {
	voters, lives := 0, 0
	for _, member := range w.Etcd.State.Members {
		if !member.Learner && member.Name != "" {
			voters++
			if alive(w, member.Name) {
				lives++
			}
		}
	}
	return 2*lives > voters
}

// kill makes a node stop, as a machine does that loses power.
func kill(w *World, m *Machine) {
	node := m.Node.DeepCopy()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	m.Node = node
	elect(w)
}

// healthChecks mark the machines whose node is lost.
func healthChecks(w *World) {
	for i, m := range w.Machines {
		if m.Node != nil && nodeLost(m.Node) != "" && !m.deleting() && !marked(m) {
			sick(i)(w)
		}
	}
}

func pass(w *World, d time.Duration) { w.Now = w.Now.Add(d) }
