package machinedeployment

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/inplace"
)

func policy(p inplace.Policy) worldOption {
	return func(w *World) { setAnnotation(w.Deployment, clusterv1.InPlaceUpdatesAnnotation, string(p)) }
}

// answered says what extensions answer about the old set.
func answered(a inplace.Answer) worldOption {
	return func(w *World) { w.InPlace = map[types.UID]inplace.Answer{"old-uid": a} }
}

var covered = answered(inplace.Answer{})

// arrived is a Machine that the old set has handed over to the new one.
func arrived(name string) worldOption {
	return func(w *World) {
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), OwnerReferences: []metav1.OwnerReference{{Kind: "MachineSet", Name: "new", UID: "new-uid", Controller: ptr(true)}}}}
		inplace.HandOver(m)
		w.Machines = append(w.Machines, m)
	}
}

// annotatedSet finds what a decision wants a set to say.
func annotatedSet(d Decision, name string) map[string]string {
	for _, a := range d.Actions {
		if u, ok := a.(Update); ok && u.Set.Name == name {
			out := map[string]string{}
			for _, key := range []string{clusterv1.MachineSetMoveMachinesToMachineSetAnnotation, clusterv1.MachineSetReceiveMachinesFromMachineSetsAnnotation, clusterv1.AcknowledgedMoveAnnotation} {
				if value, there := u.Wanted.Annotations[key]; there {
					out[key] = value
				}
			}
			return out
		}
	}
	return nil
}

// TestUpdateInPlaceOrNot: what becomes of three Machines of an earlier template.
//
// Conformance: MD-26
func TestUpdateInPlaceOrNot(t *testing.T) {
	size := inplace.Answer{Uncovered: []string{"FakeMachineTemplate spec.template.spec.size"}}
	for _, c := range []struct {
		name  string
		opts  []worldOption
		want  map[string]int32
		moves bool
		kept  string
	}{
		{"nobody to ask", []worldOption{fencesOf("1", "0")}, map[string]int32{"new": 1}, false, ""},
		{"not covered", []worldOption{fencesOf("1", "1"), answered(size)}, map[string]int32{"new": 1, "old": 2}, false, ""},
		{"covered, one may be missing", []worldOption{fencesOf("1", "1"), covered}, map[string]int32{"old": 2}, true, ""},
		{"covered, two may be missing", []worldOption{fencesOf("0", "2"), covered}, map[string]int32{"old": 1}, true, ""},
		{"covered, none may be missing", []worldOption{fencesOf("3", "0"), covered}, map[string]int32{"new": 1}, false, ""},
		{"covered, but never", []worldOption{fencesOf("1", "1"), covered, policy(inplace.Never)}, map[string]int32{"new": 1, "old": 2}, false, ""},
		{"covered, but to be rolled out by time", []worldOption{fencesOf("0", "1"), covered, rolloutAfter(epoch.Add(-time.Hour))}, map[string]int32{"old": 2}, false, ""},
		{"required and covered", []worldOption{fencesOf("1", "1"), covered, policy(inplace.Require)}, map[string]int32{"old": 2}, true, ""},
		{"required, not covered", []worldOption{fencesOf("1", "1"), answered(size), policy(inplace.Require)}, map[string]int32{}, false,
			"Machines of MachineSet old stay: no extension changes these fields in place: FakeMachineTemplate spec.template.spec.size"},
		{"required, and nobody to ask", []worldOption{fencesOf("1", "1"), policy(inplace.Require)}, map[string]int32{}, false,
			"Machines of MachineSet old stay: no extension changes these fields in place: spec.template.spec.infrastructureRef"},
		{"required, and none may be missing", []worldOption{fencesOf("1", "0"), covered, policy(inplace.Require)}, map[string]int32{}, false,
			"Machines of MachineSet old stay: a Machine is unavailable while it is updated in place, and spec.rollout.strategy.rollingUpdate.maxUnavailable is 0"},
		{"the extension does not answer", []worldOption{fencesOf("1", "1"), answered(inplace.Answer{Err: errors.New("it sleeps")})}, map[string]int32{}, false,
			"Machines of MachineSet old stay: it is not known what can be updated in place: it sleeps"},
		{"kept, but fewer are wanted", []worldOption{fencesOf("1", "0"), answered(size), policy(inplace.Require), desired(2)}, map[string]int32{"old": 2}, false, "size"},
		{"kept, but more are wanted", []worldOption{fencesOf("1", "0"), answered(size), policy(inplace.Require), desired(5)}, map[string]int32{"new": 2}, false, "size"},
		{"by deletion, whatever the policy", []worldOption{covered, policy(inplace.Require), onDeleteStrategy}, map[string]int32{}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := rollout(append([]worldOption{oldSet(3, 3, 3), newestSet(0, 0, 0)}, c.opts...)...)
			if !w.Deployment.Spec.Rollout.After.IsZero() {
				w.Sets[1].CreationTimestamp = metav1.NewTime(epoch)
			}
			d := Decide(w)
			assert.Equal(t, c.want, scaledTo(w, d))
			assert.Equal(t, c.moves, annotatedSet(d, "old")[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation] == "new")
			assert.Equal(t, c.moves, annotatedSet(d, "new")[clusterv1.MachineSetReceiveMachinesFromMachineSetsAnnotation] == "old")
			if c.kept == "" {
				assert.Empty(t, d.Kept)
			} else {
				require.Len(t, d.Kept, 1)
				assert.Contains(t, d.Kept[0], c.kept)
				assert.Positive(t, d.After)
			}
		})
	}
}

