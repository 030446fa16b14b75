package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/conditions"
)

const (
	isTrueNow, isFalse, isUnknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
)

func reports(status, reason string) map[string]any {
	return map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status, "reason": reason, "message": "as told"}}}
}

// lostNode is one whose kubelet has gone silent.
func lostNode(w *World) {
	for i := range w.Node.Node.Status.Conditions {
		w.Node.Node.Status.Conditions[i].Status, w.Node.Node.Status.Conditions[i].Message = corev1.ConditionUnknown, "Kubelet stopped posting node status."
	}
}

func duplicated(w *World) { w.Node.Duplicates = []string{"n", "stranger"} }

// components are those of a control plane machine that does not answer.
func components(w *World) {
	for _, t := range controlPlaneComponents {
		conditions.Set(w.Machine, metav1.Condition{Type: t, Status: isUnknown, Reason: "InspectionFailed", Message: "no answer"})
		w.Machine.Spec.ReadinessGates = append(w.Machine.Spec.ReadinessGates, clusterv1.MachineReadinessGate{ConditionType: t})
	}
}

// Conformance: MA-40, MA-41, MA-42, MA-43, MA-44, MA-45, MA-47, SH-38
func TestConditions(t *testing.T) {
	noConfig := machineWith(func(m *clusterv1.Machine) { m.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{} })
	unused := machineWith(func(m *clusterv1.Machine) {
		m.Status.Initialization, m.Spec.Bootstrap.DataSecretName = clusterv1.MachineInitializationStatus{}, nil
	})
	known := hadCondition(clusterv1.MachineNodeReadyCondition, isTrueNow, clusterv1.MachineNodeReadyReason, time.Hour)
	noNode := machineWith(func(m *clusterv1.Machine) { m.Status.NodeRef.Name = "" })
	deleting := deletingFor(time.Minute)
	hook := func(w *World) { annotated(preTerminate)(w) }
	for _, c := range []struct {
		name, kind string
		changes    []change
		status     metav1.ConditionStatus
		reason     string
		message    string
	}{
		{"bootstrap: the flag speaks", clusterv1.BootstrapConfigReadyCondition, nil, isTrueNow, "Ready", "FakeBootstrap status.initialization.dataSecretCreated is true"},
		{"bootstrap: mirrored", clusterv1.BootstrapConfigReadyCondition, []change{bootstrapIs(found("FakeBootstrap", nil, reports("False", "Waiting")))}, isFalse, "Waiting", "as told"},
		{"bootstrap: no reference", clusterv1.BootstrapConfigReadyCondition, []change{noConfig, bootstrapIs(Referred{})}, isTrueNow, clusterv1.MachineBootstrapDataSecretProvidedReason, ""},
		{"bootstrap: never was", clusterv1.BootstrapConfigReadyCondition, []change{bootstrapIs(none), unused}, isFalse, clusterv1.ObjectDoesNotExistReason, "does not exist"},
		{"bootstrap: gone", clusterv1.BootstrapConfigReadyCondition, []change{bootstrapIs(none)}, isFalse, clusterv1.ObjectDeletedReason, "while the machine still exists"},
		{"bootstrap: gone in deletion", clusterv1.BootstrapConfigReadyCondition, []change{bootstrapIs(none), deleting}, isFalse, clusterv1.ObjectDeletedReason, "has been deleted"},
		{"bootstrap: unreadable", clusterv1.BootstrapConfigReadyCondition, []change{bootstrapIs(Referred{Err: errRead})}, isUnknown, clusterv1.InternalErrorReason, ""},
		{"infrastructure: the flag speaks", clusterv1.InfrastructureReadyCondition, nil, isTrueNow, "Ready", "provisioned is true"},
		{"infrastructure: mirrored", clusterv1.InfrastructureReadyCondition, []change{infrastructureIs(found("FakeMachine", nil, reports("True", "Up")))}, isTrueNow, "Up", "as told"},
		{"infrastructure: garbage", clusterv1.InfrastructureReadyCondition, []change{infrastructureIs(found("FakeMachine", nil, map[string]any{"conditions": "none"}))}, isUnknown, conditions.InvalidConditionReportedReason, "list"},
		{"infrastructure: gone", clusterv1.InfrastructureReadyCondition, []change{infrastructureIs(none)}, isFalse, clusterv1.ObjectDeletedReason, "while the machine still exists"},
		{"infrastructure: never was", clusterv1.InfrastructureReadyCondition, []change{infrastructureIs(none), unused}, isFalse, clusterv1.ObjectDoesNotExistReason, ""},

		{"node: ready", clusterv1.MachineNodeReadyCondition, nil, isTrueNow, clusterv1.MachineNodeReadyReason, ""},
		{"node: not ready", clusterv1.MachineNodeReadyCondition, []change{nodeCondition(corev1.NodeReady, corev1.ConditionFalse, "no network")}, isFalse, clusterv1.MachineNodeNotReadyReason, "* Node.Ready: no network"},
		{"node: lost", clusterv1.MachineNodeReadyCondition, []change{nodeCondition(corev1.NodeReady, corev1.ConditionUnknown, "stopped")}, isUnknown, clusterv1.MachineNodeReadyUnknownReason, "stopped"},
		{"node: infrastructure awaited", clusterv1.MachineNodeReadyCondition, []change{func(w *World) { w.Cluster.Status.Initialization.InfrastructureProvisioned = &no }}, isUnknown, clusterv1.InspectionFailedReason, "infrastructureProvisioned"},
		{"node: control plane awaited", clusterv1.MachineNodeReadyCondition, []change{func(w *World) { w.Cluster.Status.Initialization.ControlPlaneInitialized = nil }}, isUnknown, clusterv1.InspectionFailedReason, "control plane"},
		{"node: awaited", clusterv1.MachineNodeReadyCondition, []change{nodeIs(NodeView{Connected: true}), noNode}, isUnknown, clusterv1.InspectionFailedReason, providerIDOfM},
		{"node: identity awaited", clusterv1.MachineNodeReadyCondition, []change{young, nodeIs(NodeView{Connected: true})}, isUnknown, clusterv1.InspectionFailedReason, "FakeMachine to report spec.providerID"},
		{"node: gone", clusterv1.MachineNodeReadyCondition, []change{nodeIs(NodeView{Connected: true})}, isFalse, clusterv1.MachineNodeDeletedReason, "still exists"},
		{"node: gone in deletion", clusterv1.MachineNodeReadyCondition, []change{nodeIs(NodeView{Connected: true}), deleting}, isFalse, clusterv1.MachineNodeDeletedReason, "has been deleted"},
		{"node: never was", clusterv1.MachineNodeReadyCondition, []change{nodeIs(NodeView{Connected: true}), noNode, deleting}, isUnknown, clusterv1.MachineNodeDoesNotExistReason, ""},
		{"node: connection just lost", clusterv1.MachineNodeReadyCondition, []change{nodeIs(NodeView{}), known}, isTrueNow, clusterv1.MachineNodeReadyReason, ""},
		{"node: connection lost for long", clusterv1.MachineNodeReadyCondition, []change{nodeIs(NodeView{}), known, func(w *World) { w.Health.LastProbeSuccess = now.Add(-time.Hour) }}, isUnknown, clusterv1.ConnectionDownReason, ""},
		{"node: unreadable", clusterv1.MachineNodeReadyCondition, []change{nodeIs(NodeView{Connected: true, Err: errRead})}, isUnknown, clusterv1.InternalErrorReason, ""},

		{"health: good", clusterv1.MachineNodeHealthyCondition, nil, isTrueNow, clusterv1.MachineNodeHealthyReason, ""},
		{"health: pressure", clusterv1.MachineNodeHealthyCondition, []change{nodeCondition(corev1.NodeDiskPressure, corev1.ConditionTrue, "disk is full")}, isFalse, clusterv1.MachineNodeNotHealthyReason, "* Node.DiskPressure: disk is full"},
		{"health: unknown", clusterv1.MachineNodeHealthyCondition, []change{nodeCondition(corev1.NodeMemoryPressure, corev1.ConditionUnknown, "no word")}, isUnknown, clusterv1.MachineNodeHealthUnknownReason, "no word"},
		{"health: nothing reported", clusterv1.MachineNodeHealthyCondition, []change{func(w *World) { w.Node.Node.Status.Conditions = nil }}, isUnknown, clusterv1.MachineNodeHealthUnknownReason, "Node.PIDPressure: Condition not yet reported"},

		{"health: one line for equal messages", clusterv1.MachineNodeHealthyCondition, []change{lostNode}, isUnknown, clusterv1.MachineNodeHealthUnknownReason,
			"* Node.Ready, Node.MemoryPressure, Node.DiskPressure, Node.PIDPressure: Kubelet stopped posting node status."},
		{"node: two with one identity", clusterv1.MachineNodeReadyCondition, []change{duplicated}, isUnknown, clusterv1.InspectionFailedReason, "Nodes n, stranger have the same spec.providerID " + providerIDOfM},
		{"health: two with one identity", clusterv1.MachineNodeHealthyCondition, []change{duplicated}, isUnknown, clusterv1.InspectionFailedReason, "Nodes n, stranger"},
		{"node: initialized after the last probe", clusterv1.MachineNodeReadyCondition, []change{nodeIs(NodeView{}), known, func(w *World) {
			w.Health.LastProbeSuccess = now.Add(-time.Hour)
			conditions.Set(w.Cluster, metav1.Condition{Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: isTrueNow, LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))})
		}}, isTrueNow, clusterv1.MachineNodeReadyReason, ""},

		{"deleting: not", clusterv1.DeletingCondition, nil, isFalse, clusterv1.NotDeletingReason, ""},
		{"deleting: which step", clusterv1.DeletingCondition, []change{deleting, hook}, isTrueNow, clusterv1.MachineDeletingWaitingForPreTerminateHookReason, preTerminate},
		{"updating: not", clusterv1.MachineUpdatingCondition, nil, isFalse, clusterv1.MachineNotUpdatingReason, ""},

		{"up to date", clusterv1.MachineUpToDateCondition, []change{deployed("v1.37.0", "v1.37.0")}, isTrueNow, clusterv1.MachineUpToDateReason, ""},
		{"up to date: older template", clusterv1.MachineUpToDateCondition, []change{deployed("v1.36.0", "v1.37.0")}, isFalse, clusterv1.MachineNotUpToDateReason, "* Version v1.36.0, v1.37.0 required"},
		{"up to date: rollout asked for", clusterv1.MachineUpToDateCondition, []change{deployed("v1.37.0", "v1.37.0"), func(w *World) {
			w.MachineSet.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour))
			w.MachineDeployment.Spec.Rollout.After = metav1.NewTime(now.Add(-time.Minute))
		}}, isFalse, clusterv1.MachineNotUpToDateReason, "rollout.after"},
		{"up to date: kubelet behind", clusterv1.MachineUpToDateCondition, []change{deployed("v1.37.0", "v1.37.0"), func(w *World) { w.Node.Node.Status.NodeInfo.KubeletVersion = "v1.36.0" }}, isFalse, clusterv1.MachineUpToDateUpdatingReason, "v1.36.0"},

		{"ready", clusterv1.ReadyCondition, nil, isTrueNow, clusterv1.ReadyReason, ""},
		{"ready: not in deletion", clusterv1.ReadyCondition, []change{deleting, hook}, isFalse, clusterv1.NotReadyReason, "* Deleting:"},
		{"ready: not with an unhealthy check", clusterv1.ReadyCondition, []change{hadCondition(clusterv1.MachineHealthCheckSucceededCondition, isFalse, "UnhealthyNode", time.Minute)}, isFalse, clusterv1.NotReadyReason, "HealthCheckSucceeded"},
		{"ready: a gate that nobody opened", clusterv1.ReadyCondition, []change{machineWith(func(m *clusterv1.Machine) {
			m.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Storage"}}
		})}, isUnknown, clusterv1.ReadyUnknownReason, "Storage"},
		{"ready: a gate that must stay shut", clusterv1.ReadyCondition, []change{hadCondition("Broken", isTrueNow, "Yes", time.Minute), machineWith(func(m *clusterv1.Machine) {
			m.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Broken", Polarity: clusterv1.NegativePolarityCondition}}
		})}, isFalse, clusterv1.NotReadyReason, "* Broken: Yes"},
		{"ready: one line for the control plane", clusterv1.ReadyCondition, []change{components}, isUnknown, clusterv1.ReadyUnknownReason, "* Control plane components: no answer"},
		{"ready: a deletion that takes long", clusterv1.ReadyCondition, []change{deletingFor(16 * time.Minute), hook}, isFalse, clusterv1.NotReadyReason,
			"* Deleting: In deletion since more than 15m, WaitingForPreTerminateHook: Waiting for the hooks " + preTerminate},
		{"available", clusterv1.AvailableCondition, nil, isTrueNow, clusterv1.AvailableReason, ""},
		{"available: not when not ready", clusterv1.AvailableCondition, []change{nodeCondition(corev1.NodeReady, corev1.ConditionFalse, "")}, isFalse, clusterv1.NotReadyReason, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(c.changes...))
			got := conditions.Get(d.Machine, c.kind)
			require.NotNil(t, got)
			assert.Equal(t, c.status, got.Status)
			assert.Equal(t, c.reason, got.Reason)
			assert.Contains(t, got.Message, c.message)
		})
	}
}

