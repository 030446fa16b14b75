package machinepool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

func notReady(name string) change {
	return nodeWith(name, func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse })
}

func kubelet(name, v string) change {
	return nodeWith(name, func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = v })
}

func machineIs(name, kind string, status metav1.ConditionStatus) change {
	return machineWith(name, func(m *clusterv1.Machine) {
		conditions.Set(m, metav1.Condition{Type: kind, Status: status, Reason: "Test", Message: "told by the machine"})
	})
}

// Conformance: MP-12, MP-28, MP-35, IP9
func TestConditions(t *testing.T) {
	grown, shrunk := infrastructureIs(infrastructure(1, "id://a")), infrastructureIs(infrastructure(3, "id://a", "id://b", "id://c"))
	told := poolWith(func(p *clusterv1.MachinePool) {
		conditions.Set(p, condition(clusterv1.MachinesReadyCondition, "True", clusterv1.ReadyReason, "as before"))
		conditions.Set(p, condition(clusterv1.MachinesUpToDateCondition, "True", clusterv1.UpToDateReason, "as before"))
	})
	lost := func(since time.Duration) change {
		return func(w *World) { disconnected(w); w.Health.LastProbeSuccess = now.Add(-since) }
	}
	for _, tt := range []struct {
		name    string
		changes []change
		kind    string
		status  metav1.ConditionStatus
		reason  string
		message string
	}{
		{"all is well", nil, clusterv1.AvailableCondition, "True", clusterv1.AvailableReason, ""},
		{"one is missing", []change{notReady("a")}, clusterv1.AvailableCondition, "False", clusterv1.NotAvailableReason, "1 available replicas, at least 2 required"},
		{"nobody has counted yet", []change{young}, clusterv1.AvailableCondition, "Unknown", "WaitingForAvailableReplicasSet", "Waiting for status.availableReplicas to be set"},
		{"no number is wanted", []change{poolWith(func(p *clusterv1.MachinePool) { p.Spec.Replicas = nil })}, clusterv1.AvailableCondition, "Unknown", clusterv1.WaitingForReplicasSetReason, "Waiting for spec.replicas to be set"},
		{"an empty pool", []change{replicasOf(0), infrastructureIs(infrastructure(0))}, clusterv1.AvailableCondition, "True", clusterv1.AvailableReason, ""},

		{"config not ready", []change{young}, clusterv1.BootstrapConfigReadyCondition, "False", "NotReady", "FakeBootstrap status.initialization.dataSecretCreated is false"},
		{"data of the user", []change{bootstrapIs(referred.Object{}), poolWith(func(p *clusterv1.MachinePool) {
			p.Spec.Template.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{}
		})}, clusterv1.BootstrapConfigReadyCondition, "True", "DataSecretProvided", ""},
		{"infrastructure says why", []change{status([]any{map[string]any{"type": "Ready", "status": "False", "reason": "Quota", "message": "no quota"}}, "conditions")},
			clusterv1.InfrastructureReadyCondition, "False", "Quota", "no quota"},
		{"infrastructure gone", []change{infrastructureIs(missing)}, clusterv1.InfrastructureReadyCondition, "False", clusterv1.ObjectDeletedReason, "FakePool has been deleted while the machine pool still exists"},

		{"growing", []change{grown}, clusterv1.ScalingUpCondition, "True", clusterv1.ScalingUpReason, "Scaling up from 1 to 2 replicas"},
		{"growing without what it needs", []change{young, bootstrapIs(missing), infrastructureIs(missing)}, clusterv1.ScalingUpCondition, "True", clusterv1.ScalingUpReason,
			"Scaling up from 0 to 2 replicas\n* FakeBootstrap p does not exist\n* FakePool p does not exist"},
		{"not growing", nil, clusterv1.ScalingUpCondition, "False", clusterv1.NotScalingUpReason, ""},
		{"not growing in deletion", []change{grown, leaves}, clusterv1.ScalingUpCondition, "False", clusterv1.NotScalingUpReason, ""},
		{"shrinking", []change{shrunk}, clusterv1.ScalingDownCondition, "True", clusterv1.ScalingDownReason, "Scaling down from 3 to 2 replicas"},
		{"shrinking to nothing in deletion", []change{leaves}, clusterv1.ScalingDownCondition, "True", clusterv1.ScalingDownReason, "Scaling down from 2 to 0 replicas"},
		{"not shrinking", nil, clusterv1.ScalingDownCondition, "False", clusterv1.NotScalingDownReason, ""},

		{"Nodes ready", nil, clusterv1.MachinesReadyCondition, "True", clusterv1.ReadyReason, ""},
		{"a Node is not", []change{notReady("b")}, clusterv1.MachinesReadyCondition, "False", clusterv1.NotReadyReason, "* Nodes that are not ready: b"},
		{"a Node is gone", []change{nodeGoes("a"), notReady("b")}, clusterv1.MachinesReadyCondition, "False", clusterv1.NotReadyReason, "* Nodes that are not ready: b\n* Members without a Node: 1 of 2"},
		{"no members", []change{replicasOf(0), infrastructureIs(infrastructure(0))}, clusterv1.MachinesReadyCondition, "True", clusterv1.NoReplicasReason, ""},
		{"Machines speak for their Nodes", []change{shown, notReady("a")}, clusterv1.MachinesReadyCondition, "True", clusterv1.ReadyReason, ""},
		{"a Machine is not ready", []change{shown, machineIs("b", clusterv1.ReadyCondition, "False")}, clusterv1.MachinesReadyCondition, "False", clusterv1.NotReadyReason, "* Machine b: told by the machine"},
		{"a short outage changes nothing", []change{told, lost(time.Minute)}, clusterv1.MachinesReadyCondition, "True", clusterv1.ReadyReason, "as before"},
		{"a long one does", []change{told, lost(6 * time.Minute)}, clusterv1.MachinesReadyCondition, "Unknown", clusterv1.ConnectionDownReason, "Remote connection down"},
		{"and what was never known is not known", []change{lost(time.Minute)}, clusterv1.MachinesReadyCondition, "Unknown", clusterv1.ConnectionDownReason, "Remote connection down"},

		{"up to date", nil, clusterv1.MachinesUpToDateCondition, "True", clusterv1.UpToDateReason, ""},
		{"an old Node", []change{kubelet("a", "v1.36.0")}, clusterv1.MachinesUpToDateCondition, "False", clusterv1.NotUpToDateReason, "* Nodes without version v1.37.0: a"},
		{"an old Machine", []change{shown, machineIs("a", clusterv1.MachineUpToDateCondition, "False")}, clusterv1.MachinesUpToDateCondition, "False", clusterv1.NotUpToDateReason, "* Machine a: told by the machine"},
		{"no members are not old", []change{replicasOf(0), infrastructureIs(infrastructure(0))}, clusterv1.MachinesUpToDateCondition, "True", clusterv1.NoReplicasReason, ""},
		{"a short outage makes none old", []change{told, lost(time.Minute)}, clusterv1.MachinesUpToDateCondition, "True", clusterv1.UpToDateReason, "as before"},
		{"after a long one it is unknown", []change{told, lost(6 * time.Minute)}, clusterv1.MachinesUpToDateCondition, "Unknown", clusterv1.ConnectionDownReason, "Remote connection down"},

		{"no rollout", nil, clusterv1.RollingOutCondition, "False", clusterv1.NotRollingOutReason, ""},
		{"a rollout", []change{kubelet("a", "v1.36.0")}, clusterv1.RollingOutCondition, "True", clusterv1.RollingOutReason, "Rolling out the present template\n* Nodes without version v1.37.0: a"},
		{"no rollout in deletion", []change{kubelet("a", "v1.36.0"), leaves}, clusterv1.RollingOutCondition, "False", clusterv1.NotRollingOutReason, ""},

		{"nothing to remediate", []change{shown}, clusterv1.RemediatingCondition, "False", clusterv1.NotRemediatingReason, ""},
		{"a Machine to remediate", []change{shown, machineIs("a", clusterv1.MachineOwnerRemediatedCondition, "False")}, clusterv1.RemediatingCondition, "True", clusterv1.RemediatingReason, "* Machine a: told by the machine"},
		{"not deleting", nil, clusterv1.DeletingCondition, "False", clusterv1.NotDeletingReason, ""},
	} {
		t.Run(tt.kind+": "+tt.name, func(t *testing.T) {
			p := Decide(world(tt.changes...)).Pool
			have := conditions.Get(p, tt.kind)
			require.NotNil(t, have)
			assert.Equal(t, tt.status, have.Status)
			assert.Equal(t, tt.reason, have.Reason)
			assert.Equal(t, tt.message, have.Message)
			assert.Len(t, p.Status.Conditions, len(ownConditions), "every condition is always told")
		})
	}
	assert.Equal(t, 4*time.Minute, Decide(world(told, lost(time.Minute))).After, "looked at again when the grace ends")
}

