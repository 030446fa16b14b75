package machinehealthcheck

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

func startupTimeout(seconds int32) func(*World) {
	return func(w *World) { w.Check.Spec.Checks.NodeStartupTimeoutSeconds = &seconds }
}

func cluster(kind, status string, since time.Duration) func(*World) {
	return func(w *World) {
		conditions.Delete(w.Cluster, kind)
		conditions.Set(w.Cluster, metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: "Test", LastTransitionTime: ago(since)})
	}
}

func disconnected(w *World) { w.Connected = false }

func minds(kind, status string, seconds int32) func(*World) {
	return func(w *World) {
		w.Check.Spec.Checks.UnhealthyMachineConditions = []clusterv1.UnhealthyMachineCondition{{Type: kind, Status: status, TimeoutSeconds: seconds}}
	}
}

func bad(reason, message string) verdict { return verdict{unhealthy, reason, message, 0} }

func wait(after time.Duration) verdict { return verdict{state: waiting, after: after} }

// Conformance: HC-04, HC-05, HC-06, HC-07, HC-08, HC-09, HC-10, HC-11, HC-25
func TestJudge(t *testing.T) {
	const infra, initialized, ill = clusterv1.InfrastructureReadyCondition, clusterv1.ClusterControlPlaneInitializedCondition, "Node condition Ready has been False for at least 5m0s"
	noNode := bad("NodeStartupTimeout", "No Node has appeared within 10m0s")
	for _, c := range []struct {
		name   string
		target []change
		world  []func(*World)
		want   verdict
	}{
		{"well", nil, nil, verdict{state: healthy}},
		{"asked for", []change{annotated(clusterv1.RemediateMachineAnnotation)}, nil, bad("HasRemediateAnnotation", "The annotation cluster.x-k8s.io/remediate-machine asks for remediation")},
		{"asked for before the cluster is ready", []change{annotated(clusterv1.RemediateMachineAnnotation)}, []func(*World){cluster(infra, "False", 0)}, bad("HasRemediateAnnotation", "The annotation cluster.x-k8s.io/remediate-machine asks for remediation")},
		{"asked for without connection", []change{annotated(clusterv1.RemediateMachineAnnotation), nodeUnseen}, []func(*World){disconnected}, bad("HasRemediateAnnotation", "The annotation cluster.x-k8s.io/remediate-machine asks for remediation")},
		{"leaving, whatever is asked", []change{annotated(clusterv1.RemediateMachineAnnotation), deleting, sick}, nil, verdict{state: leaving}},
		{"its Node is gone", []change{nodeGone}, nil, bad("NodeDeleted", "Node m has been deleted")},

		{"start-up: in time", []change{starting(9 * time.Minute)}, nil, wait(time.Minute)},
		{"start-up: one second left", []change{starting(10*time.Minute - time.Second)}, nil, wait(time.Second)},
		{"start-up: just over", []change{starting(10 * time.Minute)}, nil, noNode},
		{"start-up: own timeout", []change{starting(time.Minute)}, []func(*World){startupTimeout(60)}, bad("NodeStartupTimeout", "No Node has appeared within 1m0s")},
		{"start-up: switched off", []change{starting(24 * time.Hour)}, []func(*World){startupTimeout(0)}, wait(0)},
		{"start-up: counted from the Machine's infrastructure", []change{starting(time.Hour), machineIs(infra, "True", 4*time.Minute)}, nil, wait(6 * time.Minute)},
		{"start-up: infrastructure that never came does not stop the clock", []change{starting(time.Hour), machineIs(infra, "False", 4*time.Minute)}, nil, noNode},
		{"start-up: counted from the cluster's infrastructure", []change{starting(time.Hour)}, []func(*World){cluster(infra, "True", 3*time.Minute)}, wait(7 * time.Minute)},
		{"start-up: counted from the control plane", []change{starting(time.Hour)}, []func(*World){cluster(initialized, "True", 2*time.Minute)}, wait(8 * time.Minute)},

		{"Node: sign in its time", []change{nodeIs("Ready", "False", 4*time.Minute)}, nil, wait(time.Minute)},
		{"Node: sign just over its time", []change{nodeIs("Ready", "False", 5*time.Minute)}, nil, bad("UnhealthyNode", ill)},
		{"Node: another status", []change{nodeIs("Ready", "Unknown", time.Hour)}, nil, bad("UnhealthyNode", "Node condition Ready has been Unknown for at least 5m0s")},
		{"Node: another condition does not matter", []change{nodeIs("DiskPressure", "True", time.Hour)}, nil, verdict{state: healthy}},
		{"Node: a clock that was off does not count", []change{nodeIs("Ready", "False", 1000*time.Hour), func(t *Target) { t.Node.CreationTimestamp = ago(2 * time.Minute) }}, nil, wait(3 * time.Minute)},

		{"Machine: sign in its time", []change{machineIs("DiskFull", "True", time.Minute)}, []func(*World){minds("DiskFull", "True", 90)}, wait(30 * time.Second)},
		{"Machine: sign just over its time", []change{machineIs("DiskFull", "True", 90*time.Second)}, []func(*World){minds("DiskFull", "True", 90)}, bad("UnhealthyMachine", "Machine condition DiskFull has been True for at least 1m30s")},
		{"Machine: sign without a time", []change{machineIs("DiskFull", "True", 0)}, []func(*World){minds("DiskFull", "True", 0)}, bad("UnhealthyMachine", "Machine condition DiskFull has been True for at least 0s")},
		{"Machine: absent is not Unknown", nil, []func(*World){minds("DiskFull", "Unknown", 0)}, verdict{state: healthy}},
		{"Machine: counts without a Node, too", []change{starting(time.Minute), machineIs("DiskFull", "True", time.Minute)}, []func(*World){minds("DiskFull", "True", 30)}, bad("UnhealthyMachine", "Machine condition DiskFull has been True for at least 30s")},
		{"both: the Node has the word, the soonest timer counts", []change{sick, machineIs("DiskFull", "True", time.Minute)}, []func(*World){minds("DiskFull", "True", 30)}, bad("UnhealthyNode", ill)},
		{"both in their times", []change{nodeIs("Ready", "False", time.Minute), machineIs("DiskFull", "True", time.Minute)}, []func(*World){minds("DiskFull", "True", 90)}, wait(30 * time.Second)},

		{"cluster infrastructure not ready", []change{sick}, []func(*World){cluster(infra, "False", time.Hour)}, verdict{state: waiting}},
		{"control plane not initialized: worker", []change{starting(time.Hour)}, []func(*World){cluster(initialized, "False", time.Hour)}, verdict{state: waiting}},
		{"control plane not initialized: one of its machines, which nobody can ask", []change{starting(time.Hour), controlPlane}, []func(*World){cluster(initialized, "False", time.Hour), disconnected}, noNode},
		{"cluster in deletion", []change{sick}, []func(*World){func(w *World) { at := ago(0); w.Cluster.DeletionTimestamp = &at }}, verdict{state: waiting}},
		{"no connection: Node unknown", []change{nodeUnseen}, []func(*World){disconnected}, verdict{state: unseen}},
		{"no connection: a Node may have appeared", []change{starting(time.Hour)}, []func(*World){disconnected}, verdict{state: unseen}},
		{"no connection: conditions that say so are no sign", []change{nodeUnseen, machineIs("NodeReady", "Unknown", time.Hour)}, []func(*World){disconnected, minds("NodeReady", "Unknown", 60)}, verdict{state: unseen}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world(target("m", c.target...))
			for _, change := range c.world {
				change(&w)
			}
			assert.Equal(t, c.want, judge(w, w.Check.Spec.Checks, w.Targets[0]))
		})
	}
}

