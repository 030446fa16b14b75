package machinedeployment

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
	"github.com/slipway-capi/slipway/core/internal/outdated"
)

// lookAgain is how soon a stale cache is looked at again.
const lookAgain = 500 * time.Millisecond

// Decide says what to do about a MachineDeployment, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Deployment: w.Deployment.DeepCopy()}
	if !w.deleting() && !slices.Contains(d.Deployment.Finalizers, clusterv1.MachineDeploymentFinalizer) {
		// First of all, so that nothing exists that a deletion would leave behind; the write wakes us again.
		d.Deployment.Finalizers = append(d.Deployment.Finalizers, clusterv1.MachineDeploymentFinalizer)
		return d
	}
	pause := paused.Condition(w.Cluster, w.Deployment)
	conditions.Set(d.Deployment, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	if w.deleting() {
		d.delete(w)
	} else {
		d.own(w)
		d.rollout(w)
	}
	d.describe(w)
	d.Deployment.Status.ObservedGeneration = d.Deployment.Generation
	return d
}

func (d *Decision) delete(w World) {
	if w.Unseen {
		d.After = lookAgain
	}
	if len(w.Sets) == 0 && !w.Unseen {
		// The other one is from a manager that was here before ours and kept templates by it; the topology controller sweeps those.
		d.Deployment.Finalizers = slices.DeleteFunc(d.Deployment.Finalizers, func(f string) bool {
			return f == clusterv1.MachineDeploymentFinalizer || f == clusterv1.MachineDeploymentTopologyFinalizer
		})
		return
	}
	if slices.Contains(w.Deployment.Finalizers, metav1.FinalizerOrphanDependents) {
		return // who deletes it wants the sets to stay; they are let go of before our finalizer counts
	}
	for _, s := range w.Sets {
		if s.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Delete{Set: s, Why: decision.Because("DeploymentDeleted", "MachineDeployment %s is being deleted", w.Deployment.Name)})
		}
	}
}

func (d *Decision) own(w World) {
	md := d.Deployment
	if md.Labels == nil {
		md.Labels = map[string]string{}
	}
	md.Labels[clusterv1.ClusterNameLabel] = md.Spec.ClusterName
	if w.Cluster != nil {
		ownership.Ensure(md, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
	}
}

// rollout decides what each MachineSet should be.
func (d *Decision) rollout(w World) {
	if w.Unseen {
		d.After = lookAgain // the watch that shows the last writes wakes us; this is for a write that never shows
		return
	}
	if after := w.Deployment.Spec.Rollout.After; !after.IsZero() && after.After(w.Now) {
		d.After = after.Sub(w.Now)
	}
	sets := append(append([]*clusterv1.MachineSet(nil), w.Sets...), w.Orphans...)
	current := newest(w, sets)
	if d.welcome(w, current, sets) {
		return
	}
	if !isTrue(w.Deployment.Spec.Paused) {
		d.hold(w, current, sets)
	}
	if current == nil && !isTrue(w.Deployment.Spec.Paused) {
		d.createSet(w, sets)
		return
	}
	plan := replicas(w, current, sets)
	revision, courses := revisionOf(current, w, sets), courses(w, current, sets, plan.moves)
	for _, s := range currentFirst(current, sets) { // who takes Machines knows it before others hand them over
		if s.DeletionTimestamp.IsZero() {
			counted, _ := arrivals(w, s)
			d.update(w, s, target{current: s == current, replicas: plan.of[s], revision: revision, later: plan.later,
				moveTo: courses[s], receive: givers(courses, s), counted: counted})
		}
	}
	if current != nil {
		setAnnotation(d.Deployment, clusterv1.RevisionAnnotation, strconv.Itoa(revision))
	}
	d.cleanUp(w, current, sets)
}

// update brings one set to its target, if it is not there.
func (d *Decision) update(w World, s *clusterv1.MachineSet, t target) {
	u := Update{Set: s, Wanted: wantedSet(w, s, t), Why: decision.Because("Sync", "fields that change in place")}
	u.Covered, u.Surplus = covers(s, u.Wanted), surplusOf(s, u.Wanted)
	if u.Covered && !u.Surplus {
		return
	}
	if u.Adopts = slices.Contains(w.Orphans, s); u.Adopts {
		d.Events = append(d.Events, Event{"SuccessfulAdopt", "Adopted MachineSet " + s.Name})
	}
	if t.replicas != want(s) {
		u.Why = decision.Because("Scale", "MachineSet %s from %d to %d replicas", s.Name, want(s), t.replicas)
		d.Events = append(d.Events, Event{"SuccessfulScale", "Scaled " + u.Why.Because})
	}
	d.Actions = append(d.Actions, u)
}

func (d *Decision) createSet(w World, sets []*clusterv1.MachineSet) {
	if len(w.MissingTemplates) > 0 {
		d.Missing = w.MissingTemplates // their watch wakes us
		return
	}
	revision := revisionOf(nil, w, sets)
	s := newSet(w, target{current: true, replicas: replicasOfNew(w, nil, sets), revision: revision})
	setAnnotation(d.Deployment, clusterv1.RevisionAnnotation, strconv.Itoa(revision))
	why := decision.Because("NewTemplate", "no MachineSet has the wanted template")
	if len(sets) > 0 {
		why.Because += ": " + strings.Join(outdated.Reasons(latest(sets), w.Deployment, w.Now), "; ")
	}
	d.Actions = append(d.Actions, Create{Set: s, Why: why})
}

// cleanUp deletes old empty sets once nothing of the rollout is left to do. The one with the last other template stays, so
// that there is a way back. A topology knows its own way back, and keeps templates for as long as a set refers to them.
func (d *Decision) cleanUp(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) {
	if current == nil || have(current) != w.wanted() || available(current) != w.wanted() || want(current) != w.wanted() {
		return
	}
	kept := previous(w, sets)
	for _, s := range sets {
		if s != current && s != kept && want(s) == 0 && have(s) == 0 && s.Status.Replicas != nil && s.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Delete{Set: s, Why: decision.Because("RolloutComplete", "MachineSet %s is empty and of an earlier template", s.Name)})
		}
	}
}