// Conformance: MP-26
func TestCounters(t *testing.T) {
	minute := int32(60)
	slow := poolWith(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.MinReadySeconds = &minute })
	fresh := nodeWith("a", func(n *corev1.Node) {
		n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-20 * time.Second))
	})
	versions := func(list ...clusterv1.StatusVersion) []clusterv1.StatusVersion { return list }
	for _, tt := range []struct {
		name                       string
		changes                    []change
		ready, available, upToDate int32
		versions                   []clusterv1.StatusVersion
		after                      time.Duration
	}{
		{name: "Nodes", ready: 2, available: 2, upToDate: 2, versions: versions(clusterv1.StatusVersion{Version: version, Replicas: 2})},
		{name: "one not ready", changes: []change{notReady("a")}, ready: 1, available: 1, upToDate: 2, versions: versions(clusterv1.StatusVersion{Version: version, Replicas: 2})},
		{name: "one without conditions", changes: []change{nodeWith("a", func(n *corev1.Node) { n.Status.Conditions = nil })}, ready: 1, available: 1, upToDate: 2, versions: versions(clusterv1.StatusVersion{Version: version, Replicas: 2})},
		{name: "one not ready for long enough", changes: []change{slow, fresh}, ready: 2, available: 1, upToDate: 2, after: 40 * time.Second, versions: versions(clusterv1.StatusVersion{Version: version, Replicas: 2})},
		{name: "one old", changes: []change{kubelet("a", "v1.36.0")}, ready: 2, available: 2, upToDate: 1,
			versions: versions(clusterv1.StatusVersion{Version: "v1.36.0", Replicas: 1}, clusterv1.StatusVersion{Version: version, Replicas: 1})},
		{name: "a member without Node counts with the version it is made for", changes: []change{infrastructureIs(infrastructure(3, "id://a", "id://b", "id://c"))}, ready: 2, available: 2, upToDate: 2,
			versions: versions(clusterv1.StatusVersion{Version: version, Replicas: 3})},
		{name: "Machines", changes: []change{shown}, ready: 2, available: 2, upToDate: 2, versions: versions(clusterv1.StatusVersion{Version: version, Replicas: 2})},
		{name: "Machines that are not", changes: []change{shown, machineIs("a", clusterv1.ReadyCondition, "False"), machineIs("a", clusterv1.AvailableCondition, "False"), machineIs("b", clusterv1.MachineUpToDateCondition, "False")},
			ready: 1, available: 1, upToDate: 1, versions: versions(clusterv1.StatusVersion{Version: version, Replicas: 2})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(tt.changes...))
			s := d.Pool.Status
			assert.Equal(t, []int32{tt.ready, tt.available, tt.upToDate}, []int32{*s.ReadyReplicas, *s.AvailableReplicas, *s.UpToDateReplicas})
			assert.Equal(t, tt.versions, s.Versions)
			assert.Equal(t, tt.after, d.After)
		})
	}
	five := int32(5)
	d := Decide(world(disconnected, poolWith(func(p *clusterv1.MachinePool) { p.Status.ReadyReplicas = &five })))
	assert.EqualValues(t, 5, *d.Pool.Status.ReadyReplicas, "without connection the last known numbers stay")
	assert.Nil(t, d.Pool.Status.AvailableReplicas, "and what was never known is not told")
}

