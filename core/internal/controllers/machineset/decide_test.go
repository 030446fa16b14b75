package machineset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
)

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

type machineOption func(*clusterv1.Machine)

// world is a set "ms" of cluster "c" that wants n Machines.
func world(n int32, machines ...*clusterv1.Machine) World {
	s := &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "ms", UID: "ms-uid", Generation: 3,
		Finalizers: []string{clusterv1.MachineSetFinalizer}, Labels: map[string]string{clusterv1.ClusterNameLabel: "c", clusterv1.MachineDeploymentNameLabel: "md"}}}
	s.Spec.ClusterName, s.Spec.Replicas = "c", &n
	s.Spec.Selector.MatchLabels = map[string]string{"set": "ms"}
	s.Spec.Template.Metadata.Labels = map[string]string{"set": "ms"}
	s.Spec.Template.Spec = clusterv1.MachineSpec{ClusterName: "c", Version: "v1.37.2", InfrastructureRef: reference("FakeMachineTemplate")}
	w := World{Now: epoch, Set: s, Machines: machines, Infrastructure: Template{Object: templateObject()},
		Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c-uid"}}}
	for i := range 10 {
		w.Suffixes = append(w.Suffixes, fmt.Sprintf("rnd%02d", i))
	}
	for _, m := range machines {
		own(w, m)
	}
	return w
}

// own makes a Machine one that the set made.
func own(w World, m *clusterv1.Machine) {
	made := intent(w, m.Name)
	m.Labels, m.OwnerReferences, m.Finalizers, m.Spec = made.Labels, made.OwnerReferences, made.Finalizers, made.Spec
	m.Spec.InfrastructureRef = reference("FakeMachine")
}

func reference(kind string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: kind, Name: "x"}
}

func templateObject() *external.Object {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1", "kind": "FakeMachineTemplate"}}
	u.SetName("x")
	u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "c-uid"}})
	return &external.Object{Unstructured: u, Contract: "v1beta2"}
}

// machine is a good one of an hour's age.
func machine(name string, opts ...machineOption) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(epoch.Add(-time.Hour))}}
	m.Status.NodeRef.Name = name
	for _, t := range []string{clusterv1.ReadyCondition, clusterv1.AvailableCondition, clusterv1.MachineUpToDateCondition} {
		conditions.Set(m, condition(t, metav1.ConditionTrue, "Good", ""))
	}
	for _, o := range opts {
		o(m)
	}
	return m
}

func leaving(m *clusterv1.Machine) { m.DeletionTimestamp = &metav1.Time{Time: epoch.Add(-time.Minute)} }
func marked(m *clusterv1.Machine) {
	m.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""}
}
func updating(m *clusterv1.Machine) {
	m.Annotations = map[string]string{clusterv1.UpdateInProgressAnnotation: ""}
}
func withoutNode(m *clusterv1.Machine) { m.Status.NodeRef.Name = "" }
func sick(m *clusterv1.Machine) {
	conditions.Set(m, condition(clusterv1.MachineNodeHealthyCondition, metav1.ConditionFalse, "Sick", ""))
}
func failedCheck(m *clusterv1.Machine) {
	conditions.Set(m, condition(clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionFalse, "Sick", ""))
}
func aged(d time.Duration) machineOption {
	return func(m *clusterv1.Machine) { m.CreationTimestamp = metav1.NewTime(epoch.Add(-d)) }
}

func created(d Decision) (names []string) {
	for _, a := range d.Actions {
		if c, ok := a.(Create); ok {
			names = append(names, c.Machine.Name)
		}
	}
	return names
}

func deleted(d Decision) (names []string) {
	for _, a := range d.Actions {
		if c, ok := a.(Delete); ok {
			names = append(names, c.Machine.Name)
		}
	}
	return names
}

