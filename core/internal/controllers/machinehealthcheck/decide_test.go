package machinehealthcheck

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/paused"
)

const (
	checked   = clusterv1.MachineHealthCheckSucceededCondition
	byOwner   = clusterv1.MachineOwnerRemediatedCondition
	byOthers  = clusterv1.MachineExternallyRemediatedCondition
	allowance = clusterv1.MachineHealthCheckRemediationAllowedCondition
)

// Conformance: HC-13, HC-14, HC-15, HC-24
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name             string
		trigger          clusterv1.MachineHealthCheckRemediationTriggerIf
		total, unhealthy int
		met              bool
		allowed          int
	}{
		{"no limit", clusterv1.MachineHealthCheckRemediationTriggerIf{}, 5, 5, true, 0},
		{"no limit, one ill", clusterv1.MachineHealthCheckRemediationTriggerIf{}, 5, 1, true, 4},
		{"nobody there", clusterv1.MachineHealthCheckRemediationTriggerIf{}, 0, 0, true, 0},
		{"number, below", atMost(intstr.FromInt32(2)), 5, 1, true, 1},
		{"number, at it", atMost(intstr.FromInt32(2)), 5, 2, true, 0},
		{"number, above", atMost(intstr.FromInt32(2)), 5, 3, false, 0},
		{"never", atMost(intstr.FromInt32(0)), 5, 1, false, 0},
		{"40 % of 5 are 2", atMost(intstr.FromString("40%")), 5, 2, true, 0},
		{"40 % of 5 are not 3", atMost(intstr.FromString("40%")), 5, 3, false, 0},
		{"40 % of 7 are 2, rounded down", atMost(intstr.FromString("40%")), 7, 2, true, 0},
		{"40 % of 7 are not 3", atMost(intstr.FromString("40%")), 7, 3, false, 0},
		{"50 % of 7 are 3", atMost(intstr.FromString("50%")), 7, 3, true, 0},
		{"no percentage", atMost(intstr.FromString("half")), 5, 0, false, 0},
		{"below the range", within("[2-4]"), 5, 1, false, 0},
		{"lower edge", within("[2-4]"), 5, 2, true, 2},
		{"upper edge", within("[2-4]"), 5, 4, true, 0},
		{"above the range", within("[2-4]"), 5, 5, false, 0},
		{"no range", within("[2-]"), 5, 3, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limitOf(c.trigger, census{total: c.total, unhealthy: c.unhealthy})
			assert.Equal(t, c.met, l.met)
			assert.Equal(t, c.allowed, l.allowed)
		})
	}
	both := within("[4-5]")
	both.UnhealthyLessThanOrEqualTo = atMost(intstr.FromInt32(1)).UnhealthyLessThanOrEqualTo
	assert.True(t, limitOf(both, census{total: 5, unhealthy: 4}).met, "the range wins")
	assert.False(t, limitOf(both, census{total: 5, unhealthy: 1}).met, "the range wins")
}

// Conformance: HC-12
func TestMachinesThatStartOrLeaveAreCountedApart(t *testing.T) {
	w := world(target("a"), target("b", sick), target("c", starting(time.Minute)), target("d", deleting), target("e", nodeIs("Ready", "False", time.Minute)),
		target("f", deleting, said(checked, "False", "UnhealthyNode")), target("g", nodeUnseen, said(checked, "True", "x")), target("h", nodeUnseen, said(checked, "False", "x")), target("i", nodeUnseen))
	var verdicts []verdict
	for _, x := range w.Targets {
		verdicts = append(verdicts, judge(w, w.Check.Spec.Checks, x))
	}
	assert.Equal(t, census{total: 9, healthy: 2, unhealthy: 3, starting: 3, leaving: 1}, count(w.Targets, verdicts))
}

func TestARolloutIsNoEpidemic(t *testing.T) {
	// Three of five Machines are being replaced by a user's change; the one ill one is remediated all the same.
	w := world(target("a", sick), target("b"), target("c", deleting), target("d", starting(time.Minute)), target("e", starting(time.Minute)))
	w.Check.Spec.Remediation.TriggerIf = atMost(intstr.FromString("40%"))
	d := Decide(w)
	assert.True(t, conditions.IsFalse(marks(d)["a"].After, byOwner))
	assert.EqualValues(t, 1, *d.Check.Status.RemediationsAllowed)
}

