package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

const (
	isTrueNow, isFalse, isUnknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
)

// reports is a status in which one condition is told.
func reports(kind, status, reason string) map[string]any {
	return map[string]any{"conditions": []any{map[string]any{"type": kind, "status": status, "reason": reason, "message": "as told"}},
		"initialization": map[string]any{"provisioned": true, "controlPlaneInitialized": true}}
}

func probes(failures int, last time.Duration) change {
	return func(w *World) {
		w.Health = clustercache.HealthState{ConsecutiveFailures: failures}
		if last > 0 {
			w.Health.LastProbeSuccess = now.Add(-last)
		}
	}
}

func topology(w *World) {
	w.Cluster.Spec.Topology.ClassRef.Name = "class"
	w.Cluster.Spec.InfrastructureRef, w.Cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{}, clusterv1.ContractVersionedObjectReference{}
	w.Infrastructure, w.ControlPlane = referred.Object{}, referred.Object{}
}

func hadCondition(kind string, status metav1.ConditionStatus, reason string) change {
	return clusterWith(func(c *clusterv1.Cluster) {
		conditions.Set(c, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "of old"})
	})
}

// Conformance: CL-04, CL-40, CL-41, CL-42, CL-43, CL-44, CL-45, CL-46, CL-47, CL-48, CL-49, CL-50, SH-38
func TestConditions(t *testing.T) {
	neverUp := clusterWith(func(c *clusterv1.Cluster) { c.Status.Initialization = clusterv1.ClusterInitializationStatus{} })
	unreadable := func(w *World) { w.Descendants = Descendants{Err: errRead} }
	remote := clusterv1.ClusterRemoteConnectionProbeCondition
	for _, c := range []struct {
		name, kind string
		changes    []change
		status     metav1.ConditionStatus
		reason     string
		message    string
	}{
		{"connection: up", remote, nil, isTrueNow, clusterv1.ClusterRemoteConnectionProbeSucceededReason, ""},
		{"connection: a short outage", remote, []change{probes(3, 50*time.Second)}, isTrueNow, clusterv1.ClusterRemoteConnectionProbeSucceededReason, ""},
		{"connection: a long outage", remote, []change{probes(8, 2*time.Minute)}, isFalse, clusterv1.ClusterRemoteConnectionProbeFailedReason, "2030-01-02T03:02:05Z"},
		{"connection: never was", remote, []change{probes(0, 0)}, isFalse, clusterv1.ClusterRemoteConnectionProbeFailedReason, ""},
		{"connection: after a restart of the manager", remote, []change{probes(2, 0), hadCondition(remote, isTrueNow, "Old")}, isTrueNow, "Old", ""},
		{"connection: lost for good", remote, []change{probes(5, 0), hadCondition(remote, isTrueNow, "Old")}, isFalse, clusterv1.ClusterRemoteConnectionProbeFailedReason, ""},

		{"infrastructure: the flag speaks", clusterv1.InfrastructureReadyCondition, nil, isTrueNow, "Ready", "FakeCluster status.initialization.provisioned is true"},
		{"infrastructure: mirrored", clusterv1.InfrastructureReadyCondition, []change{infrastructureIs(found("FakeCluster", nil, reports("Ready", "False", "Slow")))}, isFalse, "Slow", "as told"},
		{"infrastructure: topology awaited", clusterv1.InfrastructureReadyCondition, []change{topology}, isFalse, clusterv1.ObjectDoesNotExistReason, "topology"},
		{"infrastructure: unreadable", clusterv1.InfrastructureReadyCondition, []change{infrastructureIs(referred.Object{Err: errRead})}, isUnknown, clusterv1.InternalErrorReason, ""},
		{"infrastructure: gone", clusterv1.InfrastructureReadyCondition, []change{infrastructureIs(none)}, isFalse, clusterv1.ObjectDeletedReason, "still exists"},
		{"infrastructure: never was", clusterv1.InfrastructureReadyCondition, []change{infrastructureIs(none), neverUp}, isFalse, clusterv1.ObjectDoesNotExistReason, "FakeCluster does not exist"},
		{"infrastructure: gone in deletion", clusterv1.InfrastructureReadyCondition, []change{deleting, infrastructureIs(none)}, isFalse, clusterv1.ObjectDeletedReason, "has been deleted"},
		{"infrastructure: garbage", clusterv1.InfrastructureReadyCondition, []change{infrastructureIs(found("FakeCluster", nil, map[string]any{"conditions": map[string]any{}}))}, isUnknown, conditions.InvalidConditionReportedReason, ""},

		{"control plane: the flag speaks", clusterv1.ClusterControlPlaneAvailableCondition, nil, isTrueNow, "Ready", "controlPlaneInitialized is true"},
		{"control plane: mirrored", clusterv1.ClusterControlPlaneAvailableCondition, []change{controlPlaneIs(found("FakeControlPlane", nil, reports("Available", "False", "EtcdDown")))}, isFalse, "EtcdDown", "as told"},
		{"control plane: unreadable", clusterv1.ClusterControlPlaneAvailableCondition, []change{controlPlaneIs(referred.Object{Err: errRead})}, isUnknown, clusterv1.InternalErrorReason, ""},
		{"control plane: never was", clusterv1.ClusterControlPlaneAvailableCondition, []change{controlPlaneIs(none), neverUp}, isFalse, clusterv1.ObjectDoesNotExistReason, ""},
		{"control plane: stand-alone, up", clusterv1.ClusterControlPlaneAvailableCondition, []change{standalone}, isTrueNow, clusterv1.AvailableReason, ""},
		{"control plane: stand-alone, awaited", clusterv1.ClusterControlPlaneAvailableCondition, []change{standalone, neverUp}, isFalse, clusterv1.NotAvailableReason, "Node"},
		{"initialized", clusterv1.ClusterControlPlaneInitializedCondition, []change{controlPlaneIs(none)}, isTrueNow, clusterv1.ClusterControlPlaneInitializedReason, ""},
		{"initialized: not yet", clusterv1.ClusterControlPlaneInitializedCondition, []change{fresh}, isFalse, clusterv1.ClusterControlPlaneNotInitializedReason, ""},
		{"initialized: nothing to ask", clusterv1.ClusterControlPlaneInitializedCondition, []change{fresh, controlPlaneIs(none)}, isUnknown, clusterv1.ObjectDoesNotExistReason, ""},
		{"initialized: unreadable", clusterv1.ClusterControlPlaneInitializedCondition, []change{fresh, controlPlaneIs(referred.Object{Err: errRead})}, isUnknown, clusterv1.InternalErrorReason, ""},

		{"workers", clusterv1.ClusterWorkersAvailableCondition, nil, isTrueNow, clusterv1.AvailableReason, ""},
		{"workers: none", clusterv1.ClusterWorkersAvailableCondition, []change{empty}, isTrueNow, clusterv1.ClusterWorkersAvailableNoWorkersReason, ""},
		{"workers: some not", clusterv1.ClusterWorkersAvailableCondition, []change{deploymentCondition(clusterv1.AvailableCondition, isFalse, "too few")}, isFalse, clusterv1.NotAvailableReason, "* MachineDeployment md: too few"},
		{"workers: a pool counts too", clusterv1.ClusterWorkersAvailableCondition, []change{poolCondition(clusterv1.AvailableCondition, isFalse, "too few")}, isFalse, clusterv1.NotAvailableReason, "* MachinePool mp: too few"},
		{"workers: unreadable", clusterv1.ClusterWorkersAvailableCondition, []change{unreadable}, isUnknown, clusterv1.InternalErrorReason, ""},
		{"control plane machines", clusterv1.ClusterControlPlaneMachinesReadyCondition, nil, isTrueNow, clusterv1.ReadyReason, ""},
		{"control plane machines: one not", clusterv1.ClusterControlPlaneMachinesReadyCondition, []change{machineCondition("cp", clusterv1.ReadyCondition, isFalse, "no disk")}, isFalse, clusterv1.NotReadyReason, "* Machine cp: no disk"},
		{"control plane machines: none", clusterv1.ClusterControlPlaneMachinesReadyCondition, []change{empty}, isTrueNow, clusterv1.NoReplicasReason, ""},
		{"worker machines: of a control plane do not count", clusterv1.ClusterWorkerMachinesReadyCondition, []change{machineCondition("cp", clusterv1.ReadyCondition, isFalse, "")}, isTrueNow, clusterv1.ReadyReason, ""},
		{"worker machines: of a pool do not count", clusterv1.ClusterWorkerMachinesReadyCondition, []change{machineCondition("worker", clusterv1.ReadyCondition, isFalse, ""), func(w *World) {
			w.Descendants.Machines[1].Labels = map[string]string{clusterv1.MachinePoolNameLabel: "p"}
		}}, isTrueNow, clusterv1.NoReplicasReason, ""},
		{"worker machines up to date: one not", clusterv1.ClusterWorkerMachinesUpToDateCondition, []change{machineCondition("worker", clusterv1.MachineUpToDateCondition, isFalse, "old")}, isFalse, clusterv1.NotUpToDateReason, "* Machine worker: old"},
		{"control plane machines up to date: too young to tell", clusterv1.ClusterControlPlaneMachinesUpToDateCondition, []change{func(w *World) {
			w.Descendants.Machines[0].CreationTimestamp, w.Descendants.Machines[0].Status.Conditions = metav1.NewTime(now), nil
		}}, isTrueNow, clusterv1.NoReplicasReason, ""},

		{"rolling out: not", clusterv1.RollingOutCondition, nil, isFalse, clusterv1.NotRollingOutReason, ""},
		{"rolling out: workers", clusterv1.RollingOutCondition, []change{deploymentCondition(clusterv1.RollingOutCondition, isTrueNow, "1 to go")}, isTrueNow, clusterv1.RollingOutReason, "* MachineDeployment md: 1 to go"},
		{"rolling out: control plane", clusterv1.RollingOutCondition, []change{controlPlaneIs(found("FakeControlPlane", nil, reports(clusterv1.RollingOutCondition, "True", "X")))}, isTrueNow, clusterv1.RollingOutReason, "* FakeControlPlane c: as told"},
		{"rolling out: unreadable", clusterv1.RollingOutCondition, []change{unreadable}, isUnknown, clusterv1.ClusterRollingOutUnknownReason, ""},
		{"rolling out: control plane unreadable", clusterv1.RollingOutCondition, []change{controlPlaneIs(referred.Object{Err: errRead})}, isUnknown, clusterv1.ClusterRollingOutUnknownReason, ""},
		{"scaling up: a stand-alone set", clusterv1.ScalingUpCondition, []change{setCondition("", clusterv1.ScalingUpCondition, isTrueNow, "from 1 to 2")}, isTrueNow, clusterv1.ScalingUpReason, "* MachineSet set: from 1 to 2"},
		{"scaling up: the set of a deployment is told by that", clusterv1.ScalingUpCondition, []change{setCondition("md", clusterv1.ScalingUpCondition, isTrueNow, "from 1 to 2")}, isFalse, clusterv1.NotScalingUpReason, ""},
		{"scaling up", clusterv1.ScalingUpCondition, []change{deploymentCondition(clusterv1.ScalingUpCondition, isTrueNow, "")}, isTrueNow, clusterv1.ScalingUpReason, ""},
		{"scaling down", clusterv1.ScalingDownCondition, []change{deploymentCondition(clusterv1.ScalingDownCondition, isTrueNow, "")}, isTrueNow, clusterv1.ScalingDownReason, ""},
		{"scaling down: a pool", clusterv1.ScalingDownCondition, []change{poolCondition(clusterv1.ScalingDownCondition, isTrueNow, "from 3 to 2")}, isTrueNow, clusterv1.ScalingDownReason, "* MachinePool mp: from 3 to 2"},
		{"scaling down: nobody does", clusterv1.ScalingDownCondition, []change{empty}, isFalse, clusterv1.NotScalingDownReason, ""},

		{"remediating: not", clusterv1.RemediatingCondition, nil, isFalse, clusterv1.NotRemediatingReason, ""},
		{"remediating", clusterv1.RemediatingCondition, []change{machineCondition("worker", clusterv1.MachineOwnerRemediatedCondition, isFalse, "soon")}, isTrueNow, clusterv1.RemediatingReason, "worker"},
		{"remediating: nobody does", clusterv1.RemediatingCondition, []change{machineCondition("worker", clusterv1.MachineHealthCheckSucceededCondition, isFalse, "")}, isFalse, clusterv1.NotRemediatingReason, "1 Machine(s) not healthy"},

		{"deleting: not", clusterv1.DeletingCondition, nil, isFalse, clusterv1.NotDeletingReason, ""},
		{"available", clusterv1.AvailableCondition, nil, isTrueNow, clusterv1.AvailableReason, ""},
		{"available: not without infrastructure", clusterv1.AvailableCondition, []change{infrastructureIs(found("FakeCluster", nil, reports("Ready", "False", "Slow")))}, isFalse, clusterv1.NotAvailableReason, "* InfrastructureReady: as told"},
		{"available: not without control plane", clusterv1.AvailableCondition, []change{controlPlaneIs(found("FakeControlPlane", nil, reports("Available", "False", "EtcdDown")))}, isFalse, clusterv1.NotAvailableReason, "* ControlPlaneAvailable: as told"},
		{"available: not without workers", clusterv1.AvailableCondition, []change{deploymentCondition(clusterv1.AvailableCondition, isFalse, "too few")}, isFalse, clusterv1.NotAvailableReason, "* WorkersAvailable:\n  * MachineDeployment md: too few"},
		{"available: not in deletion", clusterv1.AvailableCondition, []change{deleting}, isFalse, clusterv1.NotAvailableReason, "* Deleting:"},
		{"available: not without connection", clusterv1.AvailableCondition, []change{probes(8, time.Hour)}, isFalse, clusterv1.NotAvailableReason, "RemoteConnectionProbe"},
		{"available: a topology must be reconciled", clusterv1.AvailableCondition, []change{clusterWith(func(c *clusterv1.Cluster) { c.Spec.Topology.ClassRef.Name = "class" })}, isUnknown, clusterv1.AvailableUnknownReason, "TopologyReconciled"},
		{"available: a topology at work is no issue", clusterv1.AvailableCondition, []change{hadCondition(clusterv1.ClusterTopologyReconciledCondition, isFalse, "ControlPlaneUpgradePending")}, isTrueNow, clusterv1.AvailableReason, "of old"},
		{"available: a topology that fails is one", clusterv1.AvailableCondition, []change{hadCondition(clusterv1.ClusterTopologyReconciledCondition, isFalse, clusterv1.ClusterTopologyReconciledFailedReason)}, isFalse, clusterv1.NotAvailableReason, "of old"},
		{"available: a negative gate", clusterv1.AvailableCondition, []change{hadCondition("Burning", isTrueNow, "Smoke"), clusterWith(func(c *clusterv1.Cluster) {
			c.Spec.AvailabilityGates = []clusterv1.ClusterAvailabilityGate{{ConditionType: "Burning", Polarity: clusterv1.NegativePolarityCondition}}
		})}, isFalse, clusterv1.NotAvailableReason, "* Burning: of old"},
		{"available: a positive gate that nobody reports", clusterv1.AvailableCondition, []change{clusterWith(func(c *clusterv1.Cluster) {
			c.Spec.AvailabilityGates = []clusterv1.ClusterAvailabilityGate{{ConditionType: "Blessed"}}
		})}, isUnknown, clusterv1.AvailableUnknownReason, "* Blessed:"},
		{"available: the gates of the class", clusterv1.AvailableCondition, []change{gateOfClass("Burning"), hadCondition("Burning", isTrueNow, "Smoke")}, isFalse, clusterv1.NotAvailableReason, "* Burning: of old"},
		{"available: own gates stand in for those of the class", clusterv1.AvailableCondition, []change{gateOfClass("Burning"), hadCondition("Burning", isTrueNow, "Smoke"), hadCondition("Blessed", isTrueNow, "Yes"), clusterWith(func(c *clusterv1.Cluster) {
			c.Spec.AvailabilityGates = []clusterv1.ClusterAvailabilityGate{{ConditionType: "Blessed"}}
		})}, isTrueNow, clusterv1.AvailableReason, ""},
		{"available: what is gone is no issue of its own in deletion", clusterv1.AvailableCondition, []change{deleting, empty, infrastructureIs(none), controlPlaneIs(none)}, isFalse, clusterv1.NotAvailableReason, "* Deleting: DeletionCompleted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(c.changes...))
			got := conditions.Get(d.Cluster, c.kind)
			require.NotNil(t, got)
			assert.Equal(t, c.status, got.Status)
			assert.Equal(t, c.reason, got.Reason)
			assert.Contains(t, got.Message, c.message)
		})
	}
}

