package conditions_test

import (
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

func is(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message}
}

func yes(conditionType, message string) metav1.Condition {
	return is(conditionType, metav1.ConditionTrue, "Yes", message)
}

func no(conditionType, message string) metav1.Condition {
	return is(conditionType, metav1.ConditionFalse, "No", message)
}

func unknown(conditionType, message string) metav1.Condition {
	return is(conditionType, metav1.ConditionUnknown, "Unknown", message)
}

func machine(list ...metav1.Condition) *clusterv1.Machine {
	m := &clusterv1.Machine{}
	m.SetConditions(list)
	return m
}

func types(g conditions.Getter) string {
	var out []string
	for _, c := range g.GetConditions() {
		out = append(out, c.Type)
	}
	return strings.Join(out, " ")
}

// Conformance: SH-30
func TestSetKeepsTheTimeWhileTheStatusStays(t *testing.T) {
	m := machine()
	m.Generation = 3
	early := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 999, time.UTC))
	c := no("Ready", "waiting")
	c.LastTransitionTime = early
	conditions.Set(m, c)
	got := conditions.Get(m, "Ready")
	require.NotNil(t, got)
	assert.Zero(t, got.LastTransitionTime.Nanosecond(), "the API keeps whole seconds")
	assert.EqualValues(t, 3, got.ObservedGeneration)

	conditions.Set(m, no("Ready", "still waiting"))
	assert.True(t, conditions.Get(m, "Ready").LastTransitionTime.Equal(&got.LastTransitionTime))
	assert.Equal(t, "still waiting", conditions.Message(m, "Ready"))
	conditions.Set(m, yes("Ready", ""))
	assert.Zero(t, conditions.Get(m, "Ready").LastTransitionTime, "whoever writes it knows the time")
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	c := yes("Ready", "")
	assert.Equal(t, now, conditions.Since(c, now), "decided just now")
	c.LastTransitionTime = metav1.NewTime(now.Add(-time.Hour))
	assert.Equal(t, now.Add(-time.Hour), conditions.Since(c, now))
}

func TestSetTellsNobodyWhenNothingChanged(t *testing.T) {
	m := machine()
	conditions.SetAll(m, yes("Ready", ""), yes("Paused", ""))
	before := &m.Status.Conditions[0]
	conditions.Set(m, yes("Ready", ""))
	assert.Same(t, before, &m.Status.Conditions[0], "the list is the same one")
}

// Conformance: SH-31
func TestOrder(t *testing.T) {
	m := machine()
	for _, name := range []string{"Deleting", "Zebra", "Paused", "MachinesUpToDate", "Aardvark", "NodeReady", "Ready", "Available", "InfrastructureReady", "ScalingUp"} {
		conditions.Set(m, yes(name, ""))
	}
	assert.Equal(t, "Available Ready InfrastructureReady NodeReady ScalingUp MachinesUpToDate Aardvark Zebra Paused Deleting", types(m))
	whole := strings.Fields("Available Ready UpToDate RemoteConnectionProbe BootstrapConfigReady InfrastructureReady ControlPlaneInitialized ControlPlaneAvailable WorkersAvailable EtcdClusterHealthy " +
		"NodeHealthy NodeReady HealthCheckSucceeded OwnerRemediated TopologyReconciled Updating RollingOut Remediating ScalingDown ScalingUp MachinesReady MachinesUpToDate Another Paused Deleting")
	all := machine()
	for _, at := range rand.New(rand.NewSource(1)).Perm(len(whole)) {
		conditions.Set(all, yes(whole[at], ""))
	}
	assert.Equal(t, strings.Join(whole, " "), types(all))
	conditions.Delete(m, "Zebra")
	conditions.Delete(m, "Absent")
	assert.False(t, conditions.Has(m, "Zebra"))
}