func TestRemediationDoesNotMakeRoomForItself(t *testing.T) {
	w := world(target("a", deleting, said(checked, "False", "UnhealthyNode")), target("b", deleting, said(checked, "False", "UnhealthyNode")), target("c", sick), target("d"), target("e"))
	w.Check.Spec.Remediation.TriggerIf = atMost(intstr.FromString("40%"))
	d := Decide(w)
	assert.False(t, conditions.Has(marks(d)["c"].After, byOwner), "two of five are ill already, although they are on their way out")
	assert.True(t, conditions.IsFalse(d.Check, allowance))
}

// Conformance: HC-17, HC-18
func TestMarks(t *testing.T) {
	for _, c := range []struct {
		name   string
		target []change
		want   map[string]string // reason by condition; "" means absent
		event  bool
	}{
		{"well", nil, map[string]string{checked: "HealthCheckSucceeded", byOwner: ""}, false},
		{"ill", []change{sick}, map[string]string{checked: "UnhealthyNode", byOwner: "WaitingForRemediation"}, true},
		{"ill, and its owner is at work", []change{sick, said(byOwner, "False", "RemediationDeferred")}, map[string]string{checked: "UnhealthyNode", byOwner: "RemediationDeferred"}, false},
		{"ill again after a remediation", []change{sick, said(byOwner, "True", "Done")}, map[string]string{checked: "UnhealthyNode", byOwner: "WaitingForRemediation"}, true},
		{"well again before anybody acted", []change{said(checked, "False", "UnhealthyNode"), said(byOwner, "False", "WaitingForRemediation")}, map[string]string{checked: "HealthCheckSucceeded", byOwner: ""}, false},
		{"well again while its owner is at work, who ends it", []change{said(checked, "False", "UnhealthyNode"), said(byOwner, "False", "RemediationDeferred")}, map[string]string{checked: "HealthCheckSucceeded", byOwner: "RemediationDeferred"}, false},
		{"another illness", []change{nodeGone, said(checked, "False", "UnhealthyNode"), said(byOwner, "False", "WaitingForRemediation")}, map[string]string{checked: "NodeDeleted", byOwner: "WaitingForRemediation"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(target("m", c.target...)))
			m, ok := marks(d)["m"]
			require.True(t, ok)
			for kind, reason := range c.want {
				assert.Equal(t, reason, conditions.Reason(m.After, kind), kind)
			}
			assert.Equal(t, c.event, m.Event != nil)
		})
	}
	for name, changes := range map[string][]change{
		"leaving": {deleting, sick}, "starting": {starting(time.Minute)}, "in its time": {nodeIs("Ready", "False", time.Minute)}, "unseen": {nodeUnseen},
		"known to be well": {said(checked, "True", clusterv1.MachineHealthCheckSucceededReason)},
	} {
		assert.Empty(t, Decide(world(target("m", changes...))).Actions, name)
	}
}

// Conformance: HC-16
func TestTooManyUnhealthy(t *testing.T) {
	w := world(target("b", sick), target("a", sick), target("c"), target("d", starting(time.Minute)), target("e", deleting))
	w.Check.Spec.Remediation.TriggerIf = atMost(intstr.FromString("20%"))
	d := Decide(w)
	for _, name := range []string{"a", "b"} {
		m := marks(d)[name]
		assert.True(t, conditions.IsFalse(m.After, checked), "still said to be ill")
		assert.False(t, conditions.Has(m.After, byOwner), "but nobody is to act")
		assert.Nil(t, m.Event)
	}
	c := conditions.Get(d.Check, allowance)
	assert.Equal(t, metav1.ConditionFalse, c.Status)
	assert.Equal(t, "TooManyUnhealthy", c.Reason)
	assert.Equal(t, "2 of 5 Machines are unhealthy; spec.remediation.triggerIf allows remediation only with unhealthyLessThanOrEqualTo 20% (besides 1 not judged yet, 1 in deletion)", c.Message)
	assert.Equal(t, []Event{{"RemediationRestricted", c.Message}}, d.Events)
	assert.Empty(t, Decide(store(w, d)).Events, "once")
	assert.EqualValues(t, 0, *d.Check.Status.RemediationsAllowed)
}