// failedBoot is what an infrastructure machine tells of a first boot that made no Node.
func failedBoot(w *World) {
	message := "kubeadm join failed in phase preflight: Port 10250 is in use\nNext: free it.\nThe output ended with:\n  --token abcdef.0123456789abcdef"
	w.Infrastructure = found("FakeMachine", map[string]any{"providerID": providerIDOfM}, map[string]any{
		"initialization": map[string]any{"provisioned": true},
		"conditions":     []any{map[string]any{"type": bootstrapreport.ConditionType, "status": "True", "reason": "PortInUse", "message": message}},
	})
	w.Node, w.Machine.Status.NodeRef.Name = NodeView{Connected: true}, ""
}

// TestWhyThereIsNoNode: the Machine has the whole report in a condition of its own, and its first line wherever a Node is
// awaited, also while the control plane is not there yet.
func TestWhyThereIsNoNode(t *testing.T) {
	w := world(failedBoot)
	d := Decide(w)
	c := conditions.Get(d.Machine, bootstrapreport.ConditionType)
	require.NotNil(t, c)
	assert.Equal(t, isTrueNow, c.Status)
	assert.Equal(t, "PortInUse", c.Reason)
	assert.Contains(t, c.Message, "Next: free it.")
	assert.NotContains(t, c.Message, "0123456789abcdef", "not every provider takes secrets out")
	const line = ": kubeadm join failed in phase preflight: Port 10250 is in use"
	waits := "Waiting for a Node with spec.providerID " + providerIDOfM + " to exist" + line
	assert.Equal(t, waits, conditions.Message(d.Machine, clusterv1.MachineNodeHealthyCondition))
	assert.Equal(t, clusterv1.InspectionFailedReason, conditions.Reason(d.Machine, clusterv1.MachineNodeHealthyCondition))
	assert.Contains(t, conditions.Message(d.Machine, clusterv1.ReadyCondition), waits)
	assert.Equal(t, []Event{{"BootstrapFailed", line[2:]}}, d.Events)

	w.Machine = d.Machine
	assert.Empty(t, Decide(w).Events, "told once")
	unreadable := w
	unreadable.Infrastructure = Referred{Err: errRead}
	assert.NotNil(t, conditions.Get(Decide(unreadable).Machine, bootstrapreport.ConditionType), "known is known")

	first := world(failedBoot, func(w *World) { w.Cluster.Status.Initialization.ControlPlaneInitialized = nil })
	assert.Equal(t, "Waiting for Cluster control plane to be initialized"+line, conditions.Message(Decide(first).Machine, clusterv1.MachineNodeReadyCondition))

	up := world(failedBoot, machineWith(func(m *clusterv1.Machine) {
		m.Status.Conditions, m.Status.NodeRef.Name = d.Machine.Status.Conditions, "n"
	}))
	up.Node = world().Node
	assert.Nil(t, conditions.Get(Decide(up).Machine, bootstrapreport.ConditionType), "there is a Node")
}

