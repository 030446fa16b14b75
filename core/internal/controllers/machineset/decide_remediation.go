package machineset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
)

// remediate replaces Machines that a health check has given to this set: it deletes them, and the scale makes new ones. It goes
// before the scale, so that a Machine that leaves because it is ill is told so.
func (d *Decision) remediate(w World) {
	d.recovered(w)
	ill := ill(w.Machines)
	if len(ill) == 0 || w.Unseen {
		return
	}
	if !current(w) {
		d.tell(ill, clusterv1.MachineSetMachineCannotBeRemediatedReason, "The Machine belongs to an earlier revision of MachineDeployment "+w.Deployment.Name+"; the rollout replaces it")
		return
	}
	checks, err := preflight(w)
	if err != nil {
		d.fail(err)
		return
	}
	if len(checks) > 0 {
		d.tell(ill, clusterv1.MachineSetMachineRemediationDeferredReason, "No Machine could be created in its place now:\n* "+strings.Join(checks, "\n* "))
		return
	}
	free := limit(w) - inFlight(w.Machines)
	now := ill[:max(0, min(free, len(ill)))]
	for _, m := range now {
		c := remediated(clusterv1.MachineSetMachineRemediationMachineDeletingReason, "The Machine is being deleted to be replaced")
		d.Actions = append(d.Actions, Remediate{Machine: m, Condition: c, Why: decision.Because("Remediation", "%s", because(m))})
	}
	d.tell(ill[len(now):], clusterv1.MachineSetMachineRemediationDeferredReason,
		fmt.Sprintf("As many Machines are being remediated as remediation.maxInFlight of MachineDeployment %s allows", deploymentName(w)))
}

// remediates says whether a Machine has been chosen to be replaced.
func (d *Decision) remediates(m *clusterv1.Machine) bool {
	return slices.ContainsFunc(d.Actions, func(a Action) bool {
		r, ok := a.(Remediate)
		return ok && r.Machine == m
	})
}

// recovered takes the condition back from Machines that are healthy again.
func (d *Decision) recovered(w World) {
	for _, m := range w.Machines {
		if m.DeletionTimestamp.IsZero() && conditions.Has(m, clusterv1.MachineOwnerRemediatedCondition) && !conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) {
			d.Actions = append(d.Actions, Tell{Machine: m})
		}
	}
}

// ill lists the Machines to remediate in their order: those that a user has marked, then the newest, which serve the least.
func ill(machines []*clusterv1.Machine) []*clusterv1.Machine {
	var out []*clusterv1.Machine
	for _, m := range machines {
		if m.DeletionTimestamp.IsZero() && conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) && conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *clusterv1.Machine) int {
		return cmp.Or(-cmp.Compare(markedForRemediation(a), markedForRemediation(b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return out
}

func markedForRemediation(m *clusterv1.Machine) int {
	if _, ok := m.Annotations[clusterv1.RemediateMachineAnnotation]; ok {
		return 1
	}
	return 0
}

// current says whether the set is of the present revision of its MachineDeployment.
func current(w World) bool {
	return w.Deployment == nil || w.Set.Annotations[clusterv1.RevisionAnnotation] == w.Deployment.Annotations[clusterv1.RevisionAnnotation]
}

// limit is how many Machines may be under remediation at once.
func limit(w World) int {
	if w.Deployment == nil || w.Deployment.Spec.Remediation.MaxInFlight == nil {
		return len(w.Machines)
	}
	replicas := 1
	if w.Deployment.Spec.Replicas != nil {
		replicas = int(*w.Deployment.Spec.Replicas)
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(w.Deployment.Spec.Remediation.MaxInFlight, replicas, true)
	if err != nil {
		return 0 // admission refuses such a value
	}
	return n
}

func inFlight(machines []*clusterv1.Machine) (n int) {
	for _, m := range machines {
		if !m.DeletionTimestamp.IsZero() && conditions.Reason(m, clusterv1.MachineOwnerRemediatedCondition) == clusterv1.MachineSetMachineRemediationMachineDeletingReason {
			n++
		}
	}
	return n
}

func remediated(reason, message string) metav1.Condition {
	return condition(clusterv1.MachineOwnerRemediatedCondition, metav1.ConditionFalse, reason, message)
}

// tell says in Machines why they are not remediated; those that say so already are left alone.
func (d *Decision) tell(machines []*clusterv1.Machine, reason, message string) {
	for _, m := range machines {
		if conditions.Reason(m, clusterv1.MachineOwnerRemediatedCondition) != reason || conditions.Message(m, clusterv1.MachineOwnerRemediatedCondition) != message {
			c := remediated(reason, message)
			d.Actions = append(d.Actions, Tell{Machine: m, Condition: &c})
		}
	}
}

func because(m *clusterv1.Machine) string {
	if message := conditions.Message(m, clusterv1.MachineHealthCheckSucceededCondition); message != "" {
		return "the Machine is unhealthy: " + message
	}
	return "the Machine is unhealthy"
}

func deploymentName(w World) string {
	if w.Deployment == nil {
		return ""
	}
	return w.Deployment.Name
}
