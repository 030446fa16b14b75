package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

func ptr[T any](v T) *T { return &v }

// all are the three Machines, each with the same fate.
func all(fate Fate, why string, because ...Field) []Machine {
	var out []Machine
	for _, name := range []string{"md-a-1", "md-a-2", "md-a-3"} {
		out = append(out, Machine{Name: name, Set: "md-a", Fate: fate, Because: because, Why: why})
	}
	return out
}

type spec = clusterv1.MachineDeploymentSpec

func onDelete(s *spec) {
	s.Rollout.Strategy.Type = clusterv1.OnDeleteMachineDeploymentStrategyType
}

func newVersion(s *spec) { s.Template.Spec.Version = "v1.38.0" }

var (
	versionField = Field{Path: "spec.template.spec.version", From: "v1.37.2", To: "v1.38.0"}
	versionWhy   = "Version v1.37.2, v1.38.0 required"
)

// Conformance: MD-60
func TestWholeDeployment(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*spec)
		want   Plan
	}{
		{"as it is", func(*spec) {}, Plan{Machines: all(Untouched, "")}},
		{"another version replaces", newVersion, Plan{Machines: all(Replaced, versionWhy, versionField)}},
		{"without surge too", func(s *spec) {
			newVersion(s)
			s.Rollout.Strategy.RollingUpdate.MaxSurge, s.Rollout.Strategy.RollingUpdate.MaxUnavailable = ptr(intstr.FromInt32(0)), ptr(intstr.FromInt32(1))
		}, Plan{Machines: all(Replaced, versionWhy, versionField)}},
		{"another template replaces, and what is in it is told", func(s *spec) { s.Template.Spec.InfrastructureRef = infra("large") },
			Plan{Machines: all(Replaced, "FakeMachineTemplate small, large required", Field{"spec.template.spec.infrastructureRef", "small", "large"},
				Field{"FakeMachineTemplate spec.template.spec.size", `"t3.small"`, `"t3.large"`})}},
		{"what is in bootstrap templates is not told", func(s *spec) { s.Template.Spec.Bootstrap.ConfigRef = config("other") },
			Plan{Machines: all(Replaced, "FakeConfigTemplate worker, other required", Field{"spec.template.spec.bootstrap.configRef", "worker", "other"},
				Field{"FakeConfigTemplate spec.template.spec.files", Hidden, Hidden})}},
		{"a template that does not exist stands in the way", func(s *spec) { s.Template.Spec.InfrastructureRef = infra("huge") },
			Plan{Machines: all(Replaced, "FakeMachineTemplate small, huge required", Field{"spec.template.spec.infrastructureRef", "small", "huge"}),
				Blocked: []string{"FakeMachineTemplate huge does not exist"}}},
		{"labels change in place", func(s *spec) { s.Template.Metadata.Labels["tier"] = "web" },
			Plan{Machines: all(InPlace, "", Field{"metadata.labels.tier", "", "web"})}},
		{"times, gates and taints too", func(s *spec) {
			s.Template.Spec.MinReadySeconds = ptr(int32(9))
			s.Template.Spec.Deletion.NodeDrainTimeoutSeconds = ptr(int32(60))
			s.Template.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Gate"}}
		}, Plan{Machines: all(InPlace, "", Field{"spec.minReadySeconds", "", "9"}, Field{"spec.deletion.nodeDrainTimeoutSeconds", "", "60"},
			Field{"spec.readinessGates", "", `[{"conditionType":"Gate"}]`})}},
		{"what concerns new Machines only changes none", func(s *spec) {
			s.MachineNaming.Template, s.Deletion.Order = "x-{{ .random }}", clusterv1.OldestMachineSetDeletionOrder
		}, Plan{Machines: all(Untouched, "")}},
		{"OnDelete leaves outdated Machines until they are deleted", func(s *spec) { newVersion(s); onDelete(s) },
			Plan{Machines: all(Untouched, "it stays until it is deleted, by strategy OnDelete", versionField)}},
		{"a paused rollout leaves them too", func(s *spec) { newVersion(s); s.Paused = ptr(true) },
			Plan{Machines: all(Untouched, "it stays while spec.paused is true", versionField)}},
		{"a rollout that was asked for", func(s *spec) { s.Rollout.After = metav1.NewTime(epoch) },
			Plan{Machines: all(Replaced, "MachineDeployment spec.rollout.after expired", Field{"spec.rollout.after", "", "2030-01-02T03:04:05Z"})}},
		{"and one for later", func(s *spec) { s.Rollout.After = metav1.NewTime(epoch.Add(time.Hour)) },
			Plan{Machines: all(Replaced, "MachineDeployment spec.rollout.after expired from 2030-01-02T04:04:05Z on", Field{"spec.rollout.after", "", "2030-01-02T04:04:05Z"})}},
		{"one of the past is done", func(s *spec) { s.Rollout.After = metav1.NewTime(epoch.Add(-time.Hour)) }, Plan{Machines: all(Untouched, "")}},
		{"more replicas", func(s *spec) { s.Replicas = ptr(int32(5)) }, Plan{Machines: all(Untouched, ""), Added: 2}},
		{"more replicas of another version", func(s *spec) { newVersion(s); s.Replicas = ptr(int32(5)) },
			Plan{Machines: all(Replaced, versionWhy, versionField), Added: 2}},
		{"absent is as good as empty", func(s *spec) { s.Template.Spec.Bootstrap.DataSecretName = ptr("") }, Plan{Machines: all(Untouched, "")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newManagement(t)
			c.change(&m.md.Spec)
			assert.Equal(t, &c.want, m.plan(m.md))
		})
	}
}