// setCondition adds a MachineSet that reports one condition.
func setCondition(deployment, kind string, status metav1.ConditionStatus, message string) change {
	return func(w *World) {
		ms := machineSet("set", deployment)
		conditions.Set(ms, metav1.Condition{Type: kind, Status: status, Reason: "Told", Message: message})
		w.Descendants.MachineSets = append(w.Descendants.MachineSets, ms)
	}
}

// Conformance: CL-51
func TestWhatIsGoneInDeletionIsNoIssue(t *testing.T) {
	d := Decide(world(deleting, empty, infrastructureIs(none), controlPlaneIs(none)))
	assert.Equal(t, "* Deleting: DeletionCompleted", conditions.Message(d.Cluster, clusterv1.AvailableCondition))
}

func gateOfClass(kind string) change {
	return func(w *World) {
		w.Class.AvailabilityGates = []clusterv1.ClusterAvailabilityGate{{ConditionType: kind, Polarity: clusterv1.NegativePolarityCondition}}
	}
}

// Conformance: CL-04, CL-30
func TestPhases(t *testing.T) {
	for name, c := range map[string]struct {
		changes []change
		want    string
	}{
		"a reference is set":            {[]change{fresh}, clusterv1.ClusterPhaseProvisioning},
		"provisioned, no endpoint yet":  {[]change{fresh, infrastructureIs(found("FakeCluster", nil, reports("Ready", "True", "Up")))}, clusterv1.ClusterPhaseProvisioning},
		"provisioned with an endpoint":  {nil, clusterv1.ClusterPhaseProvisioned},
		"deleting":                      {[]change{deleting}, clusterv1.ClusterPhaseDeleting},
		"a topology without references": {[]change{fresh, topology}, clusterv1.ClusterPhasePending},
	} {
		assert.Equal(t, c.want, Decide(world(c.changes...)).Cluster.Status.Phase, name)
	}
}