// Conformance: MA-43, MA-49
func TestTheExactTimeOfTheNextLook(t *testing.T) {
	wait := machineWith(func(m *clusterv1.Machine) { s := int32(60); m.Spec.MinReadySeconds = &s })
	d := Decide(world(wait, hadCondition(clusterv1.ReadyCondition, isTrueNow, clusterv1.ReadyReason, 20*time.Second)))
	assert.Equal(t, 40*time.Second, d.After)
	assert.Equal(t, clusterv1.MachineWaitingForMinReadySecondsReason, conditions.Reason(d.Machine, clusterv1.AvailableCondition))
	d = Decide(world(wait, hadCondition(clusterv1.ReadyCondition, isTrueNow, clusterv1.ReadyReason, 60*time.Second)))
	assert.Zero(t, d.After)
	assert.True(t, conditions.IsTrue(d.Machine, clusterv1.AvailableCondition))

	d = Decide(world(nodeIs(NodeView{}), hadCondition(clusterv1.MachineNodeReadyCondition, isTrueNow, clusterv1.MachineNodeReadyReason, time.Hour)))
	assert.Equal(t, 5*time.Minute-10*time.Second, d.After, "until the connection counts as down")

	d = Decide(world(deployed("v1.37.0", "v1.37.0"), func(w *World) { w.MachineDeployment.Spec.Rollout.After = metav1.NewTime(now.Add(time.Hour)) }))
	assert.Equal(t, time.Hour, d.After, "until the rollout is due")
}