func TestFewerReplicas(t *testing.T) {
	replicas := Field{Path: "spec.replicas", From: "3", To: "1"}
	m := newManagement(t)
	m.change("md-a-3", func(o *clusterv1.Machine) { o.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""} })
	m.md.Spec.Replicas = ptr(int32(1))
	assert.Equal(t, []Machine{
		{Name: "md-a-3", Set: "md-a", Fate: Removed, Because: []Field{replicas}, Why: "1 replicas wanted, 3 exist"},
		{Name: "md-a-1", Set: "md-a", Fate: Removed, Because: []Field{replicas}, Why: "1 replicas wanted, 3 exist"},
		{Name: "md-a-2", Set: "md-a", Fate: Untouched},
	}, m.plan(m.md).Machines, "the one that is marked goes first")

	newVersion(&m.md.Spec)
	var fates []Fate
	for _, machine := range m.plan(m.md).Machines {
		fates = append(fates, machine.Fate)
		assert.Contains(t, machine.Because, versionField)
	}
	assert.Equal(t, []Fate{Removed, Removed, Replaced}, fates, "what goes first is not replaced")
}

func TestKeysOfUsersStay(t *testing.T) {
	m := newManagement(t)
	m.change("md-a-2", func(o *clusterv1.Machine) { o.Labels["users"] = "own" })
	assert.Equal(t, all(Untouched, ""), m.plan(m.md).Machines)
}

func TestKeysThatLeaveTheTemplateLeaveTheMachines(t *testing.T) {
	m := newManagement(t)
	sets := &clusterv1.MachineSetList{}
	require.NoError(t, m.List(t.Context(), sets))
	m.md.Spec.Template.Metadata.Labels["old"] = "yes"
	require.NoError(t, m.Update(t.Context(), m.md))
	sets.Items[0].Spec.Template.Metadata.Labels["old"] = "yes"
	require.NoError(t, m.Update(t.Context(), &sets.Items[0]))
	for _, name := range []string{"md-a-1", "md-a-2", "md-a-3"} {
		m.change(name, func(o *clusterv1.Machine) { o.Labels["old"] = "yes" })
	}
	delete(m.md.Spec.Template.Metadata.Labels, "old")
	assert.Equal(t, all(InPlace, "", Field{Path: "metadata.labels.old", From: "yes"}), m.plan(m.md).Machines)
}