func TestARangeThatIsNotReachedByAnyIsNoEvent(t *testing.T) {
	w := world(target("a"))
	w.Check.Spec.Remediation.TriggerIf = within("[1-3]")
	d := Decide(w)
	assert.True(t, conditions.IsFalse(d.Check, allowance))
	assert.Empty(t, d.Events)
}

// Conformance: HC-01, HC-21
func TestStatus(t *testing.T) {
	w := world(target("b"), target("c", starting(time.Minute)), target("a", sick))
	d := Decide(w)
	s := d.Check.Status
	assert.Equal(t, []string{"a", "b", "c"}, s.Targets)
	assert.EqualValues(t, 3, *s.ExpectedMachines)
	assert.EqualValues(t, 1, *s.CurrentHealthy)
	assert.EqualValues(t, 2, *s.RemediationsAllowed)
	assert.EqualValues(t, 3, s.ObservedGeneration)
	assert.Equal(t, "RemediationAllowed", conditions.Reason(d.Check, allowance))
	assert.True(t, conditions.IsFalse(d.Check, clusterv1.PausedCondition))
	assert.Equal(t, "c", d.Check.Labels[clusterv1.ClusterNameLabel])
	require.Len(t, d.Check.OwnerReferences, 1)
	assert.Equal(t, "Cluster", d.Check.OwnerReferences[0].Kind)
	assert.Nil(t, d.Check.OwnerReferences[0].Controller)

	w.Err = errors.New("connection refused")
	assert.Zero(t, Decide(w).Check.Status.ObservedGeneration, "not everything could be read")
}

// Conformance: HC-22
func TestNextLookIsWhenTheNextTimeoutIsDue(t *testing.T) {
	d := Decide(world(target("a", starting(9*time.Minute)), target("b", nodeIs("Ready", "False", 4*time.Minute+30*time.Second)), target("c", sick)))
	assert.Equal(t, 30*time.Second, d.After)
	assert.Zero(t, Decide(world(target("a"), target("b", sick))).After, "no time, only an event can change this")
}

// Conformance: HC-23
func TestPaused(t *testing.T) {
	yes := true
	for name, pause := range map[string]func(*World){
		"cluster": func(w *World) { w.Cluster.Spec.Paused = &yes },
		"check":   func(w *World) { w.Check.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} },
	} {
		t.Run(name, func(t *testing.T) {
			w := world(target("a", sick))
			pause(&w)
			d := Decide(w)
			_, want := paused.Reason(w.Cluster, w.Check)
			assert.Equal(t, want, conditions.Message(d.Check, clusterv1.PausedCondition))
			assert.True(t, conditions.IsTrue(d.Check, clusterv1.PausedCondition))
			assert.Empty(t, d.Actions)
			assert.Zero(t, d.After)
			assert.Nil(t, d.Check.Status.ExpectedMachines, "nothing else is written")
		})
	}
}

func TestNothingIsDoneWithoutAClusterOrInDeletion(t *testing.T) {
	w := world()
	w.Cluster = nil
	d := Decide(w)
	assert.Empty(t, d.Actions)
	assert.Nil(t, d.Check.Status.ExpectedMachines)

	w = world(target("a", sick))
	at := ago(0)
	w.Check.DeletionTimestamp = &at
	assert.Equal(t, Decision{Check: w.Check}, Decide(w))
}