func TestAsking(t *testing.T) {
	m := machine(yes("A", "a"), no("B", ""), unknown("C", ""))
	assert.True(t, conditions.IsTrue(m, "A"))
	assert.True(t, conditions.IsFalse(m, "B"))
	assert.True(t, conditions.IsUnknown(m, "C"))
	assert.True(t, conditions.IsUnknown(m, "D"), "absent is unknown")
	assert.False(t, conditions.IsFalse(m, "D"))
	assert.Equal(t, "Yes", conditions.Reason(m, "A"))
	assert.Empty(t, conditions.Reason(m, "D"))
	assert.Empty(t, conditions.Message(m, "D"))
}

func TestLongMessagesAreCut(t *testing.T) {
	m := machine()
	conditions.Set(m, no("Ready", strings.Repeat("ä", 40000)))
	message := conditions.Message(m, "Ready")
	assert.LessOrEqual(t, len(message), 32768)
	assert.True(t, strings.HasSuffix(message, "..."))
}

// Conformance: SH-30
func TestStamp(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 10, time.UTC)
	m := machine(metav1.Condition{Type: "Deleting", Status: "True"}, yes("Ready", ""))
	conditions.Stamp(m, now)
	assert.Equal(t, "Ready Deleting", types(m))
	assert.Equal(t, now.Truncate(time.Second), m.Status.Conditions[0].LastTransitionTime.Time)
	assert.Equal(t, conditions.NoReasonReportedReason, conditions.Reason(m, "Deleting"))
	conditions.Stamp(m, now.Add(time.Hour))
	assert.Equal(t, now.Truncate(time.Second), m.Status.Conditions[0].LastTransitionTime.Time)
}

// Conformance: SH-32
func TestMirror(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	source := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Up", Message: "all well", LastTransitionTime: at, ObservedGeneration: 7}
	want := metav1.Condition{Type: "InfrastructureReady", Status: metav1.ConditionTrue, Reason: "Up", Message: "all well", LastTransitionTime: at}
	assert.Equal(t, want, conditions.Mirror(&source, "InfrastructureReady", conditions.Fallback{}))

	source.Reason = ""
	assert.Equal(t, conditions.NoReasonReportedReason, conditions.Mirror(&source, "X", conditions.Fallback{}).Reason)
	source.Status = "Maybe"
	odd := conditions.Mirror(&source, "X", conditions.Fallback{})
	assert.Equal(t, metav1.ConditionUnknown, odd.Status)
	assert.Equal(t, conditions.InvalidConditionReportedReason, odd.Reason)

	flag := conditions.FlagFallback("DevMachine", "status.initialization.provisioned", false)
	assert.Equal(t, is("InfrastructureReady", metav1.ConditionFalse, "NotReady", "DevMachine status.initialization.provisioned is false"),
		conditions.Mirror(nil, "InfrastructureReady", flag))
	flag = conditions.FlagFallback("DevMachine", "status.initialization.provisioned", true)
	assert.Equal(t, metav1.ConditionTrue, conditions.Mirror(nil, "InfrastructureReady", flag).Status)
}