// TestKeptIsTold: who requires updates in place reads which fields are in the way.
//
// Conformance: MD-26
func TestKeptIsTold(t *testing.T) {
	w := rollout(oldSet(3, 3, 3), fencesOf("1", "1"), answered(inplace.Answer{Uncovered: []string{"MachineSet spec.template.spec.version"}}), policy(inplace.Require))
	m := &clusterv1.Machine{}
	conditions.Set(m, condition(clusterv1.MachineUpToDateCondition, metav1.ConditionFalse, clusterv1.MachineNotUpToDateReason, "* Version v1, v2 required"))
	w.Machines = []*clusterv1.Machine{m}
	d := Decide(w)
	assert.Equal(t, "Rolling out 1 not up-to-date replicas\n* Version v1, v2 required\n* Machines of MachineSet old stay: no extension changes these fields in place: MachineSet spec.template.spec.version",
		conditions.Message(d.Deployment, clusterv1.RollingOutCondition))
	assert.Equal(t, map[string]int32{"+": 0}, scaledTo(w, d), "the new set is there, and empty")
}

// TestArrivalsAreCounted: one write counts a Machine and says so, and nothing else is decided before.
//
// Conformance: MD-26, MS-64
func TestArrivalsAreCounted(t *testing.T) {
	w := rollout(oldSet(2, 2, 2), newestSet(0, 0, 0), fencesOf("1", "1"), covered, arrived("m-2"), arrived("m-1"))
	w.CountMachines()
	d := Decide(w)
	assert.Equal(t, map[string]int32{"new": 2}, scaledTo(w, d))
	assert.Equal(t, "m-1,m-2", annotatedSet(d, "new")[clusterv1.AcknowledgedMoveAnnotation])

	w.Sets[1].Annotations[clusterv1.AcknowledgedMoveAnnotation] = "m-1,m-2"
	w.Sets[1].Spec.Replicas = ptr(int32(2))
	d = Decide(w)
	assert.Empty(t, scaledTo(w, d), "counted once")
	for _, m := range w.Machines {
		inplace.Begin(m)
	}
	d = Decide(w)
	assert.Empty(t, annotatedSet(d, "new")[clusterv1.AcknowledgedMoveAnnotation], "who has begun is no longer listed")
	assert.Empty(t, scaledTo(w, d), "two are not available")
}