// Conformance: MS-06, MS-20, MS-24, MS-27
func TestScale(t *testing.T) {
	for _, tc := range []struct {
		name             string
		world            World
		created, deleted []string
	}{
		{"enough", world(1, machine("a")), nil, nil},
		{"up", world(3, machine("a")), []string{"ms-rnd00", "ms-rnd01"}, nil},
		{"down", world(1, machine("a"), machine("b"), machine("c")), nil, []string{"a", "b"}},
		{"leaving Machines count when it goes up", world(2, machine("a"), machine("b", leaving)), nil, nil},
		{"and when it goes down", world(1, machine("a"), machine("b", leaving)), nil, nil},
		{"orphans fill the gap", func() World { w := world(2, machine("a")); w.Orphans = []*clusterv1.Machine{machine("o")}; return w }(), nil, nil},
		{"a Machine whose labels were changed still counts", func() World { w := world(1, machine("a")); w.Machines[0].Labels = nil; return w }(), nil, nil},
		{"a stale cache stops creation", func() World { w := world(2, machine("a")); w.Unseen = true; return w }(), nil, nil},
		{"and deletion", func() World { w := world(0, machine("a")); w.Unseen = true; return w }(), nil, nil},
		{"creation switched off", func() World {
			w := world(2, machine("a"))
			annotate(w, clusterv1.DisableMachineCreateAnnotation, "true")
			return w
		}(), nil, nil},
		{"creation switched off by another value", func() World {
			w := world(2, machine("a"))
			annotate(w, clusterv1.DisableMachineCreateAnnotation, "false")
			return w
		}(), []string{"ms-rnd00"}, nil},
		{"no replicas means one", func() World { w := world(2); w.Set.Spec.Replicas = nil; return w }(), []string{"ms-rnd00"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Decide(tc.world)
			require.NoError(t, d.Err)
			assert.Equal(t, tc.created, created(d))
			assert.Equal(t, tc.deleted, deleted(d))
		})
	}
}

func annotate(w World, k, v string) { w.Set.Annotations = map[string]string{k: v} }

// TestWhoGoesFirst lists Machines in the order in which they go; each pair is checked both ways round, for every order.
//
// Conformance: MS-26
func TestWhoGoesFirst(t *testing.T) {
	ranking := []*clusterv1.Machine{machine("z", leaving), machine("y", marked), machine("x", updating), machine("w", withoutNode), machine("v", aged(200*24*time.Hour))}
	for _, order := range []string{"", clusterv1.RandomMachineSetDeletionOrder, clusterv1.NewestMachineSetDeletionOrder, clusterv1.OldestMachineSetDeletionOrder} {
		for i, first := range ranking {
			for _, second := range ranking[i+1:] {
				for _, pair := range [][]*clusterv1.Machine{{first, second}, {second, first}} {
					assert.Equal(t, first.Name, surplus(pair, 1, order, epoch)[0].Name, "%s before %s in order %q", first.Name, second.Name, order)
				}
			}
		}
	}
	for _, ill := range []machineOption{withoutNode, sick, failedCheck} {
		assert.Equal(t, "b", surplus([]*clusterv1.Machine{machine("a"), machine("b", ill)}, 1, "", epoch)[0].Name)
	}
	young, old := machine("young", aged(time.Minute)), machine("old", aged(30*24*time.Hour))
	assert.Equal(t, "old", surplus([]*clusterv1.Machine{young, old}, 1, clusterv1.OldestMachineSetDeletionOrder, epoch)[0].Name)
	assert.Equal(t, "young", surplus([]*clusterv1.Machine{young, old}, 1, clusterv1.NewestMachineSetDeletionOrder, epoch)[0].Name)
	assert.Equal(t, "old", surplus([]*clusterv1.Machine{young, old}, 1, "", epoch)[0].Name, "by name")
}