// Conformance: CL-31, CL-33
func TestCounters(t *testing.T) {
	status := map[string]any{"initialization": map[string]any{"controlPlaneInitialized": true}, "replicas": int64(3), "readyReplicas": int64(2), "availableReplicas": int64(1), "upToDateReplicas": int64(3),
		"versions": []any{map[string]any{"version": "v1.36.0", "replicas": int64(1)}, map[string]any{"version": "v1.37.0", "replicas": int64(2)}}}
	d := Decide(world(controlPlaneIs(found("FakeControlPlane", map[string]any{"replicas": int64(3)}, status)), func(w *World) {
		w.Descendants.MachineDeployments = append(w.Descendants.MachineDeployments, deployment("other", 2))
		w.Descendants.Machines = append(w.Descendants.Machines, machine("alone", nil))
		poolCondition(clusterv1.AvailableCondition, isTrueNow, "")(w)
		two := int32(2)
		w.Descendants.MachinePools[0].Status.AvailableReplicas, w.Descendants.MachinePools[0].Status.Versions = &two, []clusterv1.StatusVersion{{Version: "v1.9.0", Replicas: 2}}
		four := int32(4)
		alone, of := machineSet("alone", ""), machineSet("of", "md")
		alone.Status.AvailableReplicas, of.Status.AvailableReplicas = &four, &four
		w.Descendants.MachineSets = append(w.Descendants.MachineSets, alone, of)
		w.Descendants.Machines = append(w.Descendants.Machines, machine("member", map[string]string{clusterv1.MachinePoolNameLabel: "mp"}))
		w.Descendants.MachineDeployments[0].Status.Versions = []clusterv1.StatusVersion{{Version: "v1.10.0", Replicas: 1}}
		w.Descendants.MachineDeployments[1].Status.Versions = []clusterv1.StatusVersion{{Version: "v1.10.0", Replicas: 1}, {Version: "v1.9.0", Replicas: 1}}
	}))
	require.NoError(t, d.Err)
	cp := d.Cluster.Status.ControlPlane
	require.NotNil(t, cp)
	assert.EqualValues(t, []int32{3, 3, 2, 1, 3}, []int32{*cp.DesiredReplicas, *cp.Replicas, *cp.ReadyReplicas, *cp.AvailableReplicas, *cp.UpToDateReplicas})
	assert.Len(t, cp.Versions, 2)
	workers := d.Cluster.Status.Workers
	require.NotNil(t, workers)
	assert.EqualValues(t, 10, *workers.AvailableReplicas, "1 and 2 of deployments, 2 of a pool, 4 of a set of its own, 1 alone")
	assert.Equal(t, []clusterv1.StatusVersion{{Version: "v1.9.0", Replicas: 3}, {Version: "v1.10.0", Replicas: 2}}, workers.Versions, "in the order of versions, not of text")
}

