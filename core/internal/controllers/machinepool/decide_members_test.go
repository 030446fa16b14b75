package machinepool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/ownership"
)

func memberComes(name string) change {
	return func(w *World) { w.Members.Infrastructure = append(w.Members.Infrastructure, member(name)) }
}

func memberGoes(name string) change {
	return func(w *World) { w.Members.Infrastructure = without(w.Members.Infrastructure, name) }
}

func memberLeaves(name string) change {
	return func(w *World) {
		for _, o := range w.Members.Infrastructure {
			if at := metav1.NewTime(now); o.GetName() == name {
				o.SetDeletionTimestamp(&at)
			}
		}
	}
}

func leaving(m *clusterv1.Machine) {
	at := metav1.NewTime(now)
	m.DeletionTimestamp = &at
}

// Conformance: MP-14, MP-15, MP-16, MP-18, IP6, IP7
func TestMembers(t *testing.T) {
	fresh := func(age time.Duration) func(*clusterv1.Machine) {
		return func(m *clusterv1.Machine) {
			m.CreationTimestamp, m.Status.Initialization.InfrastructureProvisioned = metav1.NewTime(now.Add(-age)), nil
		}
	}
	for _, tt := range []struct {
		name    string
		changes []change
		want    []string
		err     string
		after   time.Duration
	}{
		{name: "each has its Machine"},
		{name: "a member comes", changes: []change{memberComes("c")}, want: []string{"create Machine c"}},
		{name: "one that already leaves gets none", changes: []change{memberComes("c"), memberLeaves("c")}},
		{name: "one that the cache does not show yet is not made twice", changes: []change{memberComes("c"), func(w *World) { w.Members.Unseen = map[string]bool{"c": true} }}},
		{name: "a Machine of somebody else is not overwritten", changes: []change{memberComes("c"), func(w *World) { w.Members.Foreign = []*clusterv1.Machine{{ObjectMeta: metav1.ObjectMeta{Name: "c"}}} }},
			err: "the member c needs a Machine of its name, but Machine c does not belong to the pool"},
		{name: "a member's Machine leaves: its own controller does the rest", changes: []change{machineWith("a", leaving)}},
		{name: "a member is gone, its Machine follows", changes: []change{memberGoes("a")}, want: []string{"delete Machine a"}},
		{name: "while it is still leaving, its Machine is not hurried", changes: []change{memberLeaves("a")}},
		{name: "a Machine that leaves already is not deleted twice", changes: []change{memberGoes("a"), machineWith("a", leaving)}},
		{name: "a young Machine may be ahead of its member in the caches", changes: []change{memberGoes("a"), machineWith("a", fresh(20*time.Second))}, after: 40 * time.Second},
		{name: "but not for ever", changes: []change{memberGoes("a"), machineWith("a", fresh(time.Minute))}, want: []string{"delete Machine a"}},
		{name: "a Machine of another kind of member is left alone", changes: []change{memberGoes("a"), machineWith("a", func(m *clusterv1.Machine) { m.Spec.InfrastructureRef.Kind = "OtherMachine" })}},
		{name: "members that cannot be read change nothing", changes: []change{func(w *World) { w.Members.Infrastructure, w.Members.Err = nil, errRead }}, err: "refused"},
		{name: "a provider that stops showing members deletes none", changes: []change{func(w *World) { w.Members.Infrastructure, w.Members.Kind.Kind, w.Members.Kind.Group = nil, "", "" }}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(append([]change{shown}, tt.changes...)...))
			assert.Equal(t, tt.want, told(d))
			assert.Equal(t, tt.after, d.After)
			if tt.err != "" {
				assert.ErrorContains(t, d.Err, tt.err)
			} else {
				assert.NoError(t, d.Err)
			}
		})
	}
}