// Conformance: HC-02, HC-03, HC-26
func TestSelects(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*clusterv1.MachineHealthCheck, *clusterv1.Machine)
		want   bool
	}{
		{"matching", func(*clusterv1.MachineHealthCheck, *clusterv1.Machine) {}, true},
		{"in deletion, still counted", func(_ *clusterv1.MachineHealthCheck, m *clusterv1.Machine) { at := ago(0); m.DeletionTimestamp = &at }, true},
		{"other label", func(_ *clusterv1.MachineHealthCheck, m *clusterv1.Machine) { m.Labels["pool"] = "red" }, false},
		{"other cluster", func(_ *clusterv1.MachineHealthCheck, m *clusterv1.Machine) { m.Spec.ClusterName = "d" }, false},
		{"other namespace", func(_ *clusterv1.MachineHealthCheck, m *clusterv1.Machine) { m.Namespace = "d" }, false},
		{"skipped", func(_ *clusterv1.MachineHealthCheck, m *clusterv1.Machine) {
			m.Annotations = map[string]string{clusterv1.MachineSkipRemediationAnnotation: ""}
		}, false},
		{"paused", func(_ *clusterv1.MachineHealthCheck, m *clusterv1.Machine) {
			m.Annotations = map[string]string{clusterv1.PausedAnnotation: "false"}
		}, false},
		{"expression", func(c *clusterv1.MachineHealthCheck, _ *clusterv1.Machine) {
			c.Spec.Selector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pool", Operator: metav1.LabelSelectorOpExists}}}
		}, true},
		{"an empty selector is not everything", func(c *clusterv1.MachineHealthCheck, _ *clusterv1.Machine) { c.Spec.Selector = metav1.LabelSelector{} }, false},
		{"unreadable selector", func(c *clusterv1.MachineHealthCheck, _ *clusterv1.Machine) {
			c.Spec.Selector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pool", Operator: "Like"}}}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			mhc, m := check("mhc"), target("m").Machine
			c.change(mhc, m)
			assert.Equal(t, c.want, Selects(mhc, m))
		})
	}
}