// TestBC03MarkBeatsIllness: the Machine that the user marked goes, whatever the order and however the list is shuffled.
//
// Conformance: MS-28
func TestBC03MarkBeatsIllness(t *testing.T) {
	for _, order := range []string{clusterv1.RandomMachineSetDeletionOrder, clusterv1.NewestMachineSetDeletionOrder, clusterv1.OldestMachineSetDeletionOrder} {
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 3))
			age := func() machineOption { return aged(time.Duration(rng.IntN(40*24)) * time.Hour) }
			w := world(1, machine("x", sick, age()), machine("y", marked, age()))
			w.Set.Spec.Deletion.Order = order
			rng.Shuffle(2, func(i, j int) { w.Machines[i], w.Machines[j] = w.Machines[j], w.Machines[i] })
			require.Equal(t, []string{"y"}, deleted(Decide(w)), "%s, seed %d", order, seed)
		}
	}
}

// TestScaleDownProperties: over random sets, exactly the surplus goes, and none that ranks below one that stays.
//
// Conformance: MS-27
func TestScaleDownProperties(t *testing.T) {
	options := []machineOption{leaving, marked, updating, withoutNode, sick, failedCheck, func(*clusterv1.Machine) {}}
	orders := []string{"", clusterv1.RandomMachineSetDeletionOrder, clusterv1.NewestMachineSetDeletionOrder, clusterv1.OldestMachineSetDeletionOrder}
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var machines []*clusterv1.Machine
		for i := range rng.IntN(9) {
			machines = append(machines, machine(fmt.Sprintf("m%d", i), options[rng.IntN(len(options))], aged(time.Duration(rng.IntN(1000))*time.Hour)))
		}
		w := world(int32(rng.IntN(6)), machines...)
		w.Set.Spec.Deletion.Order = orders[rng.IntN(len(orders))]
		d := Decide(w)
		gone := map[string]bool{}
		for _, n := range deleted(d) {
			gone[n] = true
		}
		stay, lowest := 0, 1000.0
		for _, m := range machines {
			if gone[m.Name] || !m.DeletionTimestamp.IsZero() {
				lowest = min(lowest, rank(m, w.Set.Spec.Deletion.Order, epoch))
			} else {
				stay++
			}
		}
		require.GreaterOrEqual(t, stay, min(w.wanted(), stay+len(gone)), "seed %d", seed)
		if len(gone) > 0 {
			require.Equal(t, w.wanted(), stay, "seed %d", seed)
		}
		for _, m := range machines {
			if !gone[m.Name] && m.DeletionTimestamp.IsZero() && len(gone) > 0 {
				require.LessOrEqual(t, rank(m, w.Set.Spec.Deletion.Order, epoch), lowest, "seed %d", seed)
			}
		}
	}
}

// Conformance: MS-21
func TestNewMachineIsComplete(t *testing.T) {
	w := world(1)
	spec := &w.Set.Spec.Template
	spec.Metadata.Annotations = map[string]string{"note": "x"}
	spec.Spec.FailureDomain, spec.Spec.MinReadySeconds = "zone", new(int32)
	d := Decide(w)
	require.Len(t, d.Actions, 1)
	m := d.Actions[0].(Create).Machine
	assert.Equal(t, map[string]string{"set": "ms", clusterv1.ClusterNameLabel: "c", clusterv1.MachineSetNameLabel: "ms", clusterv1.MachineDeploymentNameLabel: "md"}, m.Labels)
	assert.Equal(t, map[string]string{"note": "x"}, m.Annotations)
	assert.True(t, metav1.IsControlledBy(m, w.Set))
	assert.Equal(t, []string{clusterv1.MachineFinalizer}, m.Finalizers)
	assert.Equal(t, "zone", m.Spec.FailureDomain)
	assert.Equal(t, "v1.37.2", m.Spec.Version)
}

