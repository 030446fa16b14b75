package machinedeployment

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/contract/paused"
)

func want(s *clusterv1.MachineSet) int32 { return number(s.Spec.Replicas) }

func have(s *clusterv1.MachineSet) int32 { return number(s.Status.Replicas) }

func available(s *clusterv1.MachineSet) int32 { return number(s.Status.AvailableReplicas) }

func number(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// CountMachines replaces the counters of the sets by what the Machines say, which is never older.
func (w *World) CountMachines() {
	for _, s := range w.Sets {
		var all, ready int32
		for _, m := range w.Machines {
			if !metav1.IsControlledBy(m, s) {
				continue
			}
			all++
			if conditions.IsTrue(m, clusterv1.AvailableCondition) && !inplace.Updating(m) {
				ready++
			}
		}
		if s.Status.Replicas != nil || all > 0 {
			all = max(all, have(s))
			s.Status.Replicas, s.Status.AvailableReplicas = &all, &ready
		}
	}
}

// acknowledged says that every set has acted on what was last decided about it. Until then it may still create Machines
// for an earlier, larger number, so none may be added elsewhere.
func acknowledged(sets []*clusterv1.MachineSet) bool {
	for _, s := range sets {
		if s.Status.ObservedGeneration < s.Generation && !paused.HasAnnotation(s) {
			return false
		}
	}
	return true
}

// surge is how many Machines may exist above the wanted number; percentages round up.
func surge(w World) int32 {
	if w.Deployment.Spec.Rollout.Strategy.Type == clusterv1.OnDeleteMachineDeploymentStrategyType {
		return 0
	}
	s, _ := fences(w)
	return s
}

// fences are surge and the number of Machines that may be unavailable; percentages of the latter round down. Both zero
// would let nothing move, so one may be unavailable then.
func fences(w World) (maxSurge, maxUnavailable int32) {
	r := w.Deployment.Spec.Rollout.Strategy.RollingUpdate
	s := scaled(r.MaxSurge, intstr.FromInt32(1), w.wanted(), true)
	u := scaled(r.MaxUnavailable, intstr.FromInt32(0), w.wanted(), false)
	if s == 0 && u == 0 {
		u = 1
	}
	return s, min(u, w.wanted())
}

func scaled(v *intstr.IntOrString, fallback intstr.IntOrString, of int32, up bool) int32 {
	if v == nil {
		v = &fallback
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(v, int(of), up)
	if err != nil || n < 0 {
		return 0
	}
	return int32(min(n, math.MaxInt32-int(of))) // no sum of both may overflow
}

// numbers is how many replicas each set should have.
type numbers struct {
	of map[*clusterv1.MachineSet]int32
	// moves are the sets that hand over what they have too many.
	moves map[*clusterv1.MachineSet]bool
	// later says that a change of the wanted number has to wait.
	later bool
}

// replicas decides how many replicas each set should have.
func replicas(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) numbers {
	plan, out := map[*clusterv1.MachineSet]int32{}, numbers{}
	for _, s := range sets {
		plan[s] = want(s)
		if !s.DeletionTimestamp.IsZero() {
			plan[s] = 0 // all its Machines leave
		}
	}
	switch {
	case isTrue(w.Deployment.Spec.Paused) || current == nil:
		out.later = proportional(w, current, sets, plan)
	case w.Deployment.Spec.Rollout.Strategy.Type == clusterv1.OnDeleteMachineDeploymentStrategyType:
		onDelete(w, current, sets, plan)
	default:
		plan[current] = replicasOfNew(w, current, sets)
		out.moves = shrinkOld(w, current, sets, plan)
	}
	out.of = plan
	return out
}

// replicasOfNew grows the new set as far as the total may go, counting for each set what it wants or what it still has,
// whichever is more; a set that is too large shrinks at once.
func replicasOfNew(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) int32 {
	var total, own int32
	for _, s := range sets {
		total += max(want(s), have(s))
	}
	if current != nil {
		own = want(current)
	}
	if own >= w.wanted() {
		return w.wanted()
	}
	if !acknowledged(sets) {
		return own
	}
	if w.Deployment.Spec.Rollout.Strategy.Type == clusterv1.OnDeleteMachineDeploymentStrategyType {
		return min(w.wanted(), own+max(0, w.wanted()-total))
	}
	more := min(w.wanted()-underway(w, current, sets)-own, w.wanted()+room(w, current, sets)-total)
	return own + max(0, more)
}

// shrinkOld takes replicas from old sets, no more than the budget allows: what all sets want, less what they are still
// getting rid of, less what must stay available, less what is new and not available yet (BC-05). Machines that are not
// available go first, since nobody misses them, but within the same budget. That leaves no standstill: once all new ones
// are available, either there is room for another one or the budget covers a broken old one. A Machine that is handed over
// to be updated in place is not available for a while, so the budget is the same. It says which sets hand over.
func shrinkOld(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet, plan map[*clusterv1.MachineSet]int32) (moves map[*clusterv1.MachineSet]bool) {
	old, quota := oldestFirst(current, sets), newQuota(w, current, sets, plan)
	_, unavailable := fences(w)
	var total, leaving int32
	for _, s := range sets {
		total += plan[s]
		if s.DeletionTimestamp.IsZero() {
			leaving += max(0, have(s)-want(s))
		}
	}
	missing := max(0, plan[current]-available(current))
	budget := total - leaving - (w.wanted() - unavailable) - missing
	for _, s := range old {
		if n := quota.take(s, min(budget, unavailableOf(w, s, plan[s]))); n > 0 {
			plan[s] -= n
			budget -= n
		}
	}
	var up int32
	for _, s := range sets {
		up += min(available(s), plan[s])
	}
	budget = min(budget, up-(w.wanted()-unavailable))
	for _, s := range old {
		if n := quota.take(s, min(budget, plan[s])); n > 0 {
			plan[s] -= n
			budget -= n
		}
	}
	return quota.moves
}

// onDelete lets old sets shrink only as the user deletes their Machines, or when fewer are wanted; the new one fills
// the total up, by what has just been decided about the old ones and not by what they were.
func onDelete(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet, plan map[*clusterv1.MachineSet]int32) {
	old := oldestFirst(current, sets)
	var total int32
	for _, s := range old {
		if s.Status.Replicas != nil && have(s) < plan[s] {
			plan[s] = have(s)
		}
		total += plan[s]
	}
	surplus := total + min(plan[current], w.wanted()) - w.wanted()
	for _, s := range old {
		if n := min(surplus, plan[s]); n > 0 {
			plan[s] -= n
			surplus -= n
			total -= n
		}
	}
	goal := max(0, w.wanted()-total)
	if goal > want(current) {
		// What old sets are still losing takes room until it is gone.
		exist := max(want(current), have(current))
		for _, s := range old {
			exist += max(plan[s], have(s))
		}
		room := max(0, w.wanted()-exist)
		if !acknowledged(sets) {
			room = 0
		}
		goal = min(goal, want(current)+room)
	}
	plan[current] = goal
}

// proportional spreads a change of the wanted number over all sets of a paused deployment, in proportion to their size;
// what rounding leaves goes to the largest. Without such a change nothing moves: a pause in the middle of a rollout
// keeps its surge. Growth waits until nothing of an earlier number is left, and says so.
func proportional(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet, plan map[*clusterv1.MachineSet]int32) (later bool) {
	list, changed := largestFirst(w, sets)
	if !changed || len(list) == 0 {
		return false
	}
	var total int32
	active := 0
	for _, s := range list {
		total += want(s)
		active += int(min(1, want(s)))
	}
	allowed := w.wanted()
	if active > 1 && allowed > 0 {
		allowed += surge(w)
	}
	switch {
	case allowed > total && !(acknowledged(sets) && nothingLeaves(sets)):
		return true
	case total > 0:
		spread(list, allowed, total, plan)
	case current != nil:
		plan[current] = allowed
	default:
		plan[latest(list)] = allowed
	}
	return false
}

func spread(list []*clusterv1.MachineSet, allowed, total int32, plan map[*clusterv1.MachineSet]int32) {
	left := allowed - total
	for _, s := range list {
		share := int32(int64(allowed-total) * int64(want(s)) / int64(total))
		left -= share
		plan[s] += share
	}
	for _, s := range list {
		n := max(left, -plan[s])
		left -= n
		plan[s] += n
	}
}

// largestFirst lists the sets over which a change is spread, and whether any of them does not know the wanted number yet.
func largestFirst(w World, sets []*clusterv1.MachineSet) (list []*clusterv1.MachineSet, changed bool) {
	for _, s := range sets {
		if s.DeletionTimestamp.IsZero() {
			list = append(list, s)
			changed = changed || s.Annotations[clusterv1.DesiredReplicasAnnotation] != strconv.Itoa(int(w.wanted()))
		}
	}
	slices.SortFunc(list, func(a, b *clusterv1.MachineSet) int {
		return cmp.Or(cmp.Compare(want(b), want(a)), strings.Compare(a.Name, b.Name))
	})
	return list, changed
}

// nothingLeaves says that no set has more Machines than it wants.
func nothingLeaves(sets []*clusterv1.MachineSet) bool {
	return !slices.ContainsFunc(sets, func(s *clusterv1.MachineSet) bool {
		return have(s) > want(s) || !s.DeletionTimestamp.IsZero() && have(s) > 0
	})
}

func oldestFirst(current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) []*clusterv1.MachineSet {
	var out []*clusterv1.MachineSet
	for _, s := range sets {
		if s != current && s.DeletionTimestamp.IsZero() {
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if !out[i].CreationTimestamp.Equal(&out[j].CreationTimestamp) {
			return out[i].CreationTimestamp.Before(&out[j].CreationTimestamp)
		}
		return out[i].Name < out[j].Name
	})
	return out
}
