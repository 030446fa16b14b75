package kubeadmcontrolplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/conditions"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// of renders a machine's condition.
func of(t *testing.T, w World, machine, conditionType string) string {
	t.Helper()
	for _, c := range Decide(w).MachineConditions[machine] {
		if c.Type == conditionType {
			return string(c.Status) + "/" + c.Reason + " " + c.Message
		}
	}
	require.Fail(t, "no condition "+conditionType)
	return ""
}

// Conformance: CP-53, CP-54
func TestEtcdMemberCondition(t *testing.T) {
	for _, row := range []struct {
		name  string
		world World
		want  string
	}{
		{"healthy", world(3), "True/Healthy "},
		{"not in the list", world(3, func(w *World) { w.Etcd.State.Members = w.Etcd.State.Members[:1] }), "False/NotHealthy etcd has no member m1"},
		{"learner", world(3, func(w *World) { w.Etcd.State.Members[1].Learner = true }), "False/NotHealthy the etcd member is still a learner"},
		{"alarm", world(3, alarm(1)), "False/NotHealthy the etcd member raises the alarm NOSPACE"},
		{"etcd cannot be asked", world(3, func(w *World) { w.Etcd = Etcd{Managed: true, Problem: "etcd cannot be asked: EOF"} }), "Unknown/InspectionFailed etcd cannot be asked: EOF"},
		{"not asked yet", world(3, func(w *World) { w.Etcd = Etcd{Managed: true} }), "Unknown/InspectionFailed the etcd members have not been read yet"},
		{"deleting", world(3, deleting(1, drained)), "False/Deleting the machine is being deleted"},
		{"no provider ID yet", world(2, joining(1), func(w *World) { w.Machines[1].Spec.InfrastructureRef.Kind = "XMachine" }), "Unknown/InspectionFailed waiting for XMachine to report a provider ID"},
		{"no node yet", world(2, joining(1), func(w *World) { w.Machines[1].Spec.ProviderID = "x://1" }), "Unknown/InspectionFailed waiting for a Node with provider ID x://1"},
		{"node gone", world(2, func(w *World) { w.Machines[1].Node = nil }), "Unknown/InspectionFailed Node m1 does not exist"},
		{"nodes unreadable", world(2, func(w *World) { w.Workload.Problem = "no" }), "Unknown/InspectionFailed no"},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, of(t, row.world, "m1", etcdMemberHealthy)) })
	}
}

// Conformance: CP-84
func TestConditionsOfStaticPods(t *testing.T) {
	const scheduler = controlplanev1.KubeadmControlPlaneMachineSchedulerPodHealthyCondition
	unreachable := func(w *World) {
		w.Machines[1].Node.Spec.Taints = append(w.Machines[1].Node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute})
	}
	for _, row := range []struct {
		name  string
		world World
		want  string
	}{
		{"running", world(2), "True/Running "},
		{"absent", world(2, func(w *World) { delete(w.Machines[1].Pods, "kube-scheduler") }), "False/DoesNotExist Pod kube-scheduler-m1 does not exist"},
		{"node unreachable", world(2, unreachable), "Unknown/InspectionFailed Node m1 is unreachable"},
		{"node lost", world(2, lostNode(1)), "Unknown/InspectionFailed the Ready condition of Node m1 is unknown"},
		{"deleting", world(2, deleting(1, drained)), "False/Deleting the machine is being deleted"},
		{"a missing label hides nothing", world(2, func(w *World) { w.Machines[1].Node.Labels = nil }), "True/Running "},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, of(t, row.world, "m1", scheduler)) })
	}
	missing := world(2, func(w *World) { w.Machines[1].Node.Labels, w.Machines[1].Node.Spec.Taints = nil, nil })
	assert.Equal(t, "False/NotSet Node m1 lacks label node-role.kubernetes.io/control-plane and taint node-role.kubernetes.io/control-plane:NoSchedule",
		of(t, missing, "m1", labelsAndTaints))
	for _, c := range Decide(world(1, externalEtcd)).MachineConditions["m0"] {
		assert.NotContains(t, c.Type, "Etcd", "etcd is none of its business")
	}
}

