package machinedeployment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
)

// fleet plays a deployment, its sets and their Machines in memory, one random step after another. The decisions are the
// real ones of both controllers; every status is as old as the last reconcile that wrote it.
type fleet struct {
	*testing.T
	rng      *rand.Rand
	now      time.Time
	world    World
	machines []*clusterv1.Machine
	serial   int
	decided  time.Time
	// ceiling and floor are the limits of the number of Machines and of available ones; an edit of the user moves them at
	// once only in the lenient direction, and for good when all that was decided before has happened.
	ceiling, floor int
	// killed is the chance in a hundred that a reconcile ends between two of its writes.
	killed int
	log    []string
	// answer is what extensions say about a change of one template to another; nil if there is none.
	answer func(from, to string) inplace.Answer
}

func newFleet(t *testing.T, seed uint64, opts ...worldOption) *fleet {
	f := &fleet{T: t, rng: rand.New(rand.NewPCG(seed, 1)), now: epoch, world: rollout(opts...)}
	f.ceiling, f.floor = f.limits()
	return f
}

func (f *fleet) limits() (ceiling, floor int) {
	s, u := fences(f.world)
	if f.world.Deployment.Spec.Rollout.Strategy.Type == clusterv1.OnDeleteMachineDeploymentStrategyType {
		return int(f.world.wanted()), 0
	}
	return int(f.world.wanted() + s), int(f.world.wanted() - u)
}

func (f *fleet) note(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *fleet) name(prefix string) string {
	f.serial++
	return fmt.Sprintf("%s-%04d", prefix, f.serial)
}

// reconcileDeployment runs the decision about the deployment.
func (f *fleet) reconcileDeployment() {
	w := f.world
	w.Now, w.Machines, w.Suffix = f.now, f.machines, fmt.Sprintf("%05d", f.serial)
	f.serial++
	w.Sets = nil
	for _, s := range f.world.Sets {
		w.Sets = append(w.Sets, s.DeepCopy())
	}
	w.CountMachines()
	if f.answer != nil {
		w.InPlace = map[types.UID]inplace.Answer{}
		for _, s := range w.Sets {
			if from, to := s.Spec.Template.Spec.InfrastructureRef.Name, w.Deployment.Spec.Template.Spec.InfrastructureRef.Name; from != to {
				w.InPlace[s.UID] = f.answer(from, to)
			}
		}
	}
	f.decided = f.now
	d := Decide(w)
	lives := f.lives(len(d.Actions))
	if lives == len(d.Actions) {
		f.world.Deployment = d.Deployment
	}
	for _, a := range d.Actions[:lives] {
		switch a := a.(type) {
		case Create:
			s := a.Set
			s.Generation = 1
			s.UID, s.CreationTimestamp = types.UID(s.Name), metav1.NewTime(f.now.Truncate(time.Second))
			f.world.Sets = append(f.world.Sets, s)
			f.note("set %s %s created with %d", s.Name, s.Spec.Template.Spec.InfrastructureRef.Name, want(s))
		case Update:
			s := f.set(a.Set.UID)
			if want(s) != want(a.Wanted) {
				f.note("set %s from %d to %d", s.Name, want(s), want(a.Wanted))
			}
			if !equality.Semantic.DeepEqual(s.Spec, a.Wanted.Spec) {
				s.Generation++
			}
			s.Spec, s.Labels, s.Annotations = a.Wanted.Spec, a.Wanted.Labels, a.Wanted.Annotations
		case Delete:
			f.note("set %s deleted", a.Set.Name)
			require.Empty(f, f.of(a.Set.UID), "a set with Machines is deleted: %v", f.log)
			f.world.Sets = slices.DeleteFunc(f.world.Sets, func(s *clusterv1.MachineSet) bool { return s.UID == a.Set.UID })
		}
	}
}

// lives is how many of some actions happen before the program ends; if it is all of them the own object is written too.
func (f *fleet) lives(actions int) int {
	if actions == 0 || f.rng.IntN(100) >= f.killed {
		return actions
	}
	f.note("killed")
	return f.rng.IntN(actions)
}

func (f *fleet) set(uid types.UID) *clusterv1.MachineSet {
	for _, s := range f.world.Sets {
		if s.UID == uid {
			return s
		}
	}
	f.Fatalf("no set %s", uid)
	return nil
}

func (f *fleet) of(set types.UID) []*clusterv1.Machine {
	var out []*clusterv1.Machine
	for _, m := range f.machines {
		if metav1.GetControllerOf(m).UID == set {
			out = append(out, m)
		}
	}
	return out
}