// Conformance: MS-22
func TestNames(t *testing.T) {
	for _, tc := range []struct{ set, template, want string }{
		{"ms", "", "ms-abcde"},
		{"ms", "{{ .cluster.name }}-{{ .random }}-x", "c-abcde-x"},
		{strings.Repeat("s", 63), "", strings.Repeat("s", 58) + "abcde"},
		{strings.Repeat("s", 57), "", strings.Repeat("s", 57) + "-abcde"},
		{"ms", "{{ .machineSet.name }}.{{ .random }}", "ms.abcde"},
	} {
		s := &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Name: tc.set}}
		s.Spec.ClusterName, s.Spec.MachineNaming.Template = "c", tc.template
		name, err := machineName(s, "abcde")
		require.NoError(t, err)
		assert.Equal(t, tc.want, name)
	}
	for _, bad := range []string{"{{ .machine }}", "{{", "{{ .cluster.namespace }}-{{ .random }}"} {
		w := world(1)
		w.Set.Spec.MachineNaming.Template = bad
		assert.ErrorContains(t, Decide(w).Err, "spec.machineNaming.template", bad)
	}
}

// Conformance: MS-10, MS-11, MS-13, SH-18
func TestSyncInPlace(t *testing.T) {
	syncs := func(w World) (out []Sync) {
		for _, a := range Decide(w).Actions {
			if s, ok := a.(Sync); ok {
				out = append(out, s)
			}
		}
		return out
	}
	change := func(w World) World {
		t := &w.Set.Spec.Template
		t.Metadata.Labels["tier"] = "web"
		t.Spec.Version, t.Spec.FailureDomain = "v1.99.0", "elsewhere"
		t.Spec.MinReadySeconds = ptr(int32(5))
		t.Spec.Deletion.NodeDrainTimeoutSeconds = ptr(int32(7))
		return w
	}
	assert.Empty(t, syncs(world(1, machine("a"))), "nothing differs")

	got := syncs(change(world(1, machine("a"))))
	require.Len(t, got, 1)
	wanted := got[0].Wanted
	assert.Equal(t, "web", wanted.Labels["tier"])
	assert.Equal(t, "v1.37.2", wanted.Spec.Version, "never in place")
	assert.Empty(t, wanted.Spec.FailureDomain)
	assert.Equal(t, reference("FakeMachine"), wanted.Spec.InfrastructureRef)
	assert.Equal(t, int32(5), *wanted.Spec.MinReadySeconds)
	assert.Equal(t, []string{clusterv1.MachineFinalizer}, wanted.Finalizers, "or the apply would take it away")

	w := change(world(1, machine("a", leaving)))
	got = syncs(w)
	require.Len(t, got, 1)
	assert.NotContains(t, got[0].Wanted.Labels, "tier", "a Machine that leaves gets only what governs its leaving")
	assert.Equal(t, int32(7), *got[0].Wanted.Spec.Deletion.NodeDrainTimeoutSeconds)
	w.Machines[0].Finalizers = []string{"other"}
	assert.Empty(t, syncs(w)[0].Wanted.Finalizers, "a finalizer that is gone is not asked for again")
	w.Machines[0].Finalizers = nil
	assert.Empty(t, syncs(w))

	w = world(1, machine("a"))
	w.Machines[0].Labels["users"] = "own"
	got = syncs(w)
	require.Len(t, got, 1)
	assert.True(t, got[0].Covered && got[0].Surplus, "perhaps left over; the memory of what was applied tells")

	w = world(1, machine("a"))
	w.Machines[0].Spec.Deletion.NodeDeletionTimeoutSeconds = ptr(int32(10))
	assert.Empty(t, syncs(w), "a default of admission is no difference")
}

