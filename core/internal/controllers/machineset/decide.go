package machineset

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
)

// lookAgain is how soon a stale cache is looked at again.
const lookAgain = 500 * time.Millisecond

// strayAge is for how long an object may be without a Machine.
const strayAge = time.Minute

// Decide says what to do about a MachineSet, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Set: w.Set.DeepCopy()}
	if !w.deleting() && !slices.Contains(d.Set.Finalizers, clusterv1.MachineSetFinalizer) {
		// First of all, so that nothing exists that a deletion would leave behind; the write wakes us again.
		d.Set.Finalizers = append(d.Set.Finalizers, clusterv1.MachineSetFinalizer)
		return d
	}
	pause := paused.Condition(w.Cluster, w.Set)
	conditions.Set(d.Set, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	if w.deleting() {
		d.delete(w)
	} else {
		d.own(w)
		d.templates(w)
		d.adopt(w)
		d.start(w)
		d.sync(w)
		d.sweep(w)
		d.remediate(w)
		d.scale(w)
	}
	d.describe(w)
	// Who sees the generation observed relies on it that nothing of an earlier one is still to be counted.
	if d.Err == nil && !w.Unseen {
		d.Set.Status.ObservedGeneration = d.Set.Generation
	}
	return d
}

func (d *Decision) delete(w World) {
	if w.Unseen {
		d.After = lookAgain
	}
	if len(w.Machines) == 0 && !w.Unseen {
		// The other one is from a manager that was here before ours and kept templates by it; the topology controller sweeps those.
		d.Set.Finalizers = slices.DeleteFunc(d.Set.Finalizers, func(f string) bool {
			return f == clusterv1.MachineSetFinalizer || f == clusterv1.MachineSetTopologyFinalizer
		})
		return
	}
	if slices.Contains(w.Set.Finalizers, metav1.FinalizerOrphanDependents) {
		return // who deletes it wants the Machines to stay; they are let go of before our finalizer counts
	}
	for _, m := range w.Machines {
		if m.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Delete{Machine: m, Why: decision.Because("SetDeleted", "MachineSet %s is being deleted", w.Set.Name)})
		}
	}
}

// own labels the set, and makes the Cluster the owner of a stand-alone one.
func (d *Decision) own(w World) {
	s := d.Set
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	s.Labels[clusterv1.ClusterNameLabel] = s.Spec.ClusterName
	if _, ok := s.Labels[clusterv1.MachineDeploymentNameLabel]; !ok && w.Cluster != nil && metav1.GetControllerOf(s) == nil {
		ownership.Ensure(s, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
	}
}

// templates become owned by the Cluster, so that they are moved and deleted with it.
func (d *Decision) templates(w World) {
	for _, t := range []Template{w.Bootstrap, w.Infrastructure} {
		if t.Object == nil || w.Cluster == nil || !t.Object.GetDeletionTimestamp().IsZero() {
			continue
		}
		if !ownership.Has(t.Object, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))) {
			d.Actions = append(d.Actions, OwnTemplate{Object: t.Object})
		}
	}
}

func (d *Decision) adopt(w World) {
	for _, m := range w.Orphans {
		if m.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Adopt{Machine: m})
			d.Events = append(d.Events, Event{"SuccessfulAdopt", "Adopted Machine " + m.Name})
		}
	}
}

// sweep removes what was left without a Machine. It waits until a Machine on its way must have shown up.
func (d *Decision) sweep(w World) {
	for _, o := range w.Strays {
		age := w.Now.Sub(o.GetCreationTimestamp().Time)
		switch {
		case !o.GetDeletionTimestamp().IsZero():
		case age < strayAge || w.Unseen:
			d.After = decision.Sooner(d.After, max(strayAge-age, lookAgain))
		default:
			d.Actions = append(d.Actions, DeleteStray{Object: o, Why: decision.Because("Stray", "%s %s has no Machine", o.GetKind(), o.GetName())})
		}
	}
}

// scale creates what is missing and deletes the surplus; Machines that already leave count towards the surplus.
func (d *Decision) scale(w World) {
	if w.Unseen {
		d.After = decision.Sooner(d.After, lookAgain) // the watch that shows the last writes wakes us; this is for a write that never shows
		return
	}
	switch missing := w.wanted() - len(w.counted()) - len(w.Orphans); {
	case missing > 0:
		d.scaleUp(w, missing)
	case missing < 0:
		d.scaleDown(w, -missing)
	}
}

func (d *Decision) scaleUp(w World, n int) {
	if w.Set.Annotations[clusterv1.DisableMachineCreateAnnotation] == "true" {
		d.Blocked = append(d.Blocked, "creation of Machines is disabled by annotation "+clusterv1.DisableMachineCreateAnnotation)
		return
	}
	for _, t := range []struct {
		Template
		ref clusterv1.ContractVersionedObjectReference
	}{{w.Bootstrap, w.Set.Spec.Template.Spec.Bootstrap.ConfigRef}, {w.Infrastructure, w.Set.Spec.Template.Spec.InfrastructureRef}} {
		if t.Err != nil {
			d.fail(t.Err) // only here: a set that needs no new Machine does not need its templates either
			return
		}
		if t.ref.Name != "" && t.Object == nil {
			d.Blocked = append(d.Blocked, fmt.Sprintf("%s %s does not exist", t.ref.Kind, t.ref.Name))
		}
	}
	checks, err := preflight(w)
	d.fail(err)
	d.Blocked = append(d.Blocked, checks...)
	if len(d.Blocked) > 0 || err != nil {
		return
	}
	for i := range n {
		name, err := machineName(w.Set, w.Suffixes[i])
		if err != nil {
			d.fail(err)
			return
		}
		why := decision.Because("ScaleUp", "%d replicas wanted, %d exist", w.wanted(), len(w.counted()))
		d.Actions = append(d.Actions, Create{Machine: intent(w, name), Why: why})
	}
}

// scaleDown deletes the surplus, or hands it over. Machines that have just been chosen for being ill are part of it.
func (d *Decision) scaleDown(w World, n int) {
	all := w.counted()
	stay := slices.DeleteFunc(slices.Clone(all), d.remediates)
	n -= len(all) - len(stay)
	if w.handsOver() {
		d.handOver(w, stay, max(0, n))
		return
	}
	for _, m := range surplus(stay, max(0, n), w.Set.Spec.Deletion.Order, w.Now) {
		if m.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Delete{Machine: m, Why: decision.Because("ScaleDown", "%d replicas wanted, %d exist", w.wanted(), len(all))})
		}
	}
}

func (d *Decision) fail(err error) {
	if err != nil {
		d.Err = errors.Join(d.Err, err)
	}
}