// Conformance: CP-86
func TestConditionsOfTheControlPlane(t *testing.T) {
	const (
		etcdHealthy = controlplanev1.KubeadmControlPlaneEtcdClusterHealthyCondition
		components  = controlplanev1.KubeadmControlPlaneControlPlaneComponentsHealthyCondition
		certificate = controlplanev1.KubeadmControlPlaneCertificatesAvailableCondition
	)
	missing := func(w *World) { w.Certificates = Certificates{Missing: []certificates.Purpose{"sa", "ca"}} }
	for _, row := range []struct {
		name, conditionType string
		world               World
		want                string
	}{
		{"all healthy", etcdHealthy, world(3), "True/Healthy "},
		{"grouped by trouble", etcdHealthy, world(3, alarm(0), alarm(2)), "False/NotHealthy * Machine m0, m2: EtcdMemberHealthy: the etcd member raises the alarm NOSPACE"},
		{"a member nobody stands for", etcdHealthy, world(3, stray("")), `False/NotHealthy * Etcd member "" has no Machine`},
		{"tolerated while a machine is joining", etcdHealthy, world(4, joining(3), stray("m3")), "True/Healthy "},
		{"not initialized", etcdHealthy, world(0), "Unknown/InspectionFailed waiting for the control plane to be initialized"},
		{"False wins over Unknown", components, world(3, notReady(0, "kube-scheduler"), lostNode(1)), "False/NotHealthy * Machine m0: SchedulerPodHealthy: waiting for the containers to start"},
		{"a node nobody stands for", components, world(3, func(w *World) { w.Workload.ForeignNodes = []string{"x"} }), "False/NotHealthy * Control plane Node x has no Machine"},
		{"a machine that is joining is nobody's trouble", components, world(4, joining(3)), "True/Healthy "},
		{"certificates lost", certificate, world(3, missing), "False/NotAvailable certificates are missing: ca, sa"},
		{"certificates coming", certificate, world(0, missing), "False/NotAvailable certificates are being generated: ca, sa"},
		{"certificates unreadable", certificate, world(3, func(w *World) { w.Certificates.Problem = "no" }), "Unknown/InternalError no"},
		{"replicas unset", clusterv1.ScalingUpCondition, world(1, func(w *World) { w.ControlPlane.Spec.Replicas = nil }), "Unknown/WaitingForReplicasSet spec.replicas is not set"},
		{"scaling up, blocked", clusterv1.ScalingUpCondition, world(1, wanted(3), notReady(0, "etcd")),
			"True/ScalingUp Scaling up from 1 to 3 replicas is waiting for:\n* machine m0: EtcdPodHealthy not true"},
		{"template gone, nothing to do", clusterv1.ScalingUpCondition, world(1, func(w *World) { w.Template = Template{Missing: true} }),
			"False/NotScalingUp Scaling up would be blocked: XTemplate t does not exist"},
		{"scaling down, blocked", clusterv1.ScalingDownCondition, world(3, wanted(1), notReady(2, "etcd")),
			"True/ScalingDown Scaling down from 3 to 1 replicas is waiting for:\n* machine m2: EtcdPodHealthy not true"},
		{"no machines", clusterv1.MachinesReadyCondition, world(0), "True/NoReplicas "},
		{"out of date", clusterv1.MachinesUpToDateCondition, world(1, upgradeTo("v1.37.3")), "False/NotUpToDate * Machine m0:\n  * Version v1.37.2, v1.37.3 required"},
		{"workers first", clusterv1.DeletingCondition, world(1, controlPlaneDeleted, func(w *World) { w.Others = []string{"Machine b", "Machine a"} }),
			"True/WaitingForWorkersDeletion waiting for Machine a, Machine b to be deleted"},
		{"then the machines", clusterv1.DeletingCondition, world(1, controlPlaneDeleted), "True/WaitingForMachineDeletion waiting for machine m0 to be deleted"},
		{"failed, but nobody's to replace", clusterv1.RemediatingCondition, world(3, sick(1), func(w *World) { conditions.Delete(w.Machines[1], ownerRemediated) }),
			"False/NotRemediating Machine m1 failed a health check, but is not to be replaced by the control plane"},
		{"record unreadable", clusterv1.RemediatingCondition, world(3, func(w *World) {
			w.ControlPlane.Annotations = map[string]string{controlplanev1.RemediationInProgressAnnotation: "{"}
		}), "Unknown/InternalError annotation controlplane.cluster.x-k8s.io/remediation-in-progress cannot be read; remove it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			status := Decide(row.world).Status
			c := conditions.Get(statusHolder{&status}, row.conditionType)
			require.NotNil(t, c)
			assert.Equal(t, row.want, string(c.Status)+"/"+c.Reason+" "+c.Message)
		})
	}
	status := Decide(world(1, externalEtcd)).Status
	assert.Nil(t, conditions.Get(statusHolder{&status}, etcdHealthy), "left to others with external etcd")
}