// reconcileSet runs the decision about one set.
func (f *fleet) reconcileSet(s *clusterv1.MachineSet) {
	w := machineset.World{Now: f.now, Set: s, Cluster: f.world.Cluster, Machines: f.of(s.UID),
		Infrastructure: machineset.Template{Object: &external.Object{Unstructured: &unstructured.Unstructured{Object: map[string]any{}}}}}
	w.Objects = map[string][]*unstructured.Unstructured{}
	if to := s.Annotations[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation]; to != "" {
		if i := slices.IndexFunc(f.world.Sets, func(o *clusterv1.MachineSet) bool { return o.Name == to }); i >= 0 {
			w.Receiver = f.world.Sets[i]
		}
	}
	f.objects(&w)
	for range 20 {
		w.Suffixes = append(w.Suffixes, f.name("m"))
	}
	d := machineset.Decide(w)
	require.NoError(f, d.Err)
	lives := f.lives(len(d.Actions))
	if lives == len(d.Actions) {
		s.Status = d.Set.Status
	}
	for _, a := range d.Actions[:lives] {
		switch a := a.(type) {
		case machineset.Create:
			m := a.Machine
			m.UID, m.CreationTimestamp = types.UID(m.Name), metav1.NewTime(f.now)
			f.machines = append(f.machines, m)
			f.note("%s created in %s", m.Name, s.Name)
			require.LessOrEqual(f, len(f.machines), f.ceiling, "too many Machines: %v", f.log)
		case machineset.Delete:
			// One that became available only after the decision to do without it does not count.
			c := conditions.Get(a.Machine, clusterv1.AvailableCondition)
			known := c != nil && c.Status == metav1.ConditionTrue && c.LastTransitionTime.Time.Before(f.decided)
			f.leave(a.Machine)
			if known {
				require.GreaterOrEqual(f, f.available(), f.floor, "too few available Machines: %v", f.log)
			}
		case machineset.Move:
			f.move(a)
		case machineset.Start:
			*a.Machine = *a.Wanted
			a.Machine.Spec.InfrastructureRef.Name = s.Spec.Template.Spec.InfrastructureRef.Name
			f.note("%s begins to become %s", a.Machine.Name, a.Machine.Spec.InfrastructureRef.Name)
		}
	}
}

// move hands a Machine over, which is not available from then on.
func (f *fleet) move(a machineset.Move) {
	c := conditions.Get(a.Machine, clusterv1.AvailableCondition)
	known := c != nil && c.Status == metav1.ConditionTrue && !inplace.Updating(a.Machine) && c.LastTransitionTime.Time.Before(f.decided)
	a.Machine.OwnerReferences = []metav1.OwnerReference{{Kind: "MachineSet", Name: a.To.Name, UID: a.To.UID, Controller: ptr(true)}}
	inplace.HandOver(a.Machine)
	f.note("%s is handed to %s", a.Machine.Name, a.To.Name)
	if known {
		require.GreaterOrEqual(f, f.available(), f.floor, "too few available Machines: %v", f.log)
	}
}

// objects are the infrastructure machines of the Machines that a set is going to update.
func (f *fleet) objects(w *machineset.World) {
	template := &unstructured.Unstructured{Object: map[string]any{}}
	template.SetKind("FakeMachineTemplate")
	template.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1")
	w.Infrastructure.Object = &external.Object{Unstructured: template}
	for _, m := range w.Machines {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetKind(m.Spec.InfrastructureRef.Kind)
		o.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1")
		o.SetName(m.Spec.InfrastructureRef.Name)
		if inplace.Arriving(m) {
			w.Objects[m.Name] = append(w.Objects[m.Name], o)
		}
	}
}

func (f *fleet) leave(m *clusterv1.Machine) {
	m.DeletionTimestamp = &metav1.Time{Time: f.now}
	f.note("%s leaves (available %t)", m.Name, conditions.IsTrue(m, clusterv1.AvailableCondition))
	f.report(m, metav1.ConditionFalse)
}

func (f *fleet) report(m *clusterv1.Machine, status metav1.ConditionStatus) {
	for _, t := range []string{clusterv1.ReadyCondition, clusterv1.AvailableCondition, clusterv1.MachineNodeHealthyCondition} {
		c := condition(t, status, "Test", "")
		c.LastTransitionTime = metav1.NewTime(f.now)
		conditions.Set(m, c)
	}
}

func (f *fleet) available() int {
	n := 0
	for _, m := range f.machines {
		if conditions.IsTrue(m, clusterv1.AvailableCondition) && !inplace.Updating(m) {
			n++
		}
	}
	return n
}

