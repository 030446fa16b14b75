package kubeadmcontrolplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/remediation"
)

// sick machines failed a health check, which waits for the control plane.
func sick(list ...int) change {
	return func(w *World) {
		for _, i := range list {
			at := metav1.NewTime(now.Add(-time.Minute))
			for _, c := range []metav1.Condition{
				negative(clusterv1.MachineHealthCheckSucceededCondition, "UnhealthyNode", "the node is not ready"),
				negative(ownerRemediated, clusterv1.MachineOwnerRemediatedWaitingForRemediationReason, "waiting"),
			} {
				c.LastTransitionTime = at
				conditions.Set(w.Machines[i], c)
			}
		}
	}
}

func inProgress(machine string, ago time.Duration) change {
	return func(w *World) {
		record := remediation.Record{Machine: machine, Timestamp: now.Add(-ago), RetryCount: 2}
		w.ControlPlane.Annotations = map[string]string{controlplanev1.RemediationInProgressAnnotation: record.String()}
	}
}

// replacing machines were made for another machine some time ago.
func replacing(i int, ago time.Duration, count int32) change {
	return func(w *World) {
		record := remediation.Record{Machine: "former", Timestamp: now.Add(-ago), RetryCount: count}
		w.Machines[i].Annotations[controlplanev1.RemediationForAnnotation] = record.String()
	}
}

func lostNode(i int) change {
	return func(w *World) {
		w.Machines[i].Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	}
}

func limits(maxRetry, retrySeconds int32) change {
	return func(w *World) {
		w.ControlPlane.Spec.Remediation.MaxRetry = &maxRetry
		w.ControlPlane.Spec.Remediation.RetryPeriodSeconds = &retrySeconds
	}
}

func notInitialized(w *World) {
	w.ControlPlane.Status.Initialization = controlplanev1.KubeadmControlPlaneInitializationStatus{}
	w.Workload = Workload{}
	w.Etcd.State = nil
}

func gone(i int) change {
	return func(w *World) {
		w.Machines = append(w.Machines[:i:i], w.Machines[i+1:]...)
		w.Etcd.State.Members = append(w.Etcd.State.Members[:i:i], w.Etcd.State.Members[i+1:]...)
		if len(w.Etcd.State.Members) > 0 {
			w.Etcd.State.Leader = w.Etcd.State.Members[0].ID
		}
	}
}

func alarm(i int) change {
	return func(w *World) { w.Etcd.State.Members[i].Alarms = []string{"NOSPACE"} }
}

// verdicts are the reasons of OwnerRemediated by machine.
func verdicts(d Decision) map[string]string {
	found := map[string]string{}
	for name, list := range d.MachineConditions {
		for _, c := range list {
			if c.Type == ownerRemediated {
				found[name] = c.Reason
			}
		}
	}
	return found
}