// Conformance: MP-27
func TestPhases(t *testing.T) {
	managed := annotated(clusterv1.ReplicasManagedByAnnotation, "autoscaler")
	bootstrapped := func(w *World) { w.Bootstrap = world().Bootstrap }
	for _, tt := range []struct {
		want    string
		name    string
		changes []change
	}{
		{phasePending, "nothing yet", []change{young}},
		{phaseProvisioning, "data, no infrastructure", []change{young, bootstrapped}},
		{phaseProvisioned, "infrastructure, no Nodes", []change{young, bootstrapped, infrastructureIs(infrastructure(2, "id://a", "id://b"))}},
		{phaseRunning, "Nodes", nil},
		{phaseRunning, "an empty pool", []change{replicasOf(0), infrastructureIs(infrastructure(0)), nodeGoes("a"), nodeGoes("b")}},
		{phaseScalingUp, "more wanted", []change{replicasOf(3)}},
		{phaseScalingUp, "more there than Nodes", []change{replicasOf(3), infrastructureIs(infrastructure(3, "id://a", "id://b", "id://c"))}},
		{phaseScalingDown, "fewer wanted", []change{replicasOf(1)}},
		{phaseScaling, "an autoscaler at work", []change{managed, infrastructureIs(infrastructure(3, "id://a", "id://b", "id://c"))}},
		{phaseRunning, "an autoscaler at rest", []change{managed}},
		{phaseDeleting, "deletion", []change{leaves}},
		{phaseDeleting, "deletion before anything came up", []change{young, leaves}},
	} {
		t.Run(tt.want+": "+tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, Decide(world(tt.changes...)).Pool.Status.Phase)
		})
	}
}