// advance lets one random Machine do what Machines do: become available, or be gone. Those of the template "broken"
// never become available.
func (f *fleet) advance() {
	if len(f.machines) == 0 {
		return
	}
	i := f.rng.IntN(len(f.machines))
	m := f.machines[i]
	switch {
	case !m.DeletionTimestamp.IsZero():
		f.machines = slices.Delete(f.machines, i, i+1)
		f.note("%s is gone", m.Name)
	case inplace.Pending(m) && !inplace.Arriving(m) && m.Spec.InfrastructureRef.Name != "broken":
		inplace.Unmark(m)
		inplace.End(m)
		f.report(m, metav1.ConditionTrue)
		f.note("%s is updated", m.Name)
	case inplace.Updating(m) && conditions.IsTrue(m, clusterv1.AvailableCondition):
		f.report(m, metav1.ConditionFalse)
	case !inplace.Updating(m) && m.Spec.InfrastructureRef.Name != "broken" && !conditions.IsTrue(m, clusterv1.AvailableCondition):
		m.Status.NodeRef.Name = m.Name
		f.report(m, metav1.ConditionTrue)
		f.note("%s is available", m.Name)
	}
}

// step does one random thing; how much the user interferes is a chance in a hundred.
func (f *fleet) step(edits int, edit func()) {
	f.now = f.now.Add(time.Duration(1+f.rng.IntN(2)) * time.Second)
	switch n := f.rng.IntN(100); {
	case n < edits:
		edit()
		c, fl := f.limits()
		f.ceiling, f.floor = max(f.ceiling, c), min(f.floor, fl)
	case n < 35:
		f.reconcileDeployment()
	case n < 65 && len(f.world.Sets) > 0:
		f.reconcileSet(f.world.Sets[f.rng.IntN(len(f.world.Sets))])
	default:
		f.advance()
	}
	if f.settled() {
		f.ceiling, f.floor = f.limits()
	}
}

// settled says that nothing is left of earlier decisions, so that only the present limits count.
func (f *fleet) settled() bool {
	total := 0
	for _, s := range f.world.Sets {
		n := len(f.of(s.UID))
		if n != int(want(s)) || n != int(have(s)) {
			return false
		}
		total += n
	}
	c, fl := f.limits()
	return total <= c && f.available() >= fl
}

// rest runs everything until nothing changes any more.
func (f *fleet) rest() {
	for range 60 {
		f.now = f.now.Add(time.Second)
		f.reconcileDeployment()
		for _, s := range f.world.Sets {
			f.reconcileSet(s)
		}
		for range 4 * len(f.machines) {
			f.advance()
		}
		if f.settled() {
			f.ceiling, f.floor = f.limits()
			if f.done() {
				return
			}
		}
	}
}

// done says that nothing is left to do at all.
func (f *fleet) done() bool {
	status := f.world.Deployment.Status
	return f.current() != nil && f.available() == int(f.world.wanted()) && len(f.machines) == f.available() &&
		number(status.AvailableReplicas) == f.world.wanted() && status.Phase == clusterv1.MachineDeploymentPhaseRunning
}

// current is the set that is left at the end, besides an empty one with the last other template; nil before.
func (f *fleet) current() *clusterv1.MachineSet {
	var current, old []*clusterv1.MachineSet
	for _, s := range f.world.Sets {
		if s.Spec.Template.Spec.InfrastructureRef == f.world.Deployment.Spec.Template.Spec.InfrastructureRef {
			current = append(current, s)
		} else {
			old = append(old, s)
		}
	}
	if len(current) != 1 || len(old) > 1 || len(old) == 1 && want(old[0]) > 0 {
		return nil
	}
	return current[0]
}

func (f *fleet) complete() {
	s := f.current()
	require.NotNil(f, s, "%v", f.log)
	require.Equal(f, f.world.Deployment.Annotations[clusterv1.RevisionAnnotation], s.Annotations[clusterv1.RevisionAnnotation])
	require.Len(f, f.machines, int(f.world.wanted()), "%v", f.log)
	require.Equal(f, len(f.machines), f.available(), "%v", f.log)
	require.Equal(f, f.world.wanted(), number(f.world.Deployment.Status.AvailableReplicas))
	require.Equal(f, clusterv1.MachineDeploymentPhaseRunning, f.world.Deployment.Status.Phase)
}

func (f *fleet) useTemplate(name string) {
	f.note("template %s", name)
	f.world.Deployment.Spec.Template.Spec = template(name)
}

func (f *fleet) edit() {
	if f.rng.IntN(2) == 0 {
		f.useTemplate([]string{"a", "b", "c", "broken"}[f.rng.IntN(4)])
		return
	}
	n := int32(f.rng.IntN(7))
	f.note("replicas %d", n)
	f.world.Deployment.Spec.Replicas = &n
}

var rules = [][2]string{{"1", "0"}, {"0", "1"}, {"0", "0"}, {"2", "1"}, {"25%", "25%"}, {"100%", "0"}, {"0", "100%"}, {"3", "3"}}