func TestMachinesThatAreGoingAlready(t *testing.T) {
	m := newManagement(t)
	m.change("md-a-2", func(o *clusterv1.Machine) { o.Finalizers = []string{clusterv1.MachineFinalizer} })
	require.NoError(t, m.Delete(t.Context(), &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "md-a-2"}}))
	plan := m.plan(m.md)
	assert.Equal(t, Machine{Name: "md-a-2", Set: "md-a", Fate: Removed, Why: "it is being deleted already"}, plan.Machines[1])
	assert.Equal(t, 1, plan.Added)

	onDelete(&m.md.Spec)
	newVersion(&m.md.Spec)
	plan = m.plan(m.md)
	assert.Equal(t, []Fate{Untouched, Removed, Untouched}, []Fate{plan.Machines[0].Fate, plan.Machines[1].Fate, plan.Machines[2].Fate})
	assert.Equal(t, 1, plan.Added, "what the user deletes comes back of the new version")
	assert.Empty(t, plan.Blocked, "that an old set makes none is as it should be")
}

func TestWhatStandsInTheWay(t *testing.T) {
	m := newManagement(t)
	newVersion(&m.md.Spec)
	m.changeCluster(func(c *clusterv1.Cluster) { c.Spec.Paused = ptr(true) })
	assert.Equal(t, &Plan{Machines: all(Replaced, versionWhy, versionField), Blocked: []string{"Cluster c is paused"}}, m.plan(m.md))

	m.changeCluster(func(c *clusterv1.Cluster) { c.Spec.Paused = nil })
	m.changeSet(func(s *clusterv1.MachineSet) {
		s.Annotations = map[string]string{clusterv1.PausedAnnotation: "", clusterv1.RevisionAnnotation: "1"}
	})
	assert.Equal(t, &Plan{Machines: all(Replaced, versionWhy, versionField), Blocked: []string{"md-a has the annotation " + clusterv1.PausedAnnotation}}, m.plan(m.md))
	m.changeSet(func(s *clusterv1.MachineSet) { delete(s.Annotations, clusterv1.PausedAnnotation) })

	cp := reference("controlplane", "FakeControlPlane", "cp")
	object := template(cp, nil)
	object.Object["spec"] = map[string]any{"version": "v1.37.2"}
	object.Object["status"] = map[string]any{"version": "v1.37.2"}
	require.NoError(t, m.Create(t.Context(), object))
	m.changeCluster(func(c *clusterv1.Cluster) { c.Spec.Paused, c.Spec.ControlPlaneRef = nil, cp })
	plan := m.plan(m.md)
	assert.Equal(t, all(Replaced, versionWhy, versionField), plan.Machines)
	require.NotEmpty(t, plan.Blocked)
	assert.Contains(t, plan.Blocked[0], "preflight check failed")
}

// Conformance: MD-60
func TestMachinesThatAreGoingToBeAdopted(t *testing.T) {
	m := newManagement(t)
	m.change("md-a-2", func(o *clusterv1.Machine) { o.OwnerReferences = nil })
	adopted := Machine{Name: "md-a-2", Fate: InPlace, Because: []Field{{"metadata.ownerReferences", "", "MachineSet md-a"}}}
	assert.Equal(t, []Machine{{Name: "md-a-1", Set: "md-a", Fate: Untouched}, adopted, {Name: "md-a-3", Set: "md-a", Fate: Untouched}}, m.plan(m.md).Machines)
}

func TestRolloutsWaitForMachinesThatExist(t *testing.T) {
	m := newManagement(t)
	m.md.Spec.Template.Spec.InfrastructureRef = infra("large")
	m.md.Spec.Replicas = ptr(int32(3))
	require.NoError(t, m.Update(t.Context(), m.md))
	// The rollout has made its first Machine, which is not available yet.
	half := &clusterv1.MachineSet{}
	sets := &clusterv1.MachineSetList{}
	require.NoError(t, m.List(t.Context(), sets))
	sets.Items[0].DeepCopyInto(half)
	half.Name, half.UID, half.ResourceVersion = "md-b", "md-b-uid", ""
	half.Spec.Template.Spec.InfrastructureRef, half.Spec.Replicas, half.Status.Replicas = infra("large"), ptr(int32(1)), ptr(int32(1))
	require.NoError(t, m.Create(t.Context(), half))
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "md-b-1", UID: "md-b-1", Labels: half.Spec.Template.Metadata.Labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachineSet", Name: half.Name, UID: half.UID, Controller: ptr(true)}}}}
	machine.Spec.ClusterName = "c"
	require.NoError(t, m.Create(t.Context(), machine))
	plan := m.plan(m.md)
	assert.Equal(t, []string{"waiting until available: md-b-1"}, plan.Blocked)
	require.Len(t, plan.Machines, 4)
	for i, want := range []Fate{Replaced, Replaced, Replaced} {
		assert.Equal(t, want, plan.Machines[i].Fate)
	}
}

