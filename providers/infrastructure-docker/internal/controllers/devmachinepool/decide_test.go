package devmachinepool

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/ownership"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

var (
	now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	yes = true
)

type change func(*World)

// world is a simulated pool of two usable members, a and b; changes make the case.
func world(changes ...change) World {
	data, two := "data", int32(2)
	w := World{
		Now: now, Names: []string{"x", "y", "z"},
		Pool: &infrav1.DevMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "p", Generation: 2, Finalizers: []string{infrav1.MachinePoolFinalizer}},
			Spec: infrav1.DevMachinePoolSpec{Backend: &infrav1.DevMachinePoolBackend{InMemory: &infrav1.DevMachinePoolBackendInMemory{}}}},
		Owner:   &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "mp"}, Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: &two}},
		Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}},
	}
	w.Owner.Spec.Template.Spec.Version, w.Owner.Spec.Template.Spec.Bootstrap.DataSecretName = "v1.37.0", &data
	w.Owner.Spec.Template.Metadata.Labels = map[string]string{"team": "blue"}
	w.Cluster.Status.Initialization.InfrastructureProvisioned = &yes
	w.Members = []Member{usable(w, "a"), usable(w, "b")}
	for _, c := range changes {
		c(&w)
	}
	return w
}

// fresh is a member that has just been made.
func fresh(w World, name string) Member {
	m := Member{Dev: member(w, name)}
	m.Dev.CreationTimestamp = metav1.NewTime(now)
	return m
}

func usable(w World, name string) Member {
	m := fresh(w, name)
	m.Dev.Spec.ProviderID = "in-memory://" + name
	conditions.Set(m.Dev, metav1.Condition{Type: clusterv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Ready"})
	m.Machine = &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}}
	conditions.Set(m.Machine, metav1.Condition{Type: clusterv1.AvailableCondition, Status: metav1.ConditionTrue, Reason: "Available"})
	return m
}

func replicas(n int32) change { return func(w *World) { w.Owner.Spec.Replicas = &n } }
func version(v string) change { return func(w *World) { w.Owner.Spec.Template.Spec.Version = v } }

func with(name string, f func(*Member)) change {
	return func(w *World) {
		for i := range w.Members {
			if w.Members[i].Dev.Name == name {
				f(&w.Members[i])
			}
		}
	}
}

func unusable(m *Member) { conditions.Delete(m.Machine, clusterv1.AvailableCondition) }
func marked(m *Member) {
	m.Machine.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""}
}

func leaving(m *Member) {
	at := metav1.NewTime(now)
	m.Machine.DeletionTimestamp = &at
}

func older(name string) change {
	return with(name, func(m *Member) { m.Dev.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour)) })
}

func joins(name string, f func(World, string) Member) change {
	return func(w *World) { w.Members = append(w.Members, f(*w, name)) }
}

func deleting(w *World) { at := metav1.NewTime(now); w.Pool.DeletionTimestamp = &at }

func told(d Decision) []string {
	var out []string
	for _, a := range d.Actions {
		switch x := a.(type) {
		case Create:
			out = append(out, "+"+x.Dev.Name)
		case Remove:
			out = append(out, "-"+x.Member.Dev.Name)
		}
	}
	return out
}