// TestRollingUpdateHistories: at each step of each history there are no more Machines than replicas + surge, no deletion
// takes an available Machine that is still needed, and in the end everything is of the last template.
//
// Conformance: MD-40, MD-41, MD-42
func TestRollingUpdateHistories(t *testing.T) {
	for seed := range uint64(160) {
		rule := rules[seed%uint64(len(rules))]
		t.Run(fmt.Sprintf("surge %s unavailable %s seed %d", rule[0], rule[1], seed), func(t *testing.T) {
			f := newFleet(t, seed, fencesOf(rule[0], rule[1]), desired(int32(seed%4)))
			for range 250 {
				f.step(2, f.edit)
			}
			f.useTemplate("b")
			f.rest()
			f.complete()
		})
	}
}

// TestKilledBetweenAnyTwoActions: half of all reconciles end somewhere in the middle, and the limits hold as well.
//
// Conformance: MD-50
func TestKilledBetweenAnyTwoActions(t *testing.T) {
	for seed := range uint64(120) {
		rule := rules[seed%uint64(len(rules))]
		t.Run(fmt.Sprintf("surge %s unavailable %s seed %d", rule[0], rule[1], seed), func(t *testing.T) {
			f := newFleet(t, seed, fencesOf(rule[0], rule[1]), desired(int32(2+seed%4)))
			f.killed = 50
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

// TestPausedHistories: whatever is changed during pauses, there are never too many Machines, no set is made, and the
// rollout ends once it may go on.
//
// Conformance: MD-05, MD-51
func TestPausedHistories(t *testing.T) {
	for seed := range uint64(80) {
		rule := rules[seed%uint64(len(rules))]
		t.Run(fmt.Sprintf("surge %s unavailable %s seed %d", rule[0], rule[1], seed), func(t *testing.T) {
			f := newFleet(t, seed, fencesOf(rule[0], rule[1]), desired(4))
			for range 300 {
				sets, paused := len(f.world.Sets), isTrue(f.world.Deployment.Spec.Paused)
				f.step(4, func() {
					if f.rng.IntN(2) == 0 {
						f.edit()
						return
					}
					f.world.Deployment.Spec.Paused = ptr(!isTrue(f.world.Deployment.Spec.Paused))
					f.note("paused %t", *f.world.Deployment.Spec.Paused)
				})
				if paused {
					require.LessOrEqual(t, len(f.world.Sets), sets, "%v", f.log)
				}
				f.floor = 0 // a change of the number during a pause is spread without regard to who is available
			}
			f.world.Deployment.Spec.Paused = nil
			f.useTemplate("b")
			f.rest()
			f.complete()
		})
	}
}

// TestBC05BrokenTemplateStops: a template whose Machines never become available takes no more than the surge, however
// long it is tried, and the way back works.
//
// Conformance: MD-45
func TestBC05BrokenTemplateStops(t *testing.T) {
	for seed := range uint64(64) {
		rule := rules[seed%uint64(len(rules))]
		f := newFleet(t, seed, fencesOf(rule[0], rule[1]))
		f.rest()
		f.useTemplate("broken")
		for range 200 {
			f.step(0, nil)
		}
		_, floor := f.limits()
		require.GreaterOrEqual(t, f.available(), floor, "%v: %v", rule, f.log)
		f.useTemplate("b")
		f.rest()
		f.complete()
	}
}

// TestBrokenNodes: nodes break at random. Limits on availability mean nothing then, but the rest holds.
//
// Conformance: MD-40, MD-42
func TestBrokenNodes(t *testing.T) {
	for seed := range uint64(60) {
		rule := rules[seed%uint64(len(rules))]
		f := newFleet(t, seed, fencesOf(rule[0], rule[1]))
		for range 250 {
			f.step(4, func() {
				if len(f.machines) > 0 && f.rng.IntN(3) > 0 {
					m := f.machines[f.rng.IntN(len(f.machines))]
					f.note("%s breaks", m.Name)
					f.report(m, metav1.ConditionFalse)
				} else {
					f.edit()
				}
			})
			f.floor = 0
		}
		f.useTemplate("c")
		f.floor = 0
		f.rest()
		f.complete()
	}
}

// TestOnDeleteHistories: no Machine goes that the user did not delete, unless fewer are wanted.
//
// Conformance: MD-25, MD-48
func TestOnDeleteHistories(t *testing.T) {
	for seed := range uint64(80) {
		f := newFleet(t, seed, onDeleteStrategy, desired(4))
		f.rest()
		for range 200 {
			f.step(4, func() {
				if len(f.machines) > 0 && f.rng.IntN(2) == 0 {
					f.leave(f.machines[f.rng.IntN(len(f.machines))])
				} else {
					f.edit()
				}
			})
		}
		f.useTemplate("b")
		f.rest()
		require.Len(t, f.machines, int(f.world.wanted()), "%v", f.log)
		for _, m := range slices.Clone(f.machines) {
			if m.Spec.InfrastructureRef.Name != "b" {
				f.leave(m)
				f.rest()
			}
		}
		f.complete()
	}
}