// Conformance: HC-19, HC-27
func TestExternalRemediation(t *testing.T) {
	w := world(target("a", sick, requested, said(byOthers, "False", "WaitingForRemediation")), target("b", sick), target("c", sick))
	handedOut(&w)
	d := Decide(w)
	for _, name := range []string{"b", "c"} {
		m := marks(d)[name]
		require.NotNil(t, m.Request, "a request that exists keeps no other Machine waiting")
		assert.Equal(t, "FakeRemediation", m.Request.GetKind())
		assert.Equal(t, name, m.Request.GetName())
		assert.Equal(t, "c", m.Request.GetLabels()[clusterv1.ClusterNameLabel])
		assert.Equal(t, map[string]any{"strategy": "reboot"}, m.Request.Object["spec"])
		require.Len(t, m.Request.GetOwnerReferences(), 1)
		assert.Equal(t, "Machine", m.Request.GetOwnerReferences()[0].Kind)
		assert.Equal(t, "WaitingForRemediation", conditions.Reason(m.After, byOthers))
		assert.False(t, conditions.Has(m.After, byOwner), "the owner is not to act")
		assert.NotNil(t, m.Event)
	}
	assert.Nil(t, marks(d)["a"].Request)
	assert.Nil(t, marks(d)["a"].Event, "told already")
	w = store(w, d)
	assert.Empty(t, Decide(w).Actions, "nothing is asked for twice")

	nodeIs("Ready", "True", time.Second)(&w.Targets[1])
	d = Decide(w)
	assert.Contains(t, d.Actions, Withdraw{w.Targets[1].Request})
	assert.False(t, conditions.Has(marks(d)["b"].After, byOthers))
	w = store(w, d)
	assert.Empty(t, Decide(w).Actions)
}

// Conformance: HC-20
func TestExternalRemediationThatCannotBeAskedFor(t *testing.T) {
	w := world(target("a", sick))
	handedOut(&w)
	w.Template = TemplateView{Missing: true}
	d := Decide(w)
	m := marks(d)["a"]
	assert.Equal(t, "RemediationTemplateNotFound", conditions.Reason(m.After, byOthers))
	assert.Equal(t, "FakeRemediationTemplate reboot does not exist", conditions.Message(m.After, byOthers))
	assert.Nil(t, m.Request)

	w = store(w, d)
	handedOut(&w)
	m = marks(Decide(w))["a"]
	assert.NotNil(t, m.Request, "as soon as the template is there")
	assert.Equal(t, "WaitingForRemediation", conditions.Reason(m.After, byOthers))

	w.Template.Object = remediationObject("Fake", "reboot")
	m = marks(Decide(w))["a"]
	assert.Equal(t, "RemediationRequestCreationFailed", conditions.Reason(m.After, byOthers))
	assert.Contains(t, conditions.Message(m.After, byOthers), `does not end in Template`)

	w = world(target("a", sick, requested, said(byOthers, "True", "Rebooted")))
	handedOut(&w)
	assert.Equal(t, "Rebooted", conditions.Reason(marks(Decide(w))["a"].After, byOthers), "what the external controller reports stays")
}

// Conformance: HC-28
func TestTwoChecksOnOneMachine(t *testing.T) {
	strict, lax := check("strict"), check("lax")
	strict.Spec.Checks.UnhealthyMachineConditions = []clusterv1.UnhealthyMachineCondition{{Type: "DiskFull", Status: "True", TimeoutSeconds: 0}}
	view := func(own, other *clusterv1.MachineHealthCheck, changes ...change) World {
		w := world(target("m", changes...))
		w.Check, w.Others = own, []*clusterv1.MachineHealthCheck{other}
		return w
	}
	full := machineIs("DiskFull", "True", time.Minute)
	assert.True(t, conditions.IsFalse(marks(Decide(view(strict, lax, full)))["m"].After, checked))
	assert.Empty(t, Decide(view(lax, strict, full)).Actions, "well to this check, but not well")
	for name, excuse := range map[string]func(*clusterv1.MachineHealthCheck){
		"paused": func(c *clusterv1.MachineHealthCheck) {
			c.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		},
		"leaves": func(c *clusterv1.MachineHealthCheck) { at := ago(0); c.DeletionTimestamp = &at },
		"picks others": func(c *clusterv1.MachineHealthCheck) {
			c.Spec.Selector.MatchLabels = map[string]string{"pool": "red"}
		},
	} {
		other := strict.DeepCopy()
		excuse(other)
		assert.True(t, conditions.IsTrue(marks(Decide(view(lax, other, full)))["m"].After, checked), name)
	}

	both := view(strict, lax, full, sick)
	assert.Contains(t, conditions.Message(marks(Decide(both))["m"].After, checked), "Node condition", "nobody has said anything yet")
	w := store(view(lax, strict, full, sick), Decide(view(lax, strict, full, sick)))
	w.Check, w.Others = strict, []*clusterv1.MachineHealthCheck{lax}
	assert.Empty(t, Decide(w).Actions, "the first by name has the word")
}