// Conformance: MS-12
func TestSyncMetadataOfObjects(t *testing.T) {
	w := world(2, machine("a"), machine("b"))
	w.Set.Spec.Template.Metadata.Annotations = map[string]string{"note": "x"}
	current, lacking := &unstructured.Unstructured{Object: map[string]any{}}, &unstructured.Unstructured{Object: map[string]any{}}
	current.SetLabels(intent(w, "a").Labels)
	current.SetAnnotations(map[string]string{"note": "x", "more": "y"})
	w.Objects = map[string][]*unstructured.Unstructured{"a": {current}, "b": {lacking}}
	var got []SyncMetadata
	for _, a := range Decide(w).Actions {
		if s, ok := a.(SyncMetadata); ok {
			got = append(got, s)
		}
	}
	require.Len(t, got, 1)
	assert.Same(t, lacking, got[0].Object)
	assert.Equal(t, map[string]string{"note": "x"}, got[0].Annotations)
}

// Conformance: MS-25
func TestStraysGo(t *testing.T) {
	stray := func(age time.Duration) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"kind": "FakeMachine"}}
		u.SetCreationTimestamp(metav1.NewTime(epoch.Add(-age)))
		return u
	}
	w := world(0)
	young := stray(50 * time.Second)
	w.Strays = []*unstructured.Unstructured{young, stray(2 * time.Minute)}
	d := Decide(w)
	require.Len(t, d.Actions, 1)
	assert.Same(t, w.Strays[1], d.Actions[0].(DeleteStray).Object)
	assert.Equal(t, 10*time.Second, d.After, "the other one's Machine may still show up")
	w.Unseen = true
	assert.Empty(t, Decide(w).Actions)
}

// Conformance: MS-03
func TestAdoption(t *testing.T) {
	w := world(1)
	w.Orphans = []*clusterv1.Machine{machine("o")}
	d := Decide(w)
	require.Len(t, d.Actions, 1)
	assert.Equal(t, Adopt{Machine: w.Orphans[0]}, d.Actions[0])
}

// Conformance: MS-02
func TestDeletion(t *testing.T) {
	w := world(2, machine("a"), machine("b", leaving))
	w.Set.DeletionTimestamp = &metav1.Time{Time: epoch}
	d := Decide(w)
	assert.Equal(t, []string{"a"}, deleted(d), "each once")
	assert.NotEmpty(t, d.Set.Finalizers)
	w.Machines, w.Unseen = nil, true
	assert.NotEmpty(t, Decide(w).Set.Finalizers, "a Machine that the cache does not show yet may exist")
	w.Unseen = false
	w.Set.Finalizers = append(w.Set.Finalizers, clusterv1.MachineSetTopologyFinalizer)
	assert.Empty(t, Decide(w).Set.Finalizers, "that of a manager before ours would never go")
}

// Who deletes a set with --cascade=orphan keeps the Machines.
//
// Conformance: MS-02
func TestOrphaningDeletionKeepsTheMachines(t *testing.T) {
	w := world(1, machine("a"))
	w.Set.DeletionTimestamp = &metav1.Time{Time: epoch}
	w.Set.Finalizers = append(w.Set.Finalizers, metav1.FinalizerOrphanDependents)
	d := Decide(w)
	assert.Empty(t, d.Actions)
	assert.Contains(t, d.Set.Finalizers, clusterv1.MachineSetFinalizer, "not before they are let go of")
}

// Conformance: MS-01, SH-01
func TestFinalizerComesFirst(t *testing.T) {
	w := world(1)
	w.Set.Finalizers = nil
	d := Decide(w)
	assert.NotEmpty(t, d.Set.Finalizers)
	assert.Empty(t, d.Actions)
}

// Conformance: MS-01, SH-03
func TestPausedStopsEverything(t *testing.T) {
	w := world(3, machine("a"))
	annotate(w, clusterv1.PausedAnnotation, "")
	d := Decide(w)
	assert.Empty(t, d.Actions)
	assert.True(t, conditions.IsTrue(d.Set, clusterv1.PausedCondition))
}

// Conformance: MS-05
func TestStandAloneSetBelongsToItsCluster(t *testing.T) {
	w := world(0)
	assert.Empty(t, Decide(w).Set.OwnerReferences)
	delete(w.Set.Labels, clusterv1.MachineDeploymentNameLabel)
	require.Len(t, Decide(w).Set.OwnerReferences, 1)
}