// Conformance: CL-31, CL-32, CL-33, CL-34
func TestUnknownCountersStayUnknown(t *testing.T) {
	d := Decide(world(empty))
	assert.Nil(t, d.Cluster.Status.Workers)
	assert.Nil(t, d.Cluster.Status.ControlPlane, "the control plane reports none")
	d = Decide(world(standalone, func(w *World) { w.Descendants.Machines[0].Spec.Version = "v1.37.2" }))
	require.NotNil(t, d.Cluster.Status.ControlPlane)
	assert.Equal(t, []clusterv1.StatusVersion{{Version: "v1.37.2", Replicas: 1}}, d.Cluster.Status.ControlPlane.Versions)
	d = Decide(world(standalone, func(w *World) {
		w.Descendants.Machines[0].Spec.Version, w.Descendants.Machines[0].Status.NodeInfo.KubeletVersion = "v1.37.2", "v1.36.0"
	}))
	assert.Equal(t, []clusterv1.StatusVersion{{Version: "v1.36.0", Replicas: 1}}, d.Cluster.Status.ControlPlane.Versions, "what runs, not what is wanted")
	assert.EqualValues(t, 1, *d.Cluster.Status.ControlPlane.ReadyReplicas, "stand-alone machines are counted")
	kept := clusterWith(func(c *clusterv1.Cluster) { n := int32(7); c.Status.Workers = &clusterv1.WorkersStatus{Replicas: &n} })
	d = Decide(world(kept, func(w *World) { w.Descendants = Descendants{Err: errRead} }))
	assert.EqualValues(t, 7, *d.Cluster.Status.Workers.Replicas, "unreadable is not zero")
}
