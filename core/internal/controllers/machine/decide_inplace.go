package machine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/contract/labels"
)

// UpdateView is what the extension that updates the Machine in place has said last.
type UpdateView struct {
	// Asked says that it was asked about the state that is wanted now.
	Asked bool
	// Wait is when to ask again; zero says that the update is done, unless there is an error.
	Wait time.Duration
	// Message is what it says about its work.
	Message string
	// Err is what went wrong; it is tried again after Wait.
	Err error
}

func (v UpdateView) done() bool { return v.Asked && v.Err == nil && v.Wait <= 0 }

// Unmark takes the mark of an update from a provider object.
type Unmark struct{ Object *external.Object }

// Proceed changes the marks of the Machine itself, unless somebody has changed the Machine since it was read: an update that
// begins anew must not lose its marks to the end of the last one.
type Proceed struct{ To *clusterv1.Machine }

func (Unmark) isAction()  {}
func (Proceed) isAction() {}

// stage is how far the update of a Machine in place has come.
type stage int

const (
	idle     stage = iota
	handed         // its owner has not brought the changes yet
	running        // its extension is at work
	finished       // the marks have still to go
	orphaned       // a mark that no update has left: those set and take it together with another
	stray          // handed to nobody: only sets of a MachineDeployment hand Machines over
)

func stageOf(m *clusterv1.Machine) stage {
	switch marked, pending := inplace.Marked(m), inplace.Pending(m); {
	case inplace.Arriving(m) && !inplace.Receivable(m):
		return stray
	case inplace.Arriving(m):
		return handed
	case marked && pending:
		return running
	case marked && inHand(m):
		return handed
	case marked:
		return orphaned
	case pending:
		return finished
	}
	return idle
}

// inHand says whether a Machine belongs to a control plane, which marks it before it brings the changes and takes a mark
// back that it does not need.
func inHand(m *clusterv1.Machine) bool {
	owner := metav1.GetControllerOf(m)
	return owner != nil && owner.Kind != "MachineSet" && labels.IsControlPlane(m.Labels)
}

// callDue says whether the extension may be called: the Machine is told to be in an update, so that nobody takes it for
// available, and its objects are all as they should be.
func callDue(w World) bool {
	if w.deleting() || stageOf(w.Machine) != running || !conditions.IsTrue(w.Machine, clusterv1.MachineUpdatingCondition) {
		return false
	}
	for _, r := range []Referred{w.Bootstrap, w.Infrastructure} {
		if r.Err != nil || r.Missing || r.Object != nil && !inplace.Marked(r.Object) {
			return false
		}
	}
	return true
}

// update decides about the end of an update in place: the mark of the Machine goes first, then those of its objects, then
// the hook. Marks that are left without an update go as well.
func (d *Decision) update(w World) {
	switch stageOf(w.Machine) {
	case running:
		if w.Update.done() && callDue(w) {
			d.proceed(w, func(m *clusterv1.Machine) { inplace.Unmark(m) })
			d.Events = append(d.Events, Event{"SuccessfulInPlaceUpdate", "Machine " + w.Machine.Name + " has been updated in place"})
			return
		}
		d.look(w.Update.Wait)
	case finished:
		d.unmark(w)
		d.proceed(w, func(m *clusterv1.Machine) { inplace.End(m) })
	case orphaned:
		d.proceed(w, func(m *clusterv1.Machine) { inplace.Unmark(m) })
	case stray:
		d.proceed(w, func(m *clusterv1.Machine) { inplace.Refuse(m) })
	case idle:
		d.unmark(w)
	}
}

func (d *Decision) proceed(w World, change func(*clusterv1.Machine)) {
	to := w.Machine.DeepCopy()
	change(to)
	d.Actions = append(d.Actions, Proceed{To: to})
}

func (d *Decision) unmark(w World) {
	for _, r := range []Referred{w.Infrastructure, w.Bootstrap} {
		if r.Object != nil && inplace.Marked(r.Object) {
			d.Actions = append(d.Actions, Unmark{Object: r.Object})
		}
	}
}

// updating tells how an update in place goes.
func updating(w World) metav1.Condition {
	now := stageOf(w.Machine)
	told := func(reason, message string) metav1.Condition {
		return condition(clusterv1.MachineUpdatingCondition, metav1.ConditionTrue, reason, message)
	}
	switch {
	case now == handed:
		return told(clusterv1.MachineInPlaceUpdatingReason, "Waiting for the owner of the Machine to bring the changes")
	case now == finished, now == running && w.Update.done():
		return told(clusterv1.MachineInPlaceUpdatingReason, "The update is done")
	case now == running && w.Update.Err != nil:
		return told(clusterv1.MachineInPlaceUpdateFailedReason, w.Update.Err.Error())
	case now == running && w.Update.Message != "":
		return told(clusterv1.MachineInPlaceUpdatingReason, w.Update.Message)
	case now == running:
		return told(clusterv1.MachineInPlaceUpdatingReason, "An extension updates the Machine")
	}
	return condition(clusterv1.MachineUpdatingCondition, metav1.ConditionFalse, clusterv1.MachineNotUpdatingReason, "")
}