// Conformance: MS-05, MS-23
func TestTemplates(t *testing.T) {
	for _, tc := range []struct {
		name                      string
		bootstrap, infrastructure Template
		message                   string
	}{
		{"both there", Template{Object: templateObject()}, Template{Object: templateObject()}, ""},
		{"bootstrap missing", Template{Missing: true}, Template{Object: templateObject()}, "* FakeConfigTemplate x does not exist"},
		{"infrastructure missing", Template{Object: templateObject()}, Template{Missing: true}, "* FakeMachineTemplate x does not exist"},
		{"both missing", Template{Missing: true}, Template{Missing: true}, "* FakeConfigTemplate x does not exist\n* FakeMachineTemplate x does not exist"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(1)
			w.Set.Spec.Template.Spec.Bootstrap.ConfigRef = reference("FakeConfigTemplate")
			w.Bootstrap, w.Infrastructure = tc.bootstrap, tc.infrastructure
			d := Decide(w)
			assert.Equal(t, tc.message == "", len(created(d)) == 1)
			assert.True(t, strings.HasSuffix(conditions.Message(d.Set, clusterv1.ScalingUpCondition), tc.message))
		})
	}
	w := world(1)
	w.Infrastructure = Template{Err: errors.New("no such kind")}
	assert.ErrorContains(t, Decide(w).Err, "no such kind")
	w.Set.Spec.Replicas = ptr(int32(0))
	assert.NoError(t, Decide(w).Err, "a set that needs no Machine does not need its templates")
	w = world(0)
	w.Infrastructure.Object.SetOwnerReferences(nil)
	assert.Equal(t, []Action{OwnTemplate{Object: w.Infrastructure.Object}}, Decide(w).Actions)
}

// Conformance: MS-30, MS-31, MS-32, MS-33, MS-35
func TestPreflight(t *testing.T) {
	for _, tc := range []struct {
		name, control, inUse, own string
		adjust                    func(*World)
		want                      string
	}{
		{name: "same version", control: "v1.37.2", inUse: "v1.37.2", own: "v1.37.2"},
		{name: "control plane without version", own: "v1.37.2"},
		{name: "provisioning", control: "v1.37.2", own: "v1.37.2", want: "is provisioning"},
		{name: "upgrading", control: "v1.37.2", inUse: "v1.36.0", own: "v1.37.2", want: "is upgrading to v1.37.2"},
		{name: "three minors behind", control: "v1.37.2", inUse: "v1.37.2", own: "v1.34.0"},
		{name: "four minors behind", control: "v1.37.2", inUse: "v1.37.2", own: "v1.33.0", want: clusterv1.MachineSetPreflightCheckKubernetesVersionSkew},
		{name: "newer than the control plane", control: "v1.37.2", inUse: "v1.37.2", own: "v1.38.0", want: clusterv1.MachineSetPreflightCheckKubernetesVersionSkew},
		{name: "kubeadm of another minor", control: "v1.37.2", inUse: "v1.37.2", own: "v1.36.0", want: clusterv1.MachineSetPreflightCheckKubeadmVersionSkew,
			adjust: func(w *World) { w.Set.Spec.Template.Spec.Bootstrap.ConfigRef.Kind = "KubeadmConfigTemplate" }},
		{name: "the topology is ahead", control: "v1.37.2", inUse: "v1.37.2", own: "v1.37.2", want: "pending version upgrade to v1.38.0", adjust: topology("v1.38.0", "")},
		{name: "unless the upgrade has got to this version", control: "v1.37.2", inUse: "v1.37.2", own: "v1.37.2", adjust: topology("v1.38.0", "v1.37.2")},
		{name: "an upgrade step of another version", control: "v1.37.2", inUse: "v1.37.2", own: "v1.37.2", want: "pending version upgrade", adjust: topology("v1.38.0", "v1.38.0")},
		{name: "another patch under a topology", control: "v1.37.2", inUse: "v1.37.2", own: "v1.37.1", want: clusterv1.MachineSetPreflightCheckControlPlaneVersionSkew, adjust: topology("v1.37.2", "")},
		{name: "another patch without one", control: "v1.37.2", inUse: "v1.37.2", own: "v1.37.1"},
		{name: "skipped by name", control: "v1.37.2", inUse: "v1.36.0", own: "v1.37.2",
			adjust: func(w *World) { w.Skip = []string{clusterv1.MachineSetPreflightCheckControlPlaneIsStable} }},
		{name: "all skipped", control: "v1.37.2", own: "v1.40.0", adjust: func(w *World) { w.Skip = []string{clusterv1.MachineSetPreflightCheckAll} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(1)
			w.Set.Spec.Template.Spec.Version = tc.own
			w.ControlPlane = controlPlane(tc.control, tc.inUse)
			if tc.adjust != nil {
				tc.adjust(&w)
			}
			d := Decide(w)
			require.NoError(t, d.Err)
			if tc.want == "" {
				assert.Len(t, created(d), 1)
				return
			}
			assert.Empty(t, created(d))
			assert.Contains(t, conditions.Message(d.Set, clusterv1.ScalingUpCondition), tc.want)
		})
	}
	w := world(1)
	w.ControlPlane = controlPlane("banana", "")
	assert.ErrorContains(t, Decide(w).Err, "spec.version")
}