func TestMembers(t *testing.T) {
	image := func(name string) change {
		return func(w *World) {
			w.Pool.Spec.Backend = &infrav1.DevMachinePoolBackend{Docker: &infrav1.DevMachinePoolBackendDocker{CustomImage: name}}
		}
	}
	noData := func(w *World) { w.Owner.Spec.Template.Spec.Bootstrap.DataSecretName = nil }
	managed := func(w *World) {
		w.Owner.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "autoscaler"}
	}
	for _, c := range []struct {
		name    string
		changes []change
		want    []string
	}{
		{"enough", nil, nil},
		{"missing ones are made", []change{replicas(4)}, []string{"+x", "+y"}},
		{"those that leave do not count", []change{with("a", leaving)}, []string{"+x"}},
		{"nothing without bootstrap data", []change{replicas(4), noData}, nil},
		{"nothing without infrastructure", []change{replicas(4), func(w *World) { w.Cluster.Status = clusterv1.ClusterStatus{} }}, nil},
		{"nothing while the cache is behind", []change{replicas(4), func(w *World) { w.Unseen = true }}, nil},
		{"nothing that somebody else decides", []change{replicas(4), managed}, nil},
		{"no owner, no work", []change{replicas(4), func(w *World) { w.Owner = nil }}, nil},
		{"paused", []change{replicas(4), func(w *World) { w.Cluster.Spec.Paused = &yes }}, nil},

		{"surplus: the oldest goes", []change{replicas(1), older("b")}, []string{"-b"}},
		{"surplus: one that cannot be used goes before an older one", []change{replicas(1), older("b"), with("a", unusable)}, []string{"-a"}},
		{"surplus: a mark counts more", []change{replicas(1), with("a", unusable), with("b", marked)}, []string{"-b"}},
		{"surplus: outdated counts most", []change{replicas(1), with("b", marked), with("a", func(m *Member) { m.Dev.Annotations[infrav1.DevMachineVersionAnnotation] = "v1.36.0" })}, []string{"-a"}},
		{"surplus: all", []change{replicas(0)}, []string{"-a", "-b"}},

		{"another version: the new one first, one at a time", []change{version("v1.38.0")}, []string{"+x"}},
		{"another version: no old one goes before the new one can be used (BC-05)", []change{version("v1.38.0"), joins("c", fresh)}, nil},
		{"another version: then it goes", []change{version("v1.38.0"), joins("c", usable)}, []string{"-a"}},
		{"another version: an old one that cannot be used goes at once", []change{version("v1.38.0"), joins("c", fresh), with("b", unusable)}, []string{"-b"}},
		{"another custom image is another version", []change{image("two")}, []string{"+x"}},
		{"with a custom image the version says nothing", []change{image("one"), func(w *World) { w.Members = []Member{usable(*w, "a"), usable(*w, "b")} }, version("v1.38.0")}, nil},

		{"deletion: all", []change{deleting}, []string{"-a", "-b"}},
		{"deletion: none twice", []change{deleting, with("a", leaving)}, []string{"-b"}},
		{"deletion without owner and cluster", []change{deleting, func(w *World) { w.Owner, w.Cluster = nil, nil }}, []string{"-a", "-b"}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, told(Decide(world(c.changes...)))) })
	}
}

// TestOwnersOfMembersComeBack: whoever took the pool away from the owners of a member, or made it its controller.
func TestOwnersOfMembersComeBack(t *testing.T) {
	machine := metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "a", UID: "m", Controller: &yes}
	for name, refs := range map[string][]metav1.OwnerReference{
		"none": nil, "only its Machine": {machine}, "another pool of that name": {machine, {APIVersion: infrav1.GroupVersion.String(), Kind: poolKind, Name: "p", UID: "former"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(with("a", func(m *Member) { m.Dev.OwnerReferences = refs }))
			d := Decide(w)
			require.Len(t, d.Actions, 1)
			after := d.Actions[0].(Own).After
			assert.True(t, ownership.Has(after, poolReference(w.Pool)))
			assert.Equal(t, len(refs) > 0, ownership.Has(after, machine), "others stay")
			w = world(with("a", func(m *Member) { m.Dev = after }))
			assert.Empty(t, Decide(w).Actions)
		})
	}
	for _, a := range Decide(world(deleting, with("a", func(m *Member) { m.Dev.OwnerReferences = nil }))).Actions {
		assert.IsType(t, Remove{}, a)
	}
}

func TestTheFinalizer(t *testing.T) {
	bare := func(w *World) { w.Pool.Finalizers = nil }
	d := Decide(world(bare, replicas(4)))
	assert.Equal(t, []string{infrav1.MachinePoolFinalizer}, d.Pool.Finalizers)
	assert.Empty(t, d.Actions, "stored before anything is made")
	empty := func(w *World) { w.Members = nil }
	assert.Len(t, Decide(world(deleting)).Pool.Finalizers, 1)
	assert.Len(t, Decide(world(deleting, empty, func(w *World) { w.Unseen = true })).Pool.Finalizers, 1, "a member may be on its way")
	assert.Empty(t, Decide(world(deleting, empty)).Pool.Finalizers)
}

func TestANewMember(t *testing.T) {
	m := member(world(), "x")
	assert.Equal(t, map[string]string{"team": "blue", clusterv1.ClusterNameLabel: "c", clusterv1.MachinePoolNameLabel: "mp", infrav1.DevMachinePoolNameLabel: "p"}, m.Labels)
	assert.Equal(t, "v1.37.0", m.Annotations[infrav1.DevMachineVersionAnnotation])
	assert.Equal(t, []metav1.OwnerReference{poolReference(world().Pool)}, m.OwnerReferences)
	assert.NotNil(t, m.Spec.Backend.InMemory)
	assert.Nil(t, m.Spec.Backend.Docker)

	m = member(world(func(w *World) {
		w.Pool.Spec.Backend = &infrav1.DevMachinePoolBackend{Docker: &infrav1.DevMachinePoolBackendDocker{CustomImage: "i", PreLoadImages: []string{"l"}, ExtraMounts: []infrav1.Mount{{HostPath: "/h"}}}}
	}), "x")
	assert.Nil(t, m.Spec.Backend.InMemory)
	assert.Equal(t, &infrav1.DockerMachineBackend{CustomImage: "i", PreLoadImages: []string{"l"}, ExtraMounts: []infrav1.Mount{{HostPath: "/h"}}}, m.Spec.Backend.Docker)
	assert.NotNil(t, member(world(func(w *World) { w.Pool.Spec.Backend = nil }), "x").Spec.Backend.Docker, "docker where none is named")
}