func TestIllMachinesAreReplacedAnyway(t *testing.T) {
	m := newManagement(t)
	m.change("md-a-2", func(o *clusterv1.Machine) {
		conditions.Set(o, metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionFalse, Reason: "Test", Message: "no answer"})
		conditions.Set(o, metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: "Test"})
	})
	assert.Equal(t, []Machine{
		{Name: "md-a-2", Set: "md-a", Fate: Replaced, Why: "the Machine is unhealthy: no answer"},
		{Name: "md-a-1", Set: "md-a", Fate: Untouched}, {Name: "md-a-3", Set: "md-a", Fate: Untouched},
	}, m.plan(m.md).Machines)
}

// Conformance: MD-60
func TestStandAloneSet(t *testing.T) {
	m := newManagement(t)
	s := &clusterv1.MachineSet{}
	sets := &clusterv1.MachineSetList{}
	require.NoError(t, m.List(t.Context(), sets))
	sets.Items[0].DeepCopyInto(s)
	_, err := Make(t.Context(), Request{Reader: m.Client, Resolver: resolver(), Proposed: s})
	require.ErrorIs(t, err, ErrOwned)
	require.ErrorContains(t, err, "MachineDeployment md")

	s.OwnerReferences = nil
	require.NoError(t, m.Update(t.Context(), s))
	assert.Equal(t, &Plan{Machines: all(Untouched, "")}, m.plan(s))

	s.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	s.Spec.Replicas = ptr(int32(4))
	require.NoError(t, m.Update(t.Context(), s))
	assert.Equal(t, &Plan{Machines: all(Untouched, ""), Added: 1, Blocked: []string{"md-a has the annotation " + clusterv1.PausedAnnotation}}, m.plan(s))
	s.Annotations, s.Spec.Replicas = nil, ptr(int32(3))
	require.NoError(t, m.Update(t.Context(), s))

	s.Spec.Template.Spec.Version = "v1.38.0"
	assert.Equal(t, &Plan{Machines: all(Untouched, "a MachineSet replaces no Machine; only new ones follow these fields", versionField)}, m.plan(s))

	s.Spec.Template.Metadata.Labels["tier"] = "web"
	s.Spec.Replicas = ptr(int32(2))
	plan := m.plan(s)
	assert.Equal(t, Machine{Name: "md-a-1", Set: "md-a", Fate: Removed, Why: "2 replicas wanted, 3 exist",
		Because: []Field{versionField, {"spec.replicas", "3", "2"}}}, plan.Machines[0])
	assert.Equal(t, InPlace, plan.Machines[1].Fate)
	assert.Equal(t, []Field{{"metadata.labels.tier", "", "web"}, versionField}, plan.Machines[1].Because)
}

func TestWhatHasNoPlan(t *testing.T) {
	m := newManagement(t)
	ask := func(r Request) error {
		r.Reader, r.Resolver = m.Client, resolver()
		_, err := Make(t.Context(), r)
		return err
	}
	require.ErrorIs(t, ask(Request{Proposed: &clusterv1.Machine{}}), ErrKind)
	require.ErrorContains(t, ask(Request{Proposed: &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Name: "other"}}}), "other")
	m.md.Finalizers = []string{clusterv1.MachineDeploymentFinalizer}
	require.NoError(t, m.Update(t.Context(), m.md))
	require.NoError(t, m.Delete(t.Context(), m.md))
	require.ErrorIs(t, ask(Request{Proposed: m.md}), ErrDeleting)
}
