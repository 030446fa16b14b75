package kubeadmcontrolplane

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
)

type etcdMember = etcd.Member

// faults are what can be the matter with one machine.
var faults = []struct {
	name  string
	apply func(i int) change
}{
	{"well", func(int) change { return func(*World) {} }},
	{"dead", lostNode},
	{"dead and marked", func(i int) change { return both(lostNode(i), sick(i)) }},
	{"marked", func(i int) change { return sick(i) }},
	{"out of space", alarm},
	{"etcd pod failing", func(i int) change { return notReady(i, "etcd") }},
	{"scheduler failing", func(i int) change { return notReady(i, "kube-scheduler") }},
	{"learner", func(i int) change { return func(w *World) { w.Etcd.State.Members[i].Learner = true } }},
	{"joining", joiningWithout},
	{"draining", func(i int) change { return deleting(i, "DrainingNode") }},
	{"drained", func(i int) change { return deleting(i, drained) }},
	{"drained and dead", func(i int) change { return both(lostNode(i), deleting(i, drained)) }},
	{"drained without member", func(i int) change { return both(nameOnly(i), deleting(i, drained)) }},
	{"out of date", func(i int) change { return func(w *World) { w.Machines[i].Spec.Version = "v1.36.0" } }},
}

func both(a, b change) change { return func(w *World) { a(w); b(w) } }

// joiningWithout has no node, and its member has not started either.
func joiningWithout(i int) change {
	return func(w *World) {
		m := w.Machines[i]
		m.Status.NodeRef.Name, m.Node, m.Spec.ProviderID = "", nil, ""
		w.Etcd.State.Members[i].Name = "" // started never, or not known to be its
	}
}

// nameOnly leaves a placeholder that pruned removes, so that indexes stay valid while faults are applied.
func nameOnly(i int) change { return func(w *World) { w.Etcd.State.Members[i].Name = "removed" } }

func pruned(w *World) {
	w.Etcd.State.Members = slices.DeleteFunc(w.Etcd.State.Members, func(m etcdMember) bool { return m.Name == "removed" })
}

// faultyWorld has the given fault at each machine.
func faultyWorld(pattern []int, replicas int32, leader int, changes ...change) World {
	w := world(len(pattern), wanted(replicas), surgeOf(int32(leader%2)))
	for _, m := range w.Machines {
		m.Config = nil // unknown counts as equal; comparing takes most of the time
	}
	for i, f := range pattern {
		faults[f].apply(i)(&w)
	}
	if leader < len(w.Etcd.State.Members) {
		w.Etcd.State.Leader = w.Etcd.State.Members[leader].ID
	}
	pruned(&w)
	for _, apply := range changes {
		apply(&w)
	}
	return w
}

func describe(w World, pattern []int) string {
	text := fmt.Sprintf("%d of %d:", len(pattern), w.replicas())
	for _, f := range pattern {
		text += " " + faults[f].name + ","
	}
	return fmt.Sprintf("%s members %+v, decided %v", text, w.Etcd.State.Members, say(Decide(w).Actions))
}

// must tells what was decided about which world, but only if it was wrong: telling costs more than deciding.
func must(t *testing.T, holds bool, what string, w World, pattern []int) {
	t.Helper()
	if !holds {
		require.Fail(t, what, describe(w, pattern))
	}
}

// Over all small clusters and fault patterns: whatever is removed, a control plane remains that works.
//
// Conformance: CP-56, CP-60, CP-61
func TestEveryRemovalLeavesAWorkingControlPlane(t *testing.T) {
	strays := []change{func(*World) {}, stray(""), stray("gone"), func(w *World) {
		w.Etcd.State.Members = append(w.Etcd.State.Members, etcdMember{ID: 98, Learner: true, Name: "late"})
	}}
	check := func(pattern []int) {
		wanted := []int32{int32(len(pattern)) | 1}
		if len(pattern) != 3 { // three machines have the most patterns by far
			wanted = append(wanted, 1)
		}
		for _, replicas := range wanted {
			for leader := range 2 {
				for _, extra := range strays {
					w := faultyWorld(pattern, replicas, leader, extra)
					requireSafe(t, w, pattern)
				}
			}
		}
	}
	for count := 1; count <= 3; count++ {
		everyPattern(count, check)
	}
	random := rand.New(rand.NewPCG(1, 3))
	for range 300 {
		pattern := make([]int, 4+random.IntN(4))
		for i := range pattern {
			if random.IntN(3) == 0 { // most machines are well
				pattern[i] = random.IntN(len(faults))
			}
		}
		check(pattern)
	}
}

func everyPattern(count int, check func([]int)) {
	pattern := make([]int, count)
	for {
		check(pattern)
		i := 0
		for ; i < count; i++ {
			if pattern[i]++; pattern[i] < len(faults) {
				break
			}
			pattern[i] = 0
		}
		if i == count {
			return
		}
	}
}