// TestHandsOverUntilDone: what a set has begun to hand over goes on, also while nothing else moves.
//
// Conformance: MD-26
func TestHandsOverUntilDone(t *testing.T) {
	for _, opt := range []worldOption{func(*World) {}, pausedRollout, policy(inplace.Never), onDeleteStrategy, answered(inplace.Answer{Err: errors.New("gone")})} {
		w := rollout(oldSet(2, 3, 3), newestSet(0, 0, 0), fencesOf("0", "1"), covered, opt)
		w.Sets[0].Annotations[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation] = "new"
		w.Sets[1].Annotations[clusterv1.DesiredReplicasAnnotation], w.Sets[0].Annotations[clusterv1.DesiredReplicasAnnotation] = "3", "3"
		for i := range 3 {
			w.Machines = append(w.Machines, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), OwnerReferences: []metav1.OwnerReference{{UID: "old-uid", Controller: ptr(true)}}}})
		}
		d := Decide(w)
		assert.Equal(t, "old", annotatedSet(d, "new")[clusterv1.MachineSetReceiveMachinesFromMachineSetsAnnotation])
		assert.NotContains(t, scaledTo(w, d), "new", "no Machine is made for the one that comes")
		if got := annotatedSet(d, "old"); got != nil {
			assert.Equal(t, "new", got[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation])
		}
	}
	idle := rollout(oldSet(0, 0, 0), newestSet(3, 3, 3), covered)
	idle.Sets[0].Annotations[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation] = "new"
	assert.Empty(t, annotatedSet(Decide(idle), "old"), "done")
}

// able lets the extension of a fleet cover changes between the templates a and b, and every Machine made from c.
func (f *fleet) able() {
	f.answer = func(from, to string) inplace.Answer {
		if slices.Contains([]string{from, to}, "broken") || to == "c" {
			return inplace.Answer{Uncovered: []string{"size"}}
		}
		return inplace.Answer{}
	}
}

// TestUpdatesInPlaceHistories: whatever happens in between, there are never more Machines than replicas and surge, no
// Machine goes into an update or away that is still needed, none is lost between two sets, and in the end all are as wanted.
//
// Conformance: MD-26, MD-50, MS-64
func TestUpdatesInPlaceHistories(t *testing.T) {
	for seed := range uint64(240) {
		rule := rules[seed%uint64(len(rules))]
		t.Run(fmt.Sprintf("surge %s unavailable %s seed %d", rule[0], rule[1], seed), func(t *testing.T) {
			f := newFleet(t, seed, fencesOf(rule[0], rule[1]), desired(int32(seed%5)))
			f.able()
			f.killed = int(seed % 3 * 25)
			for range 300 {
				f.step(2, f.edit)
			}
			f.useTemplate("b")
			f.killed = 0
			f.rest()
			f.complete()
		})
	}
}

// TestRequiredUpdatesReplaceNobody: with the policy Require every Machine survives every change of the template.
//
// Conformance: MD-26
func TestRequiredUpdatesReplaceNobody(t *testing.T) {
	for seed := range uint64(120) {
		f := newFleet(t, seed, fencesOf("1", []string{"1", "50%", "2"}[seed%3]), desired(4), policy(inplace.Require))
		f.able()
		f.killed = int(seed % 2 * 40)
		f.world.Deployment.Spec.Template.Spec = template("a")
		f.rest()
		before := f.names()
		require.Len(t, before, 4)
		for range 400 {
			f.step(2, func() { f.useTemplate([]string{"a", "b", "c"}[f.rng.IntN(3)]) })
		}
		f.killed = 0
		f.useTemplate("a")
		f.rest()
		f.complete()
		require.Equal(t, before, f.names(), "%v", f.log)
	}
}

func (f *fleet) names() []string {
	var out []string
	for _, m := range f.machines {
		out = append(out, m.Name)
	}
	slices.Sort(out)
	return out
}