// topology is a Cluster of a class, of that version and at that step of an upgrade.
func topology(version, step string) func(*World) {
	return func(w *World) {
		w.Cluster.Spec.Topology.ClassRef.Name, w.Cluster.Spec.Topology.Version = "class", version
		if step != "" {
			w.Cluster.Annotations = map[string]string{clusterv1.ClusterTopologyUpgradeStepAnnotation: step}
		}
	}
}

// Conformance: MS-34
func TestChecksThatAreSkipped(t *testing.T) {
	stable, skew := clusterv1.MachineSetPreflightCheckControlPlaneIsStable, clusterv1.MachineSetPreflightCheckKubernetesVersionSkew
	annotated := templateObject()
	annotated.SetAnnotations(map[string]string{clusterv1.MachineSetSkipPreflightChecksAnnotation: skew})
	w := world(1)
	assert.Empty(t, skippedBy(w.Set, Template{}))
	assert.Equal(t, []string{skew}, skippedBy(w.Set, Template{Object: annotated}), "the template's, without one of the set's")
	annotate(w, clusterv1.MachineSetSkipPreflightChecksAnnotation, stable+" , All,")
	assert.Equal(t, []string{stable, "All"}, skippedBy(w.Set, Template{Object: annotated}), "the set's wins")

	all := []string{stable, skew, clusterv1.MachineSetPreflightCheckKubeadmVersionSkew, clusterv1.MachineSetPreflightCheckControlPlaneVersionSkew}
	for _, c := range []struct{ flag, off []string }{
		{nil, []string{clusterv1.MachineSetPreflightCheckAll}}, {[]string{"All"}, nil}, {all, nil}, {[]string{stable}, all[1:]}, {[]string{skew, "All"}, nil},
	} {
		assert.Equal(t, c.off, (&Controller{PreflightChecks: c.flag}).skipped(), "%v", c.flag)
	}
}

func controlPlane(version, inUse string) *external.Object {
	u := &unstructured.Unstructured{Object: map[string]any{"kind": "FakeControlPlane", "spec": map[string]any{}, "status": map[string]any{}}}
	if version != "" {
		u.Object["spec"] = map[string]any{"version": version}
	}
	if inUse != "" {
		u.Object["status"] = map[string]any{"version": inUse}
	}
	return &external.Object{Unstructured: u, Contract: "v1beta2"}
}