func requireSafe(t *testing.T, w World, pattern []int) {
	t.Helper()
	changes := 0
	removed := map[string]bool{}
	for _, action := range Decide(w).Actions {
		switch a := action.(type) {
		case RemoveMember:
			changes++
			removed[a.Name] = true
			requireMajority(t, w, a.ID, pattern)
			m := w.machineOnNode(a.Name)
			must(t, m == nil || m.deleting(), "the member of a machine that stays", w, pattern)
			must(t, m != nil || w.provisioning() == 0, "a member that may be joining", w, pattern)
			require.NotContains(t, a.Through, a.Name)
		case ReleaseMachine:
			changes += rank(!removed[a.Machine.nodeName()]) // a removal and its release are one change
			member := w.Etcd.State.Member(a.Machine.nodeName())
			must(t, member == nil || removed[member.Name] || len(w.Machines) == 1, "its member is still there", w, pattern)
			require.True(t, a.Machine.deleting())
		case DeleteMachine:
			changes++
			requireSafeDeletion(t, w, a, pattern)
		case CreateMachine:
			changes++
			must(t, !a.Init, "a second start", w, pattern)
		}
	}
	must(t, changes <= 1, "more than one change", w, pattern)
}

func requireSafeDeletion(t *testing.T, w World, a DeleteMachine, pattern []int) {
	t.Helper()
	must(t, len(w.deletingMachines()) == 0, "one at a time", w, pattern)
	if member := w.Etcd.State.Member(a.Machine.nodeName()); member != nil {
		requireMajority(t, w, member.ID, pattern)
	}
	working := 0
	for _, m := range w.Machines {
		if m.Name != a.Machine.Name && m.Node != nil && nodeLost(m.Node) == "" && podReady(m.Pods["kube-scheduler"]) && m.Pods["kube-scheduler"].Status.Phase == "Running" {
			working++
		}
	}
	must(t, working > 0, "no working machine is left", w, pattern)
}

// requireMajority: without a member most of the other voters really run. A member without machine may or may not run;
// it is unknown and counts as running unless it raises an alarm.
func requireMajority(t *testing.T, w World, without uint64, pattern []int) {
	t.Helper()
	voters, lives := 0, 0
	for _, member := range w.Etcd.State.Members {
		if member.ID == without || member.Learner || member.Name == "" {
			continue
		}
		voters++
		if alive(w, member.Name) || w.machineOnNode(member.Name) == nil && len(member.Alarms) == 0 {
			lives++
		}
	}
	must(t, 2*lives > voters, "no majority is left", w, pattern)
}

// Histories: machines die and are marked while the control plane is scaled, upgraded and remediated, and the manager is
// killed between any two actions. With a minority dead at any time, etcd never loses its quorum and all ends well.
//
// Conformance: CP-72, CP-76
func TestHistoriesEndWell(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 8))
	for history := range 150 {
		w := world([]int{3, 5}[random.IntN(2)])
		made, deaths := 0, 0
		for step := 0; ; step++ {
			require.Less(t, step, 400, "history %d does not end: %v", history, say(Decide(w).Actions))
			pass(&w, time.Minute)
			disturb(&w, random, step, &deaths)
			healthChecks(&w)
			actions := Decide(w).Actions
			survived := len(actions)
			if random.IntN(3) == 0 && len(actions) > 0 {
				survived = random.IntN(len(actions)) // the manager dies in the middle
			}
			for _, action := range actions[:survived] {
				simulate(&w, action, &made)
				require.True(t, hasQuorum(w), "history %d lost quorum at step %d: %v", history, step, say(actions))
			}
			if step > 60 && len(actions) == 0 && len(w.deletingMachines()) == 0 {
				break
			}
		}
		require.Len(t, w.Machines, w.replicas(), "history %d", history)
		require.Empty(t, w.outdatedMachines())
		require.Len(t, w.Etcd.State.Members, w.replicas())
		for _, m := range w.Machines {
			require.True(t, alive(w, m.nodeName()))
		}
	}
}

// disturb does what users and hardware do, in the first part of a history.
func disturb(w *World, random *rand.Rand, step int, deaths *int) {
	if step > 50 {
		return
	}
	dead := 0
	for _, m := range w.Machines {
		dead += rank(!alive(*w, m.nodeName()))
	}
	switch random.IntN(12) {
	case 0: // a machine dies, unless that would be more than etcd can stand
		m := w.Machines[random.IntN(len(w.Machines))]
		if after := dead + len(w.deletingMachines()) + 1; alive(*w, m.nodeName()) && 2*after < len(w.Machines) {
			*deaths++
			kill(w, m)
		}
	case 1:
		replicas := int32([]int{3, 5}[random.IntN(2)])
		w.ControlPlane.Spec.Replicas = &replicas
	case 2:
		w.ControlPlane.Spec.Version = []string{"v1.37.2", "v1.37.3", "v1.38.0"}[random.IntN(3)]
	case 3:
		surgeOf(int32(random.IntN(2)))(w)
	}
}