// Conformance: MP-14
func TestTheMachineOfAMember(t *testing.T) {
	minute := int32(60)
	d := Decide(world(shown, memberComes("c"), poolWith(func(p *clusterv1.MachinePool) {
		p.Name = "a-pool-whose-name-is-longer-than-the-sixty-three-characters-of-a-label"
		p.Spec.Template.Metadata.Annotations = map[string]string{"note": "x"}
		p.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds, p.Spec.Template.Spec.MinReadySeconds = &minute, &minute
		p.Spec.Template.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Gate"}}
		p.Spec.Template.Spec.FailureDomain = "not the pool's to say"
	})))
	var m *clusterv1.Machine
	for _, a := range d.Actions {
		if x, ok := a.(ApplyMachine); ok && x.Have == nil {
			m = x.Wanted
		}
	}
	require.NotNil(t, m)
	assert.Equal(t, "c", m.Name)
	assert.Equal(t, []string{clusterv1.MachineFinalizer}, m.Finalizers)
	assert.Regexp(t, "^hash_.+_z$", m.Labels[clusterv1.MachinePoolNameLabel], "a name that is no label value")
	assert.Equal(t, "c", m.Labels[clusterv1.ClusterNameLabel])
	assert.Equal(t, "blue", m.Labels["team"])
	assert.Equal(t, map[string]string{"note": "x"}, m.Annotations)
	require.NotNil(t, ownership.ControllerOf(m))
	assert.Equal(t, poolKind, ownership.ControllerOf(m).Kind)
	assert.Equal(t, clusterv1.MachineSpec{
		ClusterName: "c", Version: version, Bootstrap: clusterv1.Bootstrap{DataSecretName: new(string)},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infraGroup, Kind: "FakeMachine", Name: "c"},
		Deletion:          clusterv1.MachineDeletionSpec{NodeDrainTimeoutSeconds: &minute}, MinReadySeconds: &minute,
		ReadinessGates: []clusterv1.MachineReadinessGate{{ConditionType: "Gate"}},
	}, m.Spec)
}

// Conformance: MP-17
func TestMachinesFollowTheTemplateInPlace(t *testing.T) {
	minute := int32(60)
	template := func(f func(*clusterv1.MachineTemplateSpec)) change {
		return poolWith(func(p *clusterv1.MachinePool) { f(&p.Spec.Template) })
	}
	both := []string{"change Machine a", "change Machine b"}
	for _, tt := range []struct {
		name    string
		changes []change
		want    []string
		covered bool
	}{
		{name: "nothing changed"},
		{name: "a label", changes: []change{template(func(s *clusterv1.MachineTemplateSpec) { s.Metadata.Labels["team"] = "red" })}, want: both},
		{name: "an annotation", changes: []change{template(func(s *clusterv1.MachineTemplateSpec) { s.Metadata.Annotations = map[string]string{"note": "x"} })}, want: both},
		{name: "a drain timeout", changes: []change{template(func(s *clusterv1.MachineTemplateSpec) { s.Spec.Deletion.NodeDrainTimeoutSeconds = &minute })}, want: both},
		{name: "minReadySeconds", changes: []change{template(func(s *clusterv1.MachineTemplateSpec) { s.Spec.MinReadySeconds = &minute })}, want: both},
		{name: "a readiness gate", changes: []change{template(func(s *clusterv1.MachineTemplateSpec) {
			s.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Gate"}}
		})}, want: both},
		{name: "a label leaves the template, or a user added one: an apply tells", changes: []change{machineWith("a", func(m *clusterv1.Machine) { m.Labels["x"] = "y" })}, want: []string{"change Machine a"}, covered: true},
		{name: "another version is the infrastructure's work", changes: []change{template(func(s *clusterv1.MachineTemplateSpec) { s.Spec.Version = "v1.38.0" })},
			want: []string{"judge Machine a False", "judge Machine b False"}},
		{name: "the version follows the Node", changes: []change{machineWith("a", func(m *clusterv1.Machine) { m.Spec.Version = "v1.36.0" })}, want: []string{"change Machine a"}},
		{name: "a Machine that leaves still gets its timeouts", changes: []change{machineWith("a", leaving), template(func(s *clusterv1.MachineTemplateSpec) { s.Spec.Deletion.NodeDrainTimeoutSeconds = &minute })}, want: both},
		{name: "but no labels", changes: []change{machineWith("a", leaving), template(func(s *clusterv1.MachineTemplateSpec) { s.Metadata.Labels["team"] = "red" })}, want: both[1:]},
		{name: "one as good as gone is left alone", changes: []change{machineWith("a", leaving), machineWith("a", func(m *clusterv1.Machine) { m.Finalizers = nil }),
			template(func(s *clusterv1.MachineTemplateSpec) { s.Spec.Deletion.NodeDrainTimeoutSeconds = &minute })}, want: both[1:]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(append([]change{shown}, tt.changes...)...))
			assert.Equal(t, tt.want, told(d))
			for _, a := range d.Actions {
				if x, ok := a.(ApplyMachine); ok {
					assert.Equal(t, tt.covered, x.Covered)
				}
			}
		})
	}
}

