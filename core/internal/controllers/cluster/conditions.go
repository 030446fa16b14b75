package cluster

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/referred"
	"github.com/slipway-capi/slipway/core/internal/rollup"
)

// probeFailuresBeforeReport is how many attempts to connect may fail before a cluster that never answered is called unreachable.
const probeFailuresBeforeReport = 5

// describe derives the conditions, counters and phase from the world and from what has been decided.
func (d *Decision) describe(w World) {
	c := d.Cluster
	if !w.deleting() {
		conditions.Set(c, condition(clusterv1.DeletingCondition, metav1.ConditionFalse, clusterv1.NotDeletingReason, ""))
	}
	d.counters(w)
	d.connection(w)
	conditions.Set(c, infrastructureReady(w, c))
	conditions.Set(c, controlPlaneAvailable(w, c))
	conditions.Set(c, controlPlaneInitialized(w, c))
	conditions.Set(c, workersAvailable(w))
	d.machines(w)
	d.progress(w)
	conditions.Set(c, remediating(w))
	conditions.Set(c, available(w, c))
	d.phase()
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// connection reports whether the workload API answers; a short outage does not count.
func (d *Decision) connection(w World) {
	set := func(status metav1.ConditionStatus, reason, message string) {
		conditions.Set(d.Cluster, condition(clusterv1.ClusterRemoteConnectionProbeCondition, status, reason, message))
	}
	last := w.Health.LastProbeSuccess
	switch {
	case last.IsZero():
		if w.Health.ConsecutiveFailures >= probeFailuresBeforeReport || !conditions.Has(d.Cluster, clusterv1.ClusterRemoteConnectionProbeCondition) {
			set(metav1.ConditionFalse, clusterv1.ClusterRemoteConnectionProbeFailedReason, "Remote connection not established yet")
		}
	case w.Now.Sub(last) > w.ConnectionGrace:
		set(metav1.ConditionFalse, clusterv1.ClusterRemoteConnectionProbeFailedReason, "Last successful probe at "+last.UTC().Format(time.RFC3339))
	default:
		set(metav1.ConditionTrue, clusterv1.ClusterRemoteConnectionProbeSucceededReason, "")
	}
}

func infrastructureReady(w World, c *clusterv1.Cluster) metav1.Condition {
	if c.Spec.InfrastructureRef.Name == "" && !w.hasTopology() {
		return condition(clusterv1.InfrastructureReadyCondition, metav1.ConditionTrue, clusterv1.ReadyReason, "Cluster has no infrastructureRef: its infrastructure is managed elsewhere")
	}
	return mirrored(w, w.Infrastructure, referred.Mirror{Target: clusterv1.InfrastructureReadyCondition, Source: clusterv1.ReadyCondition, Kind: c.Spec.InfrastructureRef.Kind,
		Flag: "status.initialization.provisioned", Was: isTrue(c.Status.Initialization.InfrastructureProvisioned)})
}

func controlPlaneAvailable(w World, c *clusterv1.Cluster) metav1.Condition {
	was := isTrue(c.Status.Initialization.ControlPlaneInitialized)
	if c.Spec.ControlPlaneRef.Name == "" && !w.hasTopology() {
		if was {
			return condition(clusterv1.ClusterControlPlaneAvailableCondition, metav1.ConditionTrue, clusterv1.AvailableReason, "")
		}
		return condition(clusterv1.ClusterControlPlaneAvailableCondition, metav1.ConditionFalse, clusterv1.NotAvailableReason, "Waiting for the first control plane Machine to have a Node")
	}
	return mirrored(w, w.ControlPlane, referred.Mirror{Target: clusterv1.ClusterControlPlaneAvailableCondition, Source: clusterv1.AvailableCondition, Kind: c.Spec.ControlPlaneRef.Kind,
		Flag: "status.initialization.controlPlaneInitialized", Was: was})
}

// mirrored shows a condition of a provider object, or why there is none.
func mirrored(w World, o referred.Object, m referred.Mirror) metav1.Condition {
	if m.Kind == "" {
		return condition(m.Target, metav1.ConditionFalse, clusterv1.ObjectDoesNotExistReason, "The topology has not been generated yet")
	}
	m.Owner, m.Deleting = "cluster", w.deleting()
	return referred.Condition(o, m)
}

func controlPlaneInitialized(w World, c *clusterv1.Cluster) metav1.Condition {
	t := clusterv1.ClusterControlPlaneInitializedCondition
	switch {
	case isTrue(c.Status.Initialization.ControlPlaneInitialized):
		return condition(t, metav1.ConditionTrue, clusterv1.ClusterControlPlaneInitializedReason, "")
	case w.ControlPlane.Err != nil:
		return condition(t, metav1.ConditionUnknown, clusterv1.InternalErrorReason, "Please check the logs of the core manager")
	case w.ControlPlane.Missing:
		return condition(t, metav1.ConditionUnknown, clusterv1.ObjectDoesNotExistReason, c.Spec.ControlPlaneRef.Kind+" does not exist")
	}
	return condition(t, metav1.ConditionFalse, clusterv1.ClusterControlPlaneNotInitializedReason, "Control plane not yet initialized")
}

func workersAvailable(w World) metav1.Condition {
	t := clusterv1.ClusterWorkersAvailableCondition
	if w.Descendants.Err != nil {
		return condition(t, metav1.ConditionUnknown, clusterv1.InternalErrorReason, "Please check the logs of the core manager")
	}
	return conditions.Aggregate(groups(w), clusterv1.AvailableCondition, t, conditions.AggregateOptions{
		Reasons: conditions.Reasons{True: clusterv1.AvailableReason, False: clusterv1.NotAvailableReason, Unknown: clusterv1.AvailableUnknownReason},
		None:    &conditions.Fallback{Status: metav1.ConditionTrue, Reason: clusterv1.ClusterWorkersAvailableNoWorkersReason},
	})
}

// groups are the workers that look after their replicas themselves.
func groups(w World) []conditions.Source {
	return append(conditions.Sources("MachineDeployment", w.Descendants.MachineDeployments, nil), conditions.Sources("MachinePool", w.Descendants.MachinePools, nil)...)
}

// machines sets the aggregates over Machines, control plane and workers apart.
func (d *Decision) machines(w World) {
	var controlPlane, workers []*clusterv1.Machine
	for _, m := range w.Descendants.Machines {
		switch {
		case labels.IsControlPlane(m.Labels):
			controlPlane = append(controlPlane, m)
		case m.Labels[clusterv1.MachinePoolNameLabel] == "":
			workers = append(workers, m)
		}
	}
	for _, c := range []metav1.Condition{
		rollup.Ready(controlPlane, clusterv1.ClusterControlPlaneMachinesReadyCondition),
		rollup.Ready(workers, clusterv1.ClusterWorkerMachinesReadyCondition),
		rollup.UpToDate(controlPlane, clusterv1.ClusterControlPlaneMachinesUpToDateCondition, w.Now),
		rollup.UpToDate(workers, clusterv1.ClusterWorkerMachinesUpToDateCondition, w.Now),
	} {
		if w.Descendants.Err != nil {
			c = condition(c.Type, metav1.ConditionUnknown, clusterv1.InternalErrorReason, "Please check the logs of the core manager")
		}
		conditions.Set(d.Cluster, c)
	}
}

// progress sets RollingOut, ScalingUp and ScalingDown from the control plane, MachineDeployments, MachinePools and stand-alone MachineSets.
func (d *Decision) progress(w World) {
	for _, t := range []struct{ kind, unknown, yes, no string }{
		{clusterv1.RollingOutCondition, clusterv1.ClusterRollingOutUnknownReason, clusterv1.RollingOutReason, clusterv1.NotRollingOutReason},
		{clusterv1.ScalingUpCondition, clusterv1.ClusterScalingUpUnknownReason, clusterv1.ScalingUpReason, clusterv1.NotScalingUpReason},
		{clusterv1.ScalingDownCondition, clusterv1.ClusterScalingDownUnknownReason, clusterv1.ScalingDownReason, clusterv1.NotScalingDownReason},
	} {
		if w.ControlPlane.Err != nil || w.Descendants.Err != nil {
			conditions.Set(d.Cluster, condition(t.kind, metav1.ConditionUnknown, t.unknown, "Please check the logs of the core manager"))
			continue
		}
		conditions.Set(d.Cluster, conditions.Aggregate(movers(w, t.kind), t.kind, t.kind, conditions.AggregateOptions{
			Negative: true, SkipAbsent: true, Reasons: conditions.Reasons{True: t.yes, False: t.no, Unknown: t.unknown},
			None: &conditions.Fallback{Status: metav1.ConditionFalse, Reason: t.no},
		}))
	}
}

// one is a provider object that has the one condition that was read from it.
type one struct{ list []metav1.Condition }

// GetConditions returns that one condition.
func (o one) GetConditions() []metav1.Condition { return o.list }

func movers(w World, kind string) []conditions.Source {
	var out []conditions.Source
	if cp := w.ControlPlane.Object; cp != nil {
		if c := conditions.FromUnstructuredOne(cp.Unstructured, kind); c != nil {
			out = append(out, conditions.Source{Getter: one{[]metav1.Condition{*c}}, Kind: cp.GetKind(), Name: cp.GetName(), ControlPlane: true})
		}
	}
	out = append(out, groups(w)...)
	for _, ms := range w.Descendants.MachineSets {
		if ms.Labels[clusterv1.MachineDeploymentNameLabel] == "" {
			out = append(out, conditions.Of("MachineSet", ms))
		}
	}
	return out
}

func remediating(w World) metav1.Condition {
	unhealthy := 0
	for _, m := range w.Descendants.Machines {
		if conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) && !conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition) {
			unhealthy++
		}
	}
	message := ""
	if unhealthy > 0 {
		message = fmt.Sprintf("%d Machine(s) not healthy but not to be remediated by their owner", unhealthy)
	}
	return rollup.Remediating(w.Descendants.Machines, message)
}

// phase is a word for people; nothing decides on it.
func (d *Decision) phase() {
	c := d.Cluster
	phase := clusterv1.ClusterPhasePending
	switch {
	case !c.DeletionTimestamp.IsZero():
		phase = clusterv1.ClusterPhaseDeleting
	case isTrue(c.Status.Initialization.InfrastructureProvisioned) && c.Spec.ControlPlaneEndpoint.Host != "" && c.Spec.ControlPlaneEndpoint.Port != 0:
		phase = clusterv1.ClusterPhaseProvisioned
	case c.Spec.InfrastructureRef.Name != "" || c.Spec.ControlPlaneRef.Name != "":
		phase = clusterv1.ClusterPhaseProvisioning
	}
	if c.Status.Phase != phase {
		d.Events = append(d.Events, Event{phase, "Cluster " + c.Name + " is " + phase})
		c.Status.Phase = phase
	}
}