// Conformance: MA-45, MA-50
func TestUpToDateBelongsToOthers(t *testing.T) {
	assert.Nil(t, conditions.Get(Decide(world()).Machine, clusterv1.MachineUpToDateCondition))
	d := Decide(world(hadCondition(clusterv1.MachineUpToDateCondition, isFalse, "ByControlPlane", time.Hour)))
	assert.Equal(t, "ByControlPlane", conditions.Reason(d.Machine, clusterv1.MachineUpToDateCondition))
}

// Conformance: MA-51
func TestPhaseMovesItsTime(t *testing.T) {
	d := Decide(world())
	assert.Equal(t, clusterv1.MachinePhaseRunning, d.Machine.Status.Phase)
	assert.Equal(t, now, d.Machine.Status.LastUpdated.UTC())
	w := world()
	w.Machine, w.Now = d.Machine, now.Add(time.Hour)
	assert.Equal(t, now, Decide(w).Machine.Status.LastUpdated.UTC(), "only a change does")
}

// Conformance: MA-48
func TestALongDeletionIsToldWhenItGetsLong(t *testing.T) {
	hook := annotated(preTerminate)
	d := Decide(world(deletingFor(14*time.Minute), hook))
	assert.Equal(t, time.Minute, d.After)
	assert.NotContains(t, conditions.Message(d.Machine, clusterv1.ReadyCondition), "15m")
	d = Decide(world(deletingFor(15*time.Minute), hook))
	assert.Contains(t, conditions.Message(d.Machine, clusterv1.ReadyCondition), "15m")
	assert.NotContains(t, conditions.Message(d.Machine, clusterv1.DeletingCondition), "15m", "there it would be noise")
}

// Conformance: MA-50
func TestConditionsOfOthersAreLeftAlone(t *testing.T) {
	for _, kind := range []string{clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition, clusterv1.MachineExternallyRemediatedCondition} {
		assert.NotContains(t, ownConditions, kind)
		d := Decide(world(hadCondition(kind, isFalse, "ByOthers", time.Hour)))
		assert.Equal(t, "ByOthers", conditions.Reason(d.Machine, kind))
	}
}