// Conformance: MP-20
func TestMachinesAreJudged(t *testing.T) {
	kubelet := func(v string) change {
		return machineWith("a", func(m *clusterv1.Machine) { m.Status.NodeInfo.KubeletVersion, m.Spec.Version = v, v })
	}
	unjudged := machineWith("a", func(m *clusterv1.Machine) { conditions.Delete(m, clusterv1.MachineUpToDateCondition) })
	for _, tt := range []struct {
		name    string
		changes []change
		want    []string
		message string
	}{
		{name: "judged already"},
		{name: "a new one", changes: []change{unjudged}, want: []string{"judge Machine a True"}},
		{name: "an older one", changes: []change{kubelet("v1.36.4")}, want: []string{"judge Machine a False"}, message: "* Version v1.36.4, v1.37.0 required"},
		{name: "without the v it is the same", changes: []change{kubelet("1.37.0")}},
		{name: "a pool that asks for no version", changes: []change{unjudged, kubelet("v1.36.4"), poolWith(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "" })}, want: []string{"judge Machine a True"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(append([]change{shown}, tt.changes...)...))
			assert.Equal(t, tt.want, told(d))
			for _, a := range d.Actions {
				assert.Equal(t, tt.message, a.(JudgeMachine).Conditions[0].Message)
			}
		})
	}
}

// Conformance: MP-36, IP6
func TestUnhealthyMachinesAreReplaced(t *testing.T) {
	check := func(kind string, status metav1.ConditionStatus, reason string) change {
		return machineWith("a", func(m *clusterv1.Machine) {
			conditions.Set(m, metav1.Condition{Type: kind, Status: status, Reason: reason})
		})
	}
	failed := check(clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionFalse, "UnhealthyNode")
	given := check(clusterv1.MachineOwnerRemediatedCondition, metav1.ConditionFalse, "WaitingForRemediation")
	for _, tt := range []struct {
		name    string
		changes []change
		want    []string
	}{
		{"healthy", []change{check(clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionTrue, "")}, nil},
		{"unhealthy, but not given to its owner", []change{failed}, nil},
		{"given to its owner", []change{failed, given}, []string{"judge Machine a True", "delete Machine a"}},
		{"leaving already", []change{failed, given, machineWith("a", leaving)}, []string{"judge Machine a True"}},
		{"told already, the deletion got lost", []change{failed, func(w *World) {
			d := Decide(world(shown, failed, given))
			machineWith("a", func(m *clusterv1.Machine) { conditions.SetAll(m, d.Actions[0].(JudgeMachine).Conditions...) })(w)
		}}, []string{"delete Machine a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(append([]change{shown}, tt.changes...)...))
			assert.Equal(t, tt.want, told(d))
		})
	}
	d := Decide(world(shown, failed, given))
	c := d.Actions[0].(JudgeMachine).Conditions[1]
	assert.Equal(t, clusterv1.MachineOwnerRemediatedCondition, c.Type)
	assert.Equal(t, "MachineDeleting", c.Reason)
}
