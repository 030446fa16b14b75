package kubeadmcontrolplane

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/quorum"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/remediation"
)

const (
	ownerRemediated = clusterv1.MachineOwnerRemediatedCondition

	deferred   = controlplanev1.KubeadmControlPlaneMachineRemediationDeferredReason
	impossible = controlplanev1.KubeadmControlPlaneMachineCannotBeRemediatedReason
)

// marked machines failed a health check and wait for this control plane to replace them.
func marked(m *Machine) bool {
	return conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) && conditions.IsFalse(m, ownerRemediated)
}

// settleRemediation finds out whether a remediation is going on, ends one that is over, and takes back the marks of
// machines that have recovered. It comes before everything that looks at the remediation.
func settleRemediation(w World, p *plan) {
	for _, m := range w.Machines {
		if conditions.Has(m, ownerRemediated) && !conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) {
			p.do(ForgetVerdict{Machine: m})
			conditions.Delete(m, ownerRemediated)
		}
	}
	text, ok := w.ControlPlane.Annotations[controlplanev1.RemediationInProgressAnnotation]
	if !ok {
		return
	}
	record, err := remediation.Parse(text)
	if err != nil {
		p.unreadable = "annotation " + controlplanev1.RemediationInProgressAnnotation + " cannot be read; remove it"
		return
	}
	if over(w, record) {
		p.do(EndRemediation{})
		return
	}
	p.remediating = &record
}

// over: the replacement exists, or none is needed any more.
func over(w World, record remediation.Record) bool {
	for _, m := range w.Machines {
		if m.Annotations[controlplanev1.RemediationForAnnotation] == record.String() || m.CreationTimestamp.After(record.Timestamp) {
			return true
		}
	}
	if m := w.machineNamed(record.Machine); m != nil {
		return !m.deleting() && !marked(m)
	}
	return len(w.Machines) >= w.replicas()
}

// remediate replaces one machine that failed a health check, if the control plane survives that. Machines that must
// stay get a condition that says why. It ends the run only when it deletes a machine.
func remediate(w World, p *plan) bool {
	m := nextToRemediate(w)
	if m == nil || m.deleting() || p.unreadable != "" {
		return false
	}
	if p.remediating != nil && p.remediating.Machine != m.Name {
		interrupted := w.machineNamed(p.remediating.Machine)
		if interrupted == nil || interrupted.deleting() {
			return false // its replacement is on its way
		}
		m = interrupted // nothing but its deletion was missing
	}
	record, refusal := judgeRemediation(w, p, m)
	if refusal != nil {
		judge(w, m, *refusal)
		if p.remediating != nil {
			p.remediating = nil
			p.do(EndRemediation{})
		}
		return false
	}
	p.do(BeginRemediation{Record: record}, DeleteMachine{Machine: m, Remediates: true,
		Why: decision.Because("Remediation", "machine %s failed its health check: %s", m.Name,
			conditions.Message(m, clusterv1.MachineHealthCheckSucceededCondition))})
	judge(w, m, negative(ownerRemediated, controlplanev1.KubeadmControlPlaneMachineRemediationMachineDeletingReason, "the machine is being deleted and will be replaced"))
	return true
}

// deferRemediation tells the next machine that is to be replaced what it waits for.
func deferRemediation(w World, message string) {
	if m := nextToRemediate(w); m != nil && !m.deleting() {
		judge(w, m, negative(ownerRemediated, deferred, message))
	}
}

// judge puts a verdict on the copy of a machine that the decision is made about.
func judge(w World, m *Machine, verdict metav1.Condition) {
	verdict.LastTransitionTime = metav1.NewTime(w.Now.Truncate(time.Second))
	conditions.Set(m, verdict)
}

// judgeRemediation says how a machine is to be replaced, or why it is not.
func judgeRemediation(w World, p *plan, m *Machine) (remediation.Record, *metav1.Condition) {
	record := remediation.Record{Machine: m.Name, Timestamp: w.Now}
	if topology := topologyUpgrade(w); topology != "" {
		return record, refuse(deferred, topology)
	}
	count, refusal := judgeHistory(w, p, m)
	if refusal != nil {
		return record, refusal
	}
	record.RetryCount = count
	if p.remediating != nil && p.remediating.Machine == m.Name {
		record = *p.remediating
	}
	if !w.initialized() {
		return record, nil // nothing runs yet that could be lost
	}
	if refusal := judgePeers(w, m); refusal != nil {
		return record, refusal
	}
	if blocked := moveLeadershipFrom(w, p, m); blocked != "" {
		return record, refuse(impossible, blocked)
	}
	return record, nil
}