// Conformance: SH-34, SH-35
func TestSummary(t *testing.T) {
	opts := conditions.SummaryOptions{For: []string{"Deleting", "InfrastructureReady", "NodeHealthy", "HealthCheckSucceeded"}, Optional: []string{"HealthCheckSucceeded"}, Negative: []string{"Deleting"}}
	for _, c := range []struct {
		name string
		from *clusterv1.Machine
		opts func(*conditions.SummaryOptions)
		want metav1.Condition
	}{
		{name: "all is well, optional one absent",
			from: machine(no("Deleting", ""), yes("InfrastructureReady", ""), yes("NodeHealthy", "")),
			want: is("Ready", metav1.ConditionTrue, "Ready", "")},
		{name: "information is told when all is well",
			from: machine(no("Deleting", ""), yes("InfrastructureReady", "in zone a"), yes("NodeHealthy", "")),
			want: is("Ready", metav1.ConditionTrue, "Ready", "* InfrastructureReady: in zone a")},
		{name: "absent is unknown",
			from: machine(no("Deleting", ""), yes("InfrastructureReady", "in zone a")),
			want: is("Ready", metav1.ConditionUnknown, "ReadyUnknown", "* NodeHealthy: Condition NodeHealthy not yet reported")},
		{name: "issues beat unknowns, reason stands in for a message",
			from: machine(no("Deleting", ""), no("InfrastructureReady", ""), unknown("NodeHealthy", "no connection"), no("HealthCheckSucceeded", "dead")),
			want: is("Ready", metav1.ConditionFalse, "NotReady", "* InfrastructureReady: No\n* NodeHealthy: no connection\n* HealthCheckSucceeded: dead")},
		{name: "negative polarity",
			from: machine(yes("Deleting", "draining"), yes("InfrastructureReady", ""), yes("NodeHealthy", "")),
			want: is("Ready", metav1.ConditionFalse, "NotReady", "* Deleting: draining")},
		{name: "lists are indented",
			from: machine(no("Deleting", ""), yes("InfrastructureReady", ""), no("NodeHealthy", "* Disk: full\n* Memory: full")),
			want: is("Ready", metav1.ConditionFalse, "NotReady", "* NodeHealthy:\n  * Disk: full\n  * Memory: full")},
		{name: "custom judgement, own reasons",
			from: machine(no("Deleting", ""), no("InfrastructureReady", "upgrade pending"), yes("NodeHealthy", "")),
			opts: func(o *conditions.SummaryOptions) {
				o.Custom = map[string]func(metav1.Condition) conditions.Priority{"InfrastructureReady": func(metav1.Condition) conditions.Priority { return conditions.Info }}
				o.Reasons.True = "Fine"
			},
			want: is("Ready", metav1.ConditionTrue, "Fine", "* InfrastructureReady: upgrade pending")},
		{name: "a condition can be replaced",
			from: machine(yes("Deleting", "details"), yes("InfrastructureReady", ""), yes("NodeHealthy", "")),
			opts: func(o *conditions.SummaryOptions) {
				o.Override = []metav1.Condition{yes("Deleting", "in deletion for more than 15m")}
			},
			want: is("Ready", metav1.ConditionFalse, "NotReady", "* Deleting: in deletion for more than 15m")},
		{name: "equal messages of a group are one line",
			from: machine(unknown("InfrastructureReady", "no connection"), unknown("NodeHealthy", "no connection")),
			opts: func(o *conditions.SummaryOptions) {
				o.For = o.For[1:]
				o.Groups = []conditions.Group{{Name: "Remote", Types: []string{"InfrastructureReady", "NodeHealthy"}}}
			},
			want: is("Ready", metav1.ConditionUnknown, "ReadyUnknown", "* Remote: no connection")},
		{name: "a negative result",
			from: machine(no("Deleting", ""), no("InfrastructureReady", "x"), yes("NodeHealthy", "")),
			opts: func(o *conditions.SummaryOptions) { o.NegativeTarget = true },
			want: is("Ready", metav1.ConditionTrue, "Ready", "* InfrastructureReady: x")},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := opts
			if c.opts != nil {
				c.opts(&o)
			}
			assert.Equal(t, c.want, conditions.Summary(c.from, "Ready", o))
		})
	}
}

func source(name string, list ...metav1.Condition) conditions.Source {
	return conditions.Source{Getter: machine(list...), Kind: "Machine", Name: name}
}

