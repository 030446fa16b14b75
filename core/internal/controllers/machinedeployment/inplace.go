package machinedeployment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/core/internal/outdated"
)

// askAgain is when extensions are asked again that cannot do what is required: another program may be behind one meanwhile.
const askAgain = 5 * time.Minute

// way is what becomes of the Machines of a set that has not the wanted template.
type way int

const (
	replaced way = iota // others are made in their stead
	moved               // they go over to the new set and are updated in place
	kept                // they stay until something else changes
)

// judge says what becomes of the Machines of a set with another template, and why they stay if they do.
func judge(w World, s *clusterv1.MachineSet) (way, string) {
	policy := inplace.PolicyOf(w.Deployment)
	if policy == inplace.Never || w.Deployment.Spec.Rollout.Strategy.Type == clusterv1.OnDeleteMachineDeploymentStrategyType {
		return replaced, ""
	}
	answer, asked := w.InPlace[s.UID]
	expired := outdated.Expired(s.CreationTimestamp, w.Deployment.Spec.Rollout.After, w.Now)
	_, unavailable := fences(w)
	switch covered := asked && !expired && answer.Covered(); {
	case answer.Err != nil:
		return kept, "it is not known what can be updated in place: " + answer.Err.Error()
	case covered && policy == inplace.Require && unavailable == 0:
		return kept, "a Machine is unavailable while it is updated in place, and spec.rollout.strategy.rollingUpdate.maxUnavailable is 0"
	case covered:
		return moved, ""
	case policy != inplace.Require:
		return replaced, ""
	}
	return kept, "no extension changes these fields in place: " + strings.Join(uncovered(w, s, answer, expired), ", ")
}

// uncovered names the fields for which the Machines of a set would have to be replaced.
func uncovered(w World, s *clusterv1.MachineSet, answer inplace.Answer, expired bool) []string {
	fields := slices.Clone(answer.Uncovered)
	if len(fields) == 0 {
		for _, d := range outdated.Differences(s.Spec.Template.Spec, w.Deployment.Spec.Template.Spec) {
			fields = append(fields, "spec.template.spec."+d.Field)
		}
	}
	if expired {
		fields = append(fields, "spec.rollout.after")
	}
	return fields
}

// hold tells which Machines stay although their template is not the wanted one. Who could change that is asked again.
func (d *Decision) hold(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) {
	for _, s := range oldestFirst(current, sets) {
		what, why := judge(w, s)
		if what != kept || max(want(s), have(s)) == 0 {
			continue
		}
		d.Kept = append(d.Kept, fmt.Sprintf("Machines of MachineSet %s stay: %s", s.Name, why))
		if answer := w.InPlace[s.UID]; answer.Err != nil {
			d.Err = answer.Err
		}
		d.After = decision.Sooner(d.After, askAgain)
	}
}

// room is how many Machines a rollout may add: none while old ones stay, and none either where they are updated in place
// within what may be unavailable. Otherwise one at most is added, or Machines were made that old ones can become.
func room(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) int32 {
	surge, unavailable := fences(w)
	for _, s := range oldestFirst(current, sets) {
		if max(want(s), have(s)) == 0 {
			continue
		}
		switch what, _ := judge(w, s); {
		case what == kept, what == moved && unavailable > 0:
			surge = 0
		case what == moved:
			surge = min(surge, 1)
		}
	}
	return surge
}

// alive counts the Machines of a set that are not being deleted.
func alive(w World, s *clusterv1.MachineSet) int32 {
	var n int32
	for _, m := range w.Machines {
		if metav1.IsControlledBy(m, s) && m.DeletionTimestamp.IsZero() {
			n++
		}
	}
	return n
}

// giving is how many Machines a set has still to hand over or to delete.
func giving(w World, s *clusterv1.MachineSet) int32 { return max(0, alive(w, s)-want(s)) }

func destination(s *clusterv1.MachineSet) string {
	return s.Annotations[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation]
}

// underway is how many Machines are still to come to a set from others.
func underway(w World, to *clusterv1.MachineSet, sets []*clusterv1.MachineSet) int32 {
	var n int32
	for _, s := range sets {
		if to != nil && s != to && destination(s) == to.Name {
			n += giving(w, s)
		}
	}
	return n
}

// updating counts the Machines of a set that are being updated in place.
func updating(w World, s *clusterv1.MachineSet) int32 {
	var n int32
	for _, m := range w.Machines {
		if metav1.IsControlledBy(m, s) && m.DeletionTimestamp.IsZero() && inplace.Updating(m) {
			n++
		}
	}
	return n
}