// Conformance: CP-87
func TestStatus(t *testing.T) {
	w := world(3, upgradeTo("v1.38.0"), upgraded(2), func(w *World) {
		w.Machines[0].Status.NodeInfo.KubeletVersion = "v1.37.1"
		conditions.Set(w.Machines[1], metav1.Condition{Type: clusterv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Ready", LastTransitionTime: metav1.NewTime(now)})
	})
	status := Decide(w).Status
	assert.Equal(t, []clusterv1.StatusVersion{{Version: "v1.37.1", Replicas: 1}, {Version: "v1.37.2", Replicas: 1}, {Version: "v1.38.0", Replicas: 1}}, status.Versions)
	assert.Equal(t, "v1.37.1", status.Version, "the oldest that runs")
	assert.Equal(t, []int32{3, 1, 0, 1}, []int32{*status.Replicas, *status.ReadyReplicas, *status.AvailableReplicas, *status.UpToDateReplicas})
	assert.Equal(t, "cluster.x-k8s.io/cluster-name=c,cluster.x-k8s.io/control-plane", status.Selector)
	assert.Equal(t, int64(1), status.ObservedGeneration)

	failed := Decide(world(1, func(w *World) { w.ControlPlane.Generation, w.Certificates.Problem = 2, "no" }))
	assert.Equal(t, int64(1), failed.Status.ObservedGeneration, "not before a run without error")
}

// Conformance: CP-52
func TestHealthyMembersAreAskedFirst(t *testing.T) {
	w := world(5, joining(4), deleting(3, drained), func(w *World) {
		bad := negative(etcdMemberHealthy, "NotHealthy", "")
		bad.LastTransitionTime = metav1.NewTime(now)
		good := positive(etcdMemberHealthy, "Healthy", "")
		good.LastTransitionTime = metav1.NewTime(now)
		conditions.Set(w.Machines[0], bad)
		conditions.Set(w.Machines[1], good)
		conditions.Set(w.Machines[2], good)
	})
	assert.Equal(t, []string{"m1", "m2", "m0"}, nodesToAsk(w, ""))
	assert.Equal(t, []string{"m2", "m0"}, nodesToAsk(w, "m1"), "never through the one that is to go")
}

// Conformance: CP-55
func TestWhoLeadsNext(t *testing.T) {
	w := world(6, joining(5), deleting(4, drained), sick(3), alarm(2))
	w.Etcd.State.Leader = w.Etcd.State.Members[0].ID
	assessMachines(&w)
	assert.Equal(t, []string{"m1", "m3", "m2"}, leaderCandidates(w, w.Machines[0]), "healthy, then not failing its health check, with a node and not deleting")
	w = world(3, upgradeTo("v1.37.3"), upgraded(1))
	assessMachines(&w)
	assert.Equal(t, []string{"m1", "m2"}, leaderCandidates(w, w.Machines[0]), "up to date, then the newest")

	alone := world(2, wanted(1), func(w *World) { w.Etcd.State.Members[1].Learner = true })
	p := &plan{}
	assert.Equal(t, "no other machine can take over the leadership of etcd", moveLeadershipFrom(alone, p, alone.Machines[0]))
	assert.Empty(t, p.actions)
}

func TestAMissingWordOnTaints(t *testing.T) {
	assert.True(t, taintExpected(world(1), &Machine{Machine: &clusterv1.Machine{}, Config: &bootstrapv1.KubeadmConfig{}}))
}

// Conformance: CP-85
func TestThePartsOfAvailability(t *testing.T) {
	available := func(w World) string {
		status := Decide(w).Status
		c := conditions.Get(statusHolder{&status}, clusterv1.AvailableCondition)
		return string(c.Status) + " " + c.Message
	}
	assert.Equal(t, "False * 1 of 3 etcd members are healthy, at least 2 are needed", available(world(3, alarm(0), alarm(1))))
	assert.Equal(t, "True ", available(world(3, deleting(1, drained))), "a member that leaves in health counts")
	longAgo := func(w *World) {
		setCondition(&w.ControlPlane.Status, now.Add(-time.Hour), positive(controlplanev1.KubeadmControlPlaneInitializedCondition, "Initialized", ""))
	}
	assert.Contains(t, available(world(1, longAgo, lostNode(0))), "Unknown * no machine has all control plane components healthy")
}