// Conformance: SH-36, SH-37
func TestAggregate(t *testing.T) {
	cp := source("z-cp", no("Ready", "etcd is slow"))
	cp.ControlPlane = true
	for _, c := range []struct {
		name string
		from []conditions.Source
		opts conditions.AggregateOptions
		want metav1.Condition
	}{
		{name: "none is good", want: is("MachinesReady", metav1.ConditionTrue, "Ready", "")},
		{name: "none, as asked", opts: conditions.AggregateOptions{None: &conditions.Fallback{Status: metav1.ConditionTrue, Reason: "NoReplicas"}},
			want: is("MachinesReady", metav1.ConditionTrue, "NoReplicas", "")},
		{name: "all good, nothing to tell", from: []conditions.Source{source("a", yes("Ready", "")), source("b", yes("Ready", ""))},
			want: is("MachinesReady", metav1.ConditionTrue, "Ready", "")},
		{name: "one issue", from: []conditions.Source{source("a", no("Ready", "no disk")), source("b", yes("Ready", "fine"))},
			want: is("MachinesReady", metav1.ConditionFalse, "NotReady", "* Machine a: no disk")},
		{name: "control plane first, then issues, then unknowns",
			from: []conditions.Source{source("b", unknown("Ready", "lost")), source("a", no("Ready", "no disk")), source("c", no("Ready", "no disk")), cp},
			want: is("MachinesReady", metav1.ConditionFalse, "NotReady",
				"* Machine z-cp: etcd is slow\n* Machines a, c: no disk\n* Machine b: lost")},
		{name: "the message of most objects first, then by name",
			from: []conditions.Source{source("a", no("Ready", "x")), source("b", no("Ready", "z")), source("c", no("Ready", "y")), source("d", no("Ready", "y"))},
			want: is("MachinesReady", metav1.ConditionFalse, "NotReady", "* Machines c, d: y\n* Machine a: x\n* Machine b: z")},
		{name: "three names, then a count",
			from: []conditions.Source{source("e", no("Ready", "x")), source("d", no("Ready", "x")), source("c", no("Ready", "x")), source("b", no("Ready", "x")), source("a", no("Ready", "x"))},
			want: is("MachinesReady", metav1.ConditionFalse, "NotReady", "* Machines a, b, c, ... (2 more): x")},
		{name: "three messages, then counts",
			from: []conditions.Source{source("a", no("Ready", "1")), source("b", no("Ready", "2")), source("c", no("Ready", "3")), source("d", no("Ready", "4")), source("e", no("Ready", "5")), source("f")},
			want: is("MachinesReady", metav1.ConditionFalse, "NotReady",
				"* Machine a: 1\n* Machine b: 2\n* Machine c: 3\nAnd 2 Machines with other issues\nAnd 1 Machine with status unknown")},
		{name: "absent ones can be skipped", from: []conditions.Source{source("a"), source("b", yes("Ready", ""))}, opts: conditions.AggregateOptions{SkipAbsent: true},
			want: is("MachinesReady", metav1.ConditionTrue, "Ready", "")},
		{name: "negative: one True makes True", from: []conditions.Source{source("a", yes("Ready", "from 1 to 2")), source("b", no("Ready", ""))}, opts: conditions.AggregateOptions{Negative: true},
			want: is("MachinesReady", metav1.ConditionTrue, "Ready", "* Machine a: from 1 to 2")},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, conditions.Aggregate(c.from, "Ready", "MachinesReady", c.opts))
		})
	}
}

// Conformance: SH-39
func TestAggregateDoesNotDependOnOrder(t *testing.T) {
	var from []conditions.Source
	for i, message := range []string{"x", "y", "z", "x", "y", "w", "v"} {
		from = append(from, source(string(rune('a'+i)), no("Ready", message)))
	}
	want := conditions.Aggregate(from, "Ready", "MachinesReady", conditions.AggregateOptions{})
	for range from {
		from = append(from[1:], from[0])
		assert.Equal(t, want, conditions.Aggregate(from, "Ready", "MachinesReady", conditions.AggregateOptions{}))
	}
}

func TestSources(t *testing.T) {
	m := machine()
	m.Name = "m"
	got := conditions.Sources("Machine", []*clusterv1.Machine{m}, func(*clusterv1.Machine) bool { return true })
	assert.Equal(t, []conditions.Source{{Getter: m, Kind: "Machine", Name: "m", ControlPlane: true}}, got)
	assert.Equal(t, "m", conditions.Of("Machine", m).Name)
}