func TestStatus(t *testing.T) {
	p := Decide(world()).Pool
	assert.Equal(t, "DevMachine", p.Status.InfrastructureMachineKind)
	assert.Equal(t, []string{"in-memory://a", "in-memory://b"}, p.Spec.ProviderIDList)
	assert.EqualValues(t, 2, *p.Status.Replicas)
	assert.True(t, isTrue(p.Status.Ready))
	require.Len(t, p.Status.Instances, 2)
	assert.Equal(t, "a", p.Status.Instances[0].InstanceName)
	assert.True(t, isTrue(p.Status.Instances[0].Ready))
	assert.True(t, conditions.IsTrue(p, clusterv1.ReadyCondition))

	p = Decide(world(replicas(3), joins("c", fresh))).Pool
	assert.Nil(t, p.Status.Ready, "not before all have been provisioned")
	assert.Equal(t, "3 machines wanted, 3 exist, 2 are ready", conditions.Message(p, infrav1.ReplicasReadyCondition))
	p = Decide(world(replicas(3), func(w *World) { w.Pool.Status.Ready = &yes })).Pool
	assert.True(t, isTrue(p.Status.Ready), "for good")
	p = Decide(world(func(w *World) { w.Owner.Spec.Template.Spec.Bootstrap.DataSecretName = nil; w.Members = nil })).Pool
	assert.Equal(t, clusterv1.WaitingForBootstrapDataReason, conditions.Reason(p, infrav1.ReplicasReadyCondition))
	assert.Nil(t, p.Status.Ready)
	first := Decide(world())
	assert.Equal(t, first.Pool, Decide(world(func(w *World) { w.Pool = first.Pool })).Pool, "no difference, no write")
}

// TestRollouts: over random histories never more members than wanted and one, never fewer usable ones than there were up to
// what is wanted, and in the end all are of the wanted version.
func TestRollouts(t *testing.T) {
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		w := world(replicas(1+int32(r.Intn(4))), func(w *World) { w.Members = nil })
		next := 0
		step := func(calm bool) {
			w.Names = nil
			for range 6 {
				next++
				w.Names = append(w.Names, fmt.Sprint("m", next))
			}
			before, want := count(w), w.wanted()
			carryOut(&w, Decide(w))
			require.LessOrEqual(t, len(w.Members), max(want+1, before.members), "seed %d", seed)
			require.GreaterOrEqual(t, count(w).usable, min(before.usable, want), "seed %d: work was taken away", seed)
			for i := range w.Members {
				if calm || r.Intn(2) == 0 {
					w.Members[i] = Member{Dev: w.Members[i].Dev, Machine: usable(w, w.Members[i].Dev.Name).Machine}
				}
			}
		}
		for range 25 {
			switch r.Intn(8) {
			case 0:
				replicas(int32(r.Intn(5)))(&w)
			case 1:
				version(fmt.Sprintf("v1.37.%d", r.Intn(3)))(&w)
			}
			step(false)
		}
		for range 20 {
			step(true)
		}
		require.Empty(t, told(Decide(w)), "seed %d: not at rest", seed)
		require.Len(t, w.Members, w.wanted(), "seed %d", seed)
		for _, m := range w.Members {
			require.False(t, outdated(w, m), "seed %d", seed)
		}
	}
}

type numbers struct{ members, usable int }

func count(w World) numbers {
	n := numbers{members: len(w.Members)}
	for _, m := range w.Members {
		if m.usable() {
			n.usable++
		}
	}
	return n
}

func carryOut(w *World, d Decision) {
	for _, a := range d.Actions {
		switch x := a.(type) {
		case Create:
			w.Members = append(w.Members, Member{Dev: x.Dev})
		case Remove:
			var left []Member
			for _, m := range w.Members {
				if m.Dev.Name != x.Member.Dev.Name {
					left = append(left, m)
				}
			}
			w.Members = left
		}
	}
	w.Pool = d.Pool
}