// quota says how many Machines old sets may give, and whether those are handed over.
type quota struct {
	w       World
	current *clusterv1.MachineSet
	// room is how many more Machines the current set takes, surplus how many are wanted by nobody.
	room, surplus int32
	// moves are the sets that hand over what they give.
	moves map[*clusterv1.MachineSet]bool
}

func newQuota(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet, plan map[*clusterv1.MachineSet]int32) *quota {
	q := &quota{w: w, current: current, moves: map[*clusterv1.MachineSet]bool{}, surplus: -w.wanted()}
	for _, s := range sets {
		q.surplus += plan[s]
	}
	q.room = w.wanted() - plan[current] - underway(w, current, sets)
	return q
}

// take says how many of n Machines an old set gives. One whose Machines move gives as many as the current set takes; all
// further ones, and those of a set whose Machines stay, go only if nobody wants them. A set that is still giving for one
// reason does not begin to give for another.
func (q *quota) take(s *clusterv1.MachineSet, n int32) int32 {
	switch what, _ := judge(q.w, s); what {
	case moved:
		busy, same := giving(q.w, s) > 0, destination(s) == q.current.Name
		if q.room > 0 && (!busy || same) {
			n = max(0, min(n, q.room))
			q.room -= n
			q.moves[s] = q.moves[s] || n > 0
			return n
		}
		if busy && same || q.moves[s] {
			return 0
		}
		n = min(n, q.surplus)
	case kept:
		n = min(n, q.surplus)
	}
	n = max(0, n)
	q.surplus -= n
	return n
}

// unavailableOf is how many Machines of a set nobody would miss. Of those that must not be replaced only the ones count that
// are in the middle of an update: others that are not available cannot be handed over.
func unavailableOf(w World, s *clusterv1.MachineSet, planned int32) int32 {
	n := max(0, planned-available(s))
	if what, _ := judge(w, s); what == moved && inplace.PolicyOf(w.Deployment) == inplace.Require {
		return min(n, updating(w, s))
	}
	return n
}

// courses says to which set each set hands Machines over, by name: as decided now, or as begun before until that is done.
func courses(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet, moves map[*clusterv1.MachineSet]bool) map[*clusterv1.MachineSet]string {
	out := map[*clusterv1.MachineSet]string{}
	for _, s := range sets {
		switch earlier := destination(s); {
		case moves[s]:
			out[s] = current.Name
		case earlier != "" && giving(w, s) > 0 && slices.ContainsFunc(sets, func(o *clusterv1.MachineSet) bool {
			return o.Name == earlier && o.DeletionTimestamp.IsZero()
		}):
			out[s] = earlier
		}
	}
	return out
}

// givers names the sets that hand Machines over to a set.
func givers(courses map[*clusterv1.MachineSet]string, to *clusterv1.MachineSet) []string {
	var out []string
	for s, name := range courses {
		if name == to.Name {
			out = append(out, s.Name)
		}
	}
	slices.Sort(out)
	return out
}

// arrivals names the Machines that have been handed to a set and with whose update it has not begun: those that it counts, and
// those that it does not count yet.
func arrivals(w World, s *clusterv1.MachineSet) (counted, fresh []string) {
	for _, m := range w.Machines {
		switch {
		case !metav1.IsControlledBy(m, s) || !inplace.Arriving(m):
		case inplace.Awaited(s, m):
			counted = append(counted, m.Name)
		default:
			fresh = append(fresh, m.Name)
		}
	}
	return counted, fresh
}

// welcome counts Machines that have been handed over to the set that has them now, and says whether there were any. All else
// waits for that: one write then makes room for a Machine and tells its set so, and no interruption can count it twice.
func (d *Decision) welcome(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) bool {
	if !slices.ContainsFunc(sets, func(s *clusterv1.MachineSet) bool {
		_, fresh := arrivals(w, s)
		return len(fresh) > 0 && s.DeletionTimestamp.IsZero()
	}) {
		return false
	}
	revision, courses := revisionOf(current, w, sets), courses(w, current, sets, nil)
	for _, s := range sets {
		if !s.DeletionTimestamp.IsZero() {
			continue
		}
		counted, fresh := arrivals(w, s)
		d.update(w, s, target{current: s == current, replicas: want(s) + int32(len(fresh)), revision: revision, later: true,
			moveTo: courses[s], receive: givers(courses, s), counted: append(counted, fresh...)})
	}
	if current != nil {
		setAnnotation(d.Deployment, clusterv1.RevisionAnnotation, fmt.Sprint(revision))
	}
	return true
}