// Conformance: MS-07, MS-60, MS-61
func TestStatus(t *testing.T) {
	notReady := func(m *clusterv1.Machine) {
		conditions.Set(m, condition(clusterv1.ReadyCondition, metav1.ConditionFalse, "NotReady", "waiting for rain"))
		conditions.Set(m, condition(clusterv1.AvailableCondition, metav1.ConditionFalse, "NotReady", ""))
	}
	old := func(m *clusterv1.Machine) { m.Status.NodeInfo.KubeletVersion = "v1.36.0" }
	d := Decide(world(3, machine("a", old), machine("b", notReady)))
	s := d.Set.Status
	assert.Equal(t, []int32{2, 1, 1, 2}, []int32{*s.Replicas, *s.ReadyReplicas, *s.AvailableReplicas, *s.UpToDateReplicas})
	assert.Equal(t, []clusterv1.StatusVersion{{Version: "v1.36.0", Replicas: 1}, {Version: "v1.37.2", Replicas: 1}}, s.Versions)
	assert.Equal(t, "set=ms", s.Selector)
	assert.Equal(t, int64(3), s.ObservedGeneration)
	assert.Equal(t, "Scaling up from 2 to 3 replicas", conditions.Message(d.Set, clusterv1.ScalingUpCondition))
	assert.Contains(t, conditions.Message(d.Set, clusterv1.MachinesReadyCondition), "waiting for rain")
	for _, c := range []string{clusterv1.ScalingDownCondition, clusterv1.RemediatingCondition, clusterv1.DeletingCondition, clusterv1.PausedCondition} {
		assert.True(t, conditions.IsFalse(d.Set, c), c)
	}
	again := world(3, machine("a", old), machine("b", notReady))
	again.Set = d.Set
	assert.Equal(t, d.Set, Decide(again).Set, "nothing to write the second time")

	w := world(3)
	w.Unseen = true
	assert.Zero(t, Decide(w).Set.Status.ObservedGeneration, "what is not counted yet is not observed")
}

// Conformance: MS-62
func TestMachinesThatLeaveSlowly(t *testing.T) {
	going := func(since, drain time.Duration) machineOption {
		return func(m *clusterv1.Machine) {
			m.DeletionTimestamp = &metav1.Time{Time: epoch.Add(-since)}
			if drain > 0 {
				m.Status.Deletion = &clusterv1.MachineDeletionStatus{NodeDrainStartTime: metav1.NewTime(epoch.Add(-drain))}
				conditions.Set(m, condition(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.MachineDeletingDrainingNodeReason, "Pods not evicted:\n* web by budget web"))
			}
		}
	}
	for _, tc := range []struct {
		name    string
		machine machineOption
		message string
		after   time.Duration
	}{
		{"just now", going(time.Minute, 0), "Scaling down from 2 to 1 replicas", 14 * time.Minute},
		{"for long", going(16*time.Minute, 0), "Scaling down from 2 to 1 replicas\n* Machines in deletion since more than 15m: b", 0},
		{"at that moment", going(15*time.Minute, 0), "Scaling down from 2 to 1 replicas\n* Machines in deletion since more than 15m: b", 0},
		{"a drain that has just begun", going(4*time.Minute, 3*time.Minute), "Scaling down from 2 to 1 replicas", 2 * time.Minute},
		{"a slow drain", going(7*time.Minute, 6*time.Minute),
			"Scaling down from 2 to 1 replicas\n* Machine b is being drained since more than 5m: Pods not evicted: * web by budget web", 8 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Decide(world(1, machine("a"), machine("b", tc.machine)))
			assert.Equal(t, tc.message, conditions.Message(d.Set, clusterv1.ScalingDownCondition))
			assert.Equal(t, tc.after, d.After)
		})
	}
}

func ptr[T any](v T) *T { return &v }