// previous is the latest set with another template than the wanted one; nil if there is none or none is to be kept.
func previous(w World, sets []*clusterv1.MachineSet) *clusterv1.MachineSet {
	if _, managed := w.Deployment.Labels[clusterv1.ClusterTopologyOwnedLabel]; managed {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(sets), func(s *clusterv1.MachineSet) bool {
		return !s.DeletionTimestamp.IsZero() || len(outdated.Differences(s.Spec.Template.Spec, w.Deployment.Spec.Template.Spec)) == 0
	})
	if len(others) == 0 {
		return nil
	}
	return latest(others)
}

// newest is the set that has the wanted template and, once rollout.after is past, is not older than it; nil if there is none.
func newest(w World, sets []*clusterv1.MachineSet) *clusterv1.MachineSet {
	var match []*clusterv1.MachineSet
	for _, s := range sets {
		if s.DeletionTimestamp.IsZero() && len(outdated.Reasons(s, w.Deployment, w.Now)) == 0 {
			match = append(match, s)
		}
	}
	sort.Slice(match, func(i, j int) bool {
		a, b := match[i], match[j]
		switch {
		case want(a) != want(b):
			return want(a) > want(b)
		case !a.CreationTimestamp.Equal(&b.CreationTimestamp):
			return a.CreationTimestamp.Before(&b.CreationTimestamp)
		}
		return a.Name < b.Name
	})
	if len(match) == 0 {
		return nil
	}
	return match[0]
}

// revisionOf is the revision of the current set, or of one to be created. The deployment remembers the last one, since
// not every set stays; who becomes current again gets a new one, so that the number never falls.
func revisionOf(current *clusterv1.MachineSet, w World, sets []*clusterv1.MachineSet) int {
	last, own := revision(w.Deployment), 0
	if current != nil {
		own = revision(current)
	}
	others := 0
	for _, s := range sets {
		if s != current {
			others = max(others, revision(s))
		}
	}
	if own > others && own >= last {
		return own
	}
	return max(others, last) + 1
}

func revision(o metav1.Object) int {
	n, err := strconv.Atoi(o.GetAnnotations()[clusterv1.RevisionAnnotation])
	if err != nil {
		return 0
	}
	return n
}

// latest is the set of the highest revision, or the youngest one of several.
func latest(sets []*clusterv1.MachineSet) *clusterv1.MachineSet {
	return slices.MaxFunc(sets, func(a, b *clusterv1.MachineSet) int {
		return cmp.Or(cmp.Compare(revision(a), revision(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
}

func currentFirst(current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) []*clusterv1.MachineSet {
	out := slices.Clone(sets)
	slices.SortStableFunc(out, func(a, b *clusterv1.MachineSet) int {
		switch {
		case a == b, a != current && b != current:
			return 0
		case a == current:
			return -1
		}
		return 1
	})
	return out
}

func isTrue(b *bool) bool { return b != nil && *b }