// Conformance: CP-09, CP-60, CP-61, CP-70, CP-71, CP-72, CP-73, CP-74, CP-75, CP-96
func TestRemediation(t *testing.T) {
	const begin, end = "begin remediation of ", "end remediation"
	nothing := []string{}
	for _, row := range []struct {
		name    string
		world   World
		want    []string
		verdict map[string]string
	}{
		{"one of three", world(3, sick(1), lostNode(1)), []string{begin + "m1 (0)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},
		{"the leader hands over first", world(3, sick(0)), []string{"move leadership from m0 to m2", begin + "m0 (0)", "delete m0"}, map[string]string{"m0": "MachineDeleting"}},
		{"a leader that cannot be asked hands nothing over", world(3, sick(0), lostNode(0)), []string{begin + "m0 (0)", "delete m0"}, map[string]string{"m0": "MachineDeleting"}},
		{"failed, but not for the control plane", world(3, sick(1), func(w *World) { conditions.Delete(w.Machines[1], ownerRemediated) }), nothing, map[string]string{}},
		{"recovered", world(3, sick(1), func(w *World) {
			conditions.Set(w.Machines[1], metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionTrue, Reason: "x"})
		}), []string{"forget verdict on m1"}, map[string]string{}},

		{"one machine is never given up", world(1, sick(0)), nothing, map[string]string{"m0": impossible}},
		{"two machines: no majority is needed of one", world(2, wanted(3), sick(1), lostNode(1)), []string{begin + "m1 (0)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},
		{"two machines, the other one failing too", world(2, wanted(3), sick(1), alarm(0)), nothing, map[string]string{"m1": impossible}},
		{"three machines, two members failing", world(3, sick(1), lostNode(1), alarm(2)), nothing, map[string]string{"m1": impossible}},
		{"five machines, two failing: one at a time", world(5, sick(1, 2), lostNode(1), lostNode(2)), []string{begin + "m1 (0)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},
		{"five machines, three failing", world(5, sick(1, 2, 3), lostNode(1), lostNode(2), lostNode(3)), nothing, map[string]string{"m1": impossible}},
		{"no working API server would be left", world(3, sick(1), notReady(0, "kube-apiserver"), notReady(2, "kube-apiserver")), nothing, map[string]string{"m1": impossible}},
		{"a learner must settle first", world(3, sick(1), func(w *World) { w.Etcd.State.Members[2].Learner = true }), nothing, map[string]string{"m1": impossible}},
		{"members unread", world(3, sick(1), func(w *World) { w.Etcd.State = nil }), nothing, map[string]string{"m1": deferred}},
		{"members list empty", world(3, sick(1), func(w *World) { w.Etcd.State.Members = nil }), nothing, map[string]string{"m1": deferred}},
		{"no connection", world(3, sick(1), func(w *World) { w.Workload = Workload{LastSuccess: now}; w.Etcd.State = nil }), nothing, map[string]string{"m1": deferred}},
		{"no leader", world(3, sick(1), func(w *World) { w.Etcd.State.Leader = 0 }), nothing, map[string]string{"m1": impossible}},
		{"a peer is joining", world(4, wanted(5), sick(1), joining(3)), nothing, map[string]string{"m1": deferred}},
		{"the joining one itself failed", world(4, wanted(5), joining(3), sick(3)), []string{begin + "m3 (0)", "delete m3"}, map[string]string{"m3": "MachineDeleting"}},
		{"a machine is being deleted", world(3, sick(1), deleting(2, "DrainingNode")), nothing, map[string]string{"m1": deferred}},
		{"it is being deleted itself", world(3, sick(1), deleting(1, "DrainingNode")), nothing, map[string]string{}},
		{"the topology upgrades", world(3, sick(1), func(w *World) { w.Cluster.Spec.Topology.Version = "v1.38.0" }), nothing, map[string]string{"m1": deferred}},
		{"external etcd", world(3, externalEtcd, sick(1)), []string{begin + "m1 (0)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},
		{"external etcd: two machines", world(2, externalEtcd, sick(1)), []string{begin + "m1 (0)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},
		{"external etcd: the other one fails", world(2, externalEtcd, sick(1), notReady(0, "kube-scheduler")), nothing, map[string]string{"m1": impossible}},
		{"remediation goes before a rollout", world(3, sick(1), upgradeTo("v1.37.3")), []string{begin + "m1 (0)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},

		{"not initialized: the first machine starts anew", world(1, joining(0), notInitialized, sick(0)), []string{begin + "m0 (0)", "delete m0"}, map[string]string{"m0": "MachineDeleting"}},
		{"not initialized: kubeadm finished in the last moment", world(1, joining(0), notInitialized, sick(0), func(w *World) {
			w.Workload = Workload{Connected: true, ConfigReadable: true, NodesKnown: true}
		}), []string{begin + "m0 (0)", "delete m0"}, map[string]string{"m0": "MachineDeleting"}},

		{"first: the user's wish", world(5, sick(1, 2), annotated(2, clusterv1.RemediateMachineAnnotation), lostNode(1)), []string{begin + "m2 (0)", "delete m2"}, map[string]string{"m2": "MachineDeleting"}},
		{"then: no node", world(5, sick(1, 4), lostNode(1), joining(4)), []string{begin + "m4 (0)", "delete m4"}, map[string]string{"m4": "MachineDeleting"}},
		{"then: etcd", world(5, sick(1, 2), notReady(1, "kube-scheduler"), notReady(2, "etcd")), []string{begin + "m2 (0)", "delete m2"}, map[string]string{"m2": "MachineDeleting"}},
		{"then: components", world(5, sick(1, 2), notReady(2, "kube-scheduler")), []string{begin + "m2 (0)", "delete m2"}, map[string]string{"m2": "MachineDeleting"}},
		{"then: age", world(5, sick(3, 1)), []string{begin + "m1 (0)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},

		{"a retry", world(3, sick(1), lostNode(1), replacing(1, 10*time.Minute, 1)), []string{begin + "m1 (2)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},
		{"a new sequence", world(3, sick(1), lostNode(1), replacing(1, 2*time.Hour, 7), limits(3, 0)), []string{begin + "m1 (0)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},
		{"retries used up", world(3, sick(1), lostNode(1), replacing(1, 10*time.Minute, 3), limits(3, 0)), nothing, map[string]string{"m1": impossible}},
		{"too early for a retry", world(3, sick(1), lostNode(1), replacing(1, 10*time.Minute, 1), limits(3, 900)), nothing, map[string]string{"m1": deferred}},
		{"unreadable record", world(3, sick(1), func(w *World) { w.Machines[1].Annotations[controlplanev1.RemediationForAnnotation] = "x" }), nothing,
			map[string]string{"m1": clusterv1.InternalErrorReason}},

		{"replacement", world(3, gone(1), inProgress("m1", time.Minute)), []string{"create init=false  for m1", end}, map[string]string{}},
		{"replacement although another one fails too", world(5, gone(1), inProgress("m1", time.Minute), sick(1), lostNode(1)), []string{"create init=false  for m1", end}, map[string]string{}},
		{"no replacement if the new member could cost quorum", world(3, gone(1), inProgress("m1", time.Minute), alarm(1)), nothing, map[string]string{}},
		{"replacement of the first machine", world(0, notInitialized, func(w *World) { inProgress("m0", time.Minute)(w) }), []string{"create init=true  for m0", end}, map[string]string{}},
		{"replacement with external etcd", world(3, externalEtcd, func(w *World) { w.Machines = w.Machines[:2] }, inProgress("m2", time.Minute), notReady(1, "kube-scheduler")),
			[]string{"create init=false  for m2", end}, map[string]string{}},
		{"another one fails while a replacement is on its way", world(4, wanted(5), inProgress("m9", time.Minute), sick(1), lostNode(1), deleting(3, "DrainingNode")), nothing, map[string]string{"m1": deferred}},

		{"stale: a newer machine exists", world(3, inProgress("m9", 99*time.Hour)), []string{end}, map[string]string{}},
		{"stale: the machine made for it exists", world(3, inProgress("m9", time.Minute), func(w *World) {
			w.Machines[0].Annotations[controlplanev1.RemediationForAnnotation] = w.ControlPlane.Annotations[controlplanev1.RemediationInProgressAnnotation]
		}), []string{end}, map[string]string{}},
		{"stale: no replacement is needed any more", world(3, inProgress("m9", time.Minute)), []string{end}, map[string]string{}},
		{"stale: the machine recovered before it was deleted", world(3, inProgress("m1", time.Minute)), []string{end}, map[string]string{}},
		{"resumed after a crash before the deletion", world(3, inProgress("m1", time.Minute), sick(1), lostNode(1)), []string{begin + "m1 (2)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},
		{"resumed for that machine, though another one is worse", world(5, inProgress("m1", time.Minute), sick(1, 4), joining(4)), []string{begin + "m1 (2)", "delete m1"}, map[string]string{"m1": "MachineDeleting"}},
		{"not resumed when it became dangerous", world(3, inProgress("m1", time.Minute), sick(1), lostNode(1), alarm(2)), []string{end}, map[string]string{"m1": impossible}},
		{"unreadable record of the control plane", world(3, sick(1), lostNode(1), func(w *World) {
			w.ControlPlane.Annotations = map[string]string{controlplanev1.RemediationInProgressAnnotation: "{"}
		}), nothing, map[string]string{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := Decide(row.world)
			assert.Equal(t, row.want, say(d.Actions))
			got := verdicts(d)
			for name, reason := range got {
				if reason == clusterv1.MachineOwnerRemediatedWaitingForRemediationReason {
					delete(got, name)
				}
			}
			assert.Equal(t, row.verdict, got)
		})
	}
}

// Conformance: CP-75
func TestRefusalsNameTheCulprit(t *testing.T) {
	message := func(w World) string {
		for _, c := range Decide(w).MachineConditions["m1"] {
			if c.Type == ownerRemediated {
				return c.Message
			}
		}
		return ""
	}
	assert.Equal(t, "etcd would have 1 healthy of 2 voting members, 2 are needed; failing: m2", message(world(3, sick(1), lostNode(1), alarm(2))))
	assert.Equal(t, "no other machine has all control plane components healthy: machine m0: APIServerPodHealthy not true; machine m2: SchedulerPodHealthy not true",
		message(world(3, sick(1), notReady(0, "kube-apiserver"), notReady(2, "kube-scheduler"))))
	assert.Equal(t, "waiting for machine m3 to join", message(world(4, wanted(5), sick(1), joining(3))))
	assert.Equal(t, "3 retries were made already: remediation.maxRetry is reached", message(world(3, sick(1), replacing(1, time.Minute, 3), limits(3, 0))))

	status := Decide(world(3, sick(1), lostNode(1), alarm(2))).Status
	c := conditions.Get(statusHolder{&status}, clusterv1.RemediatingCondition)
	require.NotNil(t, c)
	assert.Equal(t, metav1.ConditionTrue, c.Status)
	assert.Equal(t, "* Machine m1: etcd would have 1 healthy of 2 voting members, 2 are needed; failing: m2", c.Message)
}

func TestRetriesAreAskedForInTime(t *testing.T) {
	w := world(3, sick(1), lostNode(1), replacing(1, 10*time.Minute, 1), limits(3, 900))
	assert.Equal(t, 5*time.Minute, Decide(w).Requeue)
}

func TestVerdictsStayUntilTheMarkGoes(t *testing.T) {
	w := world(3, sick(1), lostNode(1), alarm(2))
	first := Decide(w)
	for _, c := range first.MachineConditions["m1"] {
		conditions.Set(w.Machines[1], c)
	}
	sick(0)(&w) // now another one is looked at first
	w.Machines[0].Annotations[clusterv1.RemediateMachineAnnotation] = ""
	assert.Equal(t, impossible, verdicts(Decide(w))["m1"], "left away it would be taken back by server-side apply")
}

func TestLastRemediation(t *testing.T) {
	last := func(w World) string {
		r := Decide(w).Status.LastRemediation
		return r.Machine
	}
	assert.Empty(t, last(world(3)))
	assert.Equal(t, "m9", last(world(4, wanted(5), inProgress("m9", time.Minute), joining(3))))
	assert.Equal(t, "former", last(world(3, replacing(1, time.Hour, 1))))
	newest := world(3, replacing(1, time.Hour, 1), replacing(2, time.Minute, 4))
	assert.Equal(t, int32(4), Decide(newest).Status.LastRemediation.RetryCount)
}

func TestFailuresOfActionsBecomeVerdicts(t *testing.T) {
	for _, row := range []struct {
		failed Action
		want   string
	}{{MoveLeadership{From: "m1"}, impossible}, {DeleteMachine{}, clusterv1.InternalErrorReason}, {BeginRemediation{}, clusterv1.InternalErrorReason}} {
		d := Decide(world(3, sick(1), lostNode(1)))
		remediationFailed(d, row.failed)
		assert.Equal(t, row.want, verdicts(d)["m1"])
	}
}

func TestTheFlagWaitsForAMachineThatIsGivenUp(t *testing.T) {
	flag := func(w World) bool {
		status := Decide(w).Status
		return status.Initialization.ControlPlaneInitialized != nil
	}
	finished := func(w *World) { w.Workload = Workload{Connected: true, ConfigReadable: true, NodesKnown: true} }
	assert.True(t, flag(world(1, notInitialized, finished)))
	assert.False(t, flag(world(1, notInitialized, finished, sick(0))))
	assert.False(t, flag(world(1, notInitialized, finished, deleting(0, drained))))
}