func refuse(reason, message string) *metav1.Condition {
	c := negative(ownerRemediated, reason, message)
	return &c
}

// judgeHistory applies the limits to a machine that was made to replace another one.
func judgeHistory(w World, p *plan, m *Machine) (int32, *metav1.Condition) {
	var previous *remediation.Record
	if text, ok := m.Annotations[controlplanev1.RemediationForAnnotation]; ok {
		record, err := remediation.Parse(text)
		if err != nil {
			return 0, refuse(clusterv1.InternalErrorReason, "annotation "+controlplanev1.RemediationForAnnotation+" cannot be read; remove it")
		}
		previous = &record
	}
	verdict := remediation.PolicyOf(w.ControlPlane.Spec.Remediation).Judge(previous, w.Now)
	switch {
	case verdict.Allowed:
		return verdict.RetryCount, nil
	case verdict.Exhausted:
		return 0, refuse(impossible, fmt.Sprintf("%d retries were made already: remediation.maxRetry is reached", previous.RetryCount))
	}
	p.again(verdict.After)
	return 0, refuse(deferred, "machine "+previous.Machine+" was replaced by it not long ago: remediation.retryPeriodSeconds is not over")
}

// judgePeers says why the other machines cannot do without this one, or nil.
func judgePeers(w World, m *Machine) *metav1.Condition {
	if len(w.Machines) <= 1 {
		return refuse(impossible, "it is the only control plane machine")
	}
	var joining []*Machine
	for _, other := range w.Machines {
		if other != m && other.nodeName() == "" && !other.deleting() && !marked(other) {
			joining = append(joining, other)
		}
	}
	switch {
	case len(joining) > 0:
		return refuse(deferred, "waiting for machine "+names(joining)+" to join")
	case len(w.deletingMachines()) > 0:
		return refuse(deferred, "waiting for machine "+names(w.deletingMachines())+" to be deleted")
	case !w.Workload.Connected || !w.Workload.NodesKnown:
		return refuse(deferred, "the workload cluster cannot be reached")
	case w.managedEtcd() && (w.Etcd.State == nil || len(w.Etcd.State.Members) == 0):
		return refuse(deferred, "the etcd members cannot be read")
	}
	if trouble := componentsWithout(w, m); trouble != "" {
		return refuse(impossible, trouble)
	}
	if !w.managedEtcd() || w.Etcd.State.Member(m.nodeName()) == nil {
		return nil
	}
	if verdict := quorum.Remove(quorumMembers(w), m.nodeName()); !verdict.Allowed {
		return refuse(impossible, verdict.Because)
	}
	return nil
}

// nextToRemediate chooses among the marked machines: by the user's wish, then by how broken they are, then by age.
func nextToRemediate(w World) *Machine {
	var list []*Machine
	for _, m := range w.Machines {
		if marked(m) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b *Machine) int { // oldest first already
		return cmp.Compare(urgency(w, b), urgency(w, a))
	})
	return list[0]
}

// urgency is greater for machines that should go earlier.
func urgency(w World, m *Machine) int {
	if _, wished := m.Annotations[clusterv1.RemediateMachineAnnotation]; wished {
		return 4
	}
	broken := func(types ...string) bool {
		return slices.ContainsFunc(types, func(t string) bool { return !conditions.IsTrue(m, t) })
	}
	switch {
	case m.nodeName() == "":
		return 3
	case w.managedEtcd() && broken(etcdMemberHealthy, controlplanev1.KubeadmControlPlaneMachineEtcdPodHealthyCondition):
		return 2
	case broken(append(componentConditions(false), labelsAndTaints)...):
		return 1
	}
	return 0
}

// lastRemediation is the one that is going on, else the newest that a machine was made for.
func lastRemediation(w World, p *plan) controlplanev1.KubeadmControlPlaneLastRemediationStatus {
	var last *remediation.Record
	if p.remediating != nil {
		last = p.remediating
	} else {
		for _, m := range w.Machines {
			record, err := remediation.Parse(m.Annotations[controlplanev1.RemediationForAnnotation])
			if err == nil && (last == nil || record.Timestamp.After(last.Timestamp)) {
				last = &record
			}
		}
	}
	if last == nil {
		return controlplanev1.KubeadmControlPlaneLastRemediationStatus{}
	}
	return controlplanev1.KubeadmControlPlaneLastRemediationStatus{Machine: last.Machine, Time: metav1.NewTime(last.Timestamp), RetryCount: last.RetryCount}
}
