package machinepool

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/core/internal/referred"
	"github.com/slipway-capi/slipway/core/internal/rollup"
)

// ownConditions are the types that this controller writes.
var ownConditions = []string{
	clusterv1.AvailableCondition, clusterv1.BootstrapConfigReadyCondition, clusterv1.InfrastructureReadyCondition, clusterv1.RollingOutCondition,
	clusterv1.RemediatingCondition, clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition, clusterv1.MachinesReadyCondition,
	clusterv1.MachinesUpToDateCondition, clusterv1.DeletingCondition, clusterv1.PausedCondition,
}

// describe derives counters, conditions and phase from the world and from what has been decided.
func (d *Decision) describe(w World) {
	d.count(w)
	p := d.Pool
	if !w.deleting() {
		conditions.Set(p, condition(clusterv1.DeletingCondition, metav1.ConditionFalse, clusterv1.NotDeletingReason, ""))
	}
	conditions.SetAll(p, bootstrapReady(w, p), infrastructureReady(w, p), scalingUp(w, p), scalingDown(w, p), rollup.Remediating(w.Members.Machines, ""))
	d.machinesReady(w)
	d.machinesUpToDate(w)
	conditions.SetAll(p, rollingOut(w, p), available(p))
	p.Status.Phase = phaseOf(w, p)
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func bootstrapReady(w World, p *clusterv1.MachinePool) metav1.Condition {
	ref := p.Spec.Template.Spec.Bootstrap.ConfigRef
	if ref.Name == "" {
		return condition(clusterv1.BootstrapConfigReadyCondition, metav1.ConditionTrue, clusterv1.MachineBootstrapDataSecretProvidedReason, "")
	}
	return referred.Condition(w.Bootstrap, referred.Mirror{
		Target: clusterv1.BootstrapConfigReadyCondition, Source: clusterv1.ReadyCondition, Kind: ref.Kind, Flag: "status.initialization.dataSecretCreated",
		Was: isTrue(p.Status.Initialization.BootstrapDataSecretCreated), Owner: "machine pool", Deleting: w.deleting(),
	})
}

func infrastructureReady(w World, p *clusterv1.MachinePool) metav1.Condition {
	return referred.Condition(w.Infrastructure, referred.Mirror{
		Target: clusterv1.InfrastructureReadyCondition, Source: clusterv1.ReadyCondition, Kind: p.Spec.Template.Spec.InfrastructureRef.Kind, Flag: "status.initialization.provisioned",
		Was: isTrue(p.Status.Initialization.InfrastructureProvisioned), Owner: "machine pool", Deleting: w.deleting(),
	})
}

func scalingUp(w World, p *clusterv1.MachinePool) metav1.Condition {
	have, want := int32(0), wanted(p)
	if p.Status.Replicas != nil {
		have = *p.Status.Replicas
	}
	if w.deleting() || have >= want {
		return condition(clusterv1.ScalingUpCondition, metav1.ConditionFalse, clusterv1.NotScalingUpReason, "")
	}
	message := fmt.Sprintf("Scaling up from %d to %d replicas", have, want)
	template := p.Spec.Template.Spec
	if w.Bootstrap.Missing {
		message += "\n* " + template.Bootstrap.ConfigRef.Kind + " " + template.Bootstrap.ConfigRef.Name + " does not exist"
	}
	if w.Infrastructure.Missing {
		message += "\n* " + template.InfrastructureRef.Kind + " " + template.InfrastructureRef.Name + " does not exist"
	}
	return condition(clusterv1.ScalingUpCondition, metav1.ConditionTrue, clusterv1.ScalingUpReason, message)
}

func scalingDown(w World, p *clusterv1.MachinePool) metav1.Condition {
	want := wanted(p)
	if w.deleting() {
		want = 0
	}
	if p.Status.Replicas == nil || *p.Status.Replicas <= want {
		return condition(clusterv1.ScalingDownCondition, metav1.ConditionFalse, clusterv1.NotScalingDownReason, "")
	}
	return condition(clusterv1.ScalingDownCondition, metav1.ConditionTrue, clusterv1.ScalingDownReason, fmt.Sprintf("Scaling down from %d to %d replicas", *p.Status.Replicas, want))
}

// machinesReady sums up the members. Nodes that several members might claim are told here, and in an event when they are new.
func (d *Decision) machinesReady(w World) {
	t := clusterv1.MachinesReadyCondition
	var c metav1.Condition
	switch {
	case len(d.ambiguous) > 0:
		c = condition(t, metav1.ConditionUnknown, clusterv1.InternalErrorReason, strings.Join(d.ambiguous, "\n"))
		if before := conditions.Get(w.Pool, t); before == nil || before.Message != c.Message {
			d.Events = append(d.Events, Event{corev1.EventTypeWarning, "FailedSetNodeRef", c.Message})
		}
	case w.machines():
		c = rollup.Ready(w.Members.Machines, t)
	case !w.Nodes.Connected || w.Nodes.Err != nil:
		if d.connectionIsYoung(w, t) {
			return
		}
		c = condition(t, metav1.ConditionUnknown, clusterv1.ConnectionDownReason, "Remote connection down")
	default:
		c = d.nodesReady(w)
	}
	conditions.Set(d.Pool, c)
}

// nodesReady sums up members that have no Machines.
func (d *Decision) nodesReady(w World) metav1.Condition {
	t, nodes := clusterv1.MachinesReadyCondition, d.memberNodes(w)
	var waiting []string
	for _, n := range nodes {
		if ready := readyCondition(n); ready == nil || ready.Status != corev1.ConditionTrue {
			waiting = append(waiting, n.Name)
		}
	}
	members := len(d.Pool.Spec.ProviderIDList)
	var lines []string
	if len(waiting) > 0 {
		lines = append(lines, "* Nodes that are not ready: "+enumerate(waiting))
	}
	if missing := members - len(nodes); missing > 0 {
		lines = append(lines, fmt.Sprintf("* Members without a Node: %d of %d", missing, members))
	}
	switch {
	case len(lines) > 0:
		return condition(t, metav1.ConditionFalse, clusterv1.NotReadyReason, strings.Join(lines, "\n"))
	case members == 0:
		return condition(t, metav1.ConditionTrue, clusterv1.NoReplicasReason, "")
	}
	return condition(t, metav1.ConditionTrue, clusterv1.ReadyReason, "")
}

// connectionIsYoung says whether what was last known of the Nodes still counts, and when to look whether it does not any more.
func (d *Decision) connectionIsYoung(w World, conditionType string) bool {
	left := w.ConditionsGrace - w.Now.Sub(w.Health.LastProbeSuccess)
	if left <= 0 || !conditions.Has(w.Pool, conditionType) {
		return false
	}
	d.look(left)
	return true
}

func (d *Decision) machinesUpToDate(w World) {
	t, want := clusterv1.MachinesUpToDateCondition, d.Pool.Spec.Template.Spec.Version
	switch {
	case w.machines():
		conditions.Set(d.Pool, rollup.UpToDate(w.Members.Machines, t, w.Now))
		return
	case !w.Nodes.Connected || w.Nodes.Err != nil:
		if !d.connectionIsYoung(w, t) {
			conditions.Set(d.Pool, condition(t, metav1.ConditionUnknown, clusterv1.ConnectionDownReason, "Remote connection down"))
		}
		return
	}
	var old []string
	for _, n := range d.memberNodes(w) {
		if outdated(n.Status.NodeInfo.KubeletVersion, want) {
			old = append(old, n.Name)
		}
	}
	c := condition(t, metav1.ConditionTrue, clusterv1.UpToDateReason, "")
	switch {
	case len(old) > 0:
		c = condition(t, metav1.ConditionFalse, clusterv1.NotUpToDateReason, fmt.Sprintf("* Nodes without version %s: %s", want, enumerate(old)))
	case len(d.Pool.Spec.ProviderIDList) == 0:
		c.Reason = clusterv1.NoReplicasReason
	}
	conditions.Set(d.Pool, c)
}

// rollingOut is true while members wait to be replaced or updated, which is the infrastructure's work.
func rollingOut(w World, p *clusterv1.MachinePool) metav1.Condition {
	c := conditions.Get(p, clusterv1.MachinesUpToDateCondition)
	if w.deleting() || c == nil || c.Status != metav1.ConditionFalse {
		return condition(clusterv1.RollingOutCondition, metav1.ConditionFalse, clusterv1.NotRollingOutReason, "")
	}
	return condition(clusterv1.RollingOutCondition, metav1.ConditionTrue, clusterv1.RollingOutReason, "Rolling out the present template\n"+c.Message)
}

// available compares the members that can be used with those that are wanted.
func available(p *clusterv1.MachinePool) metav1.Condition {
	t := clusterv1.AvailableCondition
	switch {
	case p.Spec.Replicas == nil:
		return condition(t, metav1.ConditionUnknown, clusterv1.WaitingForReplicasSetReason, "Waiting for spec.replicas to be set")
	case p.Status.AvailableReplicas == nil && *p.Spec.Replicas > 0:
		return condition(t, metav1.ConditionUnknown, clusterv1.MachineDeploymentAvailableWaitingForAvailableReplicasSetReason, "Waiting for status.availableReplicas to be set")
	case p.Status.AvailableReplicas != nil && *p.Status.AvailableReplicas < *p.Spec.Replicas:
		message := fmt.Sprintf("%d available replicas, at least %d required", *p.Status.AvailableReplicas, *p.Spec.Replicas)
		return condition(t, metav1.ConditionFalse, clusterv1.NotAvailableReason, message)
	}
	return condition(t, metav1.ConditionTrue, clusterv1.AvailableReason, "")
}
