package rollup

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func machine(name string, age time.Duration, list ...metav1.Condition) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(now.Add(-age))}}
	conditions.SetAll(m, list...)
	return m
}

func is(kind string, status metav1.ConditionStatus, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: "Because", Message: message}
}

func TestReady(t *testing.T) {
	for name, test := range map[string]struct {
		machines []*clusterv1.Machine
		status   metav1.ConditionStatus
		reason   string
	}{
		"no machines":      {nil, metav1.ConditionTrue, clusterv1.NoReplicasReason},
		"all ready":        {[]*clusterv1.Machine{machine("a", 0, is("Ready", "True", ""))}, metav1.ConditionTrue, clusterv1.ReadyReason},
		"one is not":       {[]*clusterv1.Machine{machine("a", 0, is("Ready", "True", "")), machine("b", 0, is("Ready", "False", "sick"))}, metav1.ConditionFalse, clusterv1.NotReadyReason},
		"one says nothing": {[]*clusterv1.Machine{machine("a", 0)}, metav1.ConditionUnknown, clusterv1.ReadyUnknownReason},
	} {
		c := Ready(test.machines, clusterv1.MachinesReadyCondition)
		assert.Equal(t, []any{test.status, test.reason}, []any{c.Status, c.Reason}, name)
	}
}

// Conformance: CL-45
func TestUpToDateGivesNewMachinesTime(t *testing.T) {
	judged := machine("a", time.Second, is("UpToDate", "True", ""))
	assert.Equal(t, metav1.ConditionTrue, UpToDate([]*clusterv1.Machine{judged, machine("b", 10*time.Second)}, "MachinesUpToDate", now).Status)
	assert.Equal(t, metav1.ConditionUnknown, UpToDate([]*clusterv1.Machine{judged, machine("b", 11*time.Second)}, "MachinesUpToDate", now).Status)
}

func TestRemediating(t *testing.T) {
	calm := Remediating([]*clusterv1.Machine{machine("a", 0)}, "all is well")
	assert.Equal(t, []any{metav1.ConditionFalse, "all is well"}, []any{calm.Status, calm.Message})
	busy := Remediating([]*clusterv1.Machine{machine("a", 0, is("OwnerRemediated", "False", "waiting"))}, "all is well")
	assert.Equal(t, metav1.ConditionTrue, busy.Status)
	assert.Contains(t, busy.Message, "a: waiting")
}

// Conformance: CL-33, SH-39
func TestVersionsNeverDependOnTheirOrder(t *testing.T) {
	list := []clusterv1.StatusVersion{{Version: "none", Replicas: 1}, {Version: "v1.37.2+b", Replicas: 1}, {Version: "v1.37.2+a", Replicas: 2},
		{Version: "v1.9.0", Replicas: 1}, {Version: "v1.37.2+a", Replicas: 1}, {Version: "what", Replicas: 1}}
	want := []clusterv1.StatusVersion{{Version: "v1.9.0", Replicas: 1}, {Version: "v1.37.2+a", Replicas: 3}, {Version: "v1.37.2+b", Replicas: 1},
		{Version: "none", Replicas: 1}, {Version: "what", Replicas: 1}}
	for range 50 {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		assert.Equal(t, want, Versions(list))
	}
}
