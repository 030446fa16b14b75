package machine

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/inplace"
)

// begun is a Machine whose objects are as they should be, in the middle of its update.
func begun(w *World) {
	inplace.Begin(w.Machine)
	inplace.Mark(w.Bootstrap.Object)
	inplace.Mark(w.Infrastructure.Object)
	hadCondition(clusterv1.MachineUpdatingCondition, metav1.ConditionTrue, clusterv1.MachineInPlaceUpdatingReason, time.Second)(w)
}

func said(v UpdateView) change { return func(w *World) { w.Update = v } }

// TestUpdating: each stage of an update in place, what is told of it and what is done.
//
// Conformance: MA-45, MA-46
func TestUpdating(t *testing.T) {
	handedOver := machineWith(func(m *clusterv1.Machine) { inplace.HandOver(m) })
	atEnd := machineWith(func(m *clusterv1.Machine) { inplace.Unmark(m) })
	over := machineWith(func(m *clusterv1.Machine) { inplace.Unmark(m); inplace.End(m) })
	for _, c := range []struct {
		name            string
		changes         []change
		reason, message string
		marked, pending bool
		unmarks         int
		after           time.Duration
	}{
		{"no update", nil, clusterv1.MachineNotUpdatingReason, "", false, false, 0, 0},
		{"handed over", []change{handedOver}, clusterv1.MachineInPlaceUpdatingReason, "Waiting for the owner of the Machine to bring the changes", true, false, 0, 0},
		{"handed over in the middle of another update", []change{begun, handedOver, said(UpdateView{Asked: true})}, clusterv1.MachineInPlaceUpdatingReason, "Waiting for the owner of the Machine to bring the changes", true, false, 0, 0},
		{"begun", []change{begun}, clusterv1.MachineInPlaceUpdatingReason, "An extension updates the Machine", true, true, 0, 0},
		{"at work", []change{begun, said(UpdateView{Asked: true, Wait: 7 * time.Second, Message: "x: half"})}, clusterv1.MachineInPlaceUpdatingReason, "x: half", true, true, 0, 7 * time.Second},
		{"failed", []change{begun, said(UpdateView{Asked: true, Wait: 2 * time.Second, Err: errors.New("no power")})}, clusterv1.MachineInPlaceUpdateFailedReason, "no power", true, true, 0, 2 * time.Second},
		{"done", []change{begun, said(UpdateView{Asked: true, Message: "x"})}, clusterv1.MachineInPlaceUpdatingReason, "The update is done", false, true, 0, 0},
		{"the marks go", []change{begun, atEnd}, clusterv1.MachineInPlaceUpdatingReason, "The update is done", false, false, 2, 0},
		{"left marks", []change{begun, over}, clusterv1.MachineNotUpdatingReason, "", false, false, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world(append([]change{deployed("v1.37.0", "v1.37.0")}, c.changes...)...)
			d := Decide(w)
			require.NoError(t, d.Err)
			told := conditions.Get(d.Machine, clusterv1.MachineUpdatingCondition)
			assert.Equal(t, c.reason+": "+c.message, told.Reason+": "+told.Message)
			end, unmarks := d.Machine, 0
			for _, a := range d.Actions {
				switch a := a.(type) {
				case Proceed:
					end = a.To
				case Unmark:
					unmarks++
				}
			}
			assert.Equal(t, []bool{c.marked, c.pending}, []bool{inplace.Marked(end), inplace.Pending(end)})
			assert.Equal(t, c.unmarks, unmarks)
			assert.Equal(t, c.after, d.After)
			updating := c.reason != clusterv1.MachineNotUpdatingReason
			assert.Equal(t, updating, conditions.IsFalse(d.Machine, clusterv1.AvailableCondition), "not available while it is updated")
			assert.Equal(t, updating, d.Machine.Status.Phase == clusterv1.MachinePhaseUpdating)
			if updating {
				assert.Equal(t, clusterv1.MachineUpToDateUpdatingReason, conditions.Get(d.Machine, clusterv1.MachineUpToDateCondition).Reason)
			}
		})
	}
}

// TestWhenTheExtensionIsCalled: not before the Machine is known to be out of service and all objects are as they should be.
//
// Conformance: MA-46
func TestWhenTheExtensionIsCalled(t *testing.T) {
	assert.False(t, callDue(world()))
	assert.True(t, callDue(world(begun)))
	for name, c := range map[string]change{
		"not told":            machineWith(func(m *clusterv1.Machine) { conditions.Delete(m, clusterv1.MachineUpdatingCondition) }),
		"handed over anew":    machineWith(func(m *clusterv1.Machine) { inplace.HandOver(m) }),
		"done":                machineWith(func(m *clusterv1.Machine) { inplace.Unmark(m) }),
		"object is not ready": func(w *World) { inplace.Unmark(w.Infrastructure.Object) },
		"object is missing":   bootstrapIs(none),
		"in deletion":         deletingFor(time.Second),
	} {
		assert.False(t, callDue(world(begun, c)), name)
	}
}

// TestFailuresAreTriedLaterAndLater: however often a Machine is looked at, its extension is called when it is time.
//
// Conformance: MA-46
func TestFailuresAreTriedLaterAndLater(t *testing.T) {
	var a attempts
	at := now
	failed := UpdateView{Asked: true, Err: errors.New("no")}
	for _, seconds := range []int{2, 4, 8, 16, 32, 64, 120, 120} {
		wait := time.Duration(seconds) * time.Second
		assert.Equal(t, wait, a.note("m", "v1", failed, at).Wait)
		again, ok := a.recall("m", "v1", at.Add(wait-time.Second))
		assert.True(t, ok)
		assert.Equal(t, UpdateView{Asked: true, Err: failed.Err, Wait: time.Second}, again)
		at = at.Add(wait)
		_, ok = a.recall("m", "v1", at)
		assert.False(t, ok, "time is over")
	}
	_, ok := a.recall("m", "v2", at)
	assert.False(t, ok, "another state is another question")
	assert.Equal(t, 2*time.Second, a.note("m", "v2", failed, at).Wait)
	assert.Equal(t, 9*time.Second, a.note("m", "v2", UpdateView{Asked: true, Wait: 9 * time.Second}, at).Wait)
	assert.Equal(t, 2*time.Second, a.note("m", "v2", failed, at).Wait, "it has worked in between")
	assert.Zero(t, a.note("m", "v2", UpdateView{Asked: true}, at).Wait)
	a.forget("m")
	assert.Empty(t, a.made)
}

// TestMarksOfNobodyGo: a mark that somebody has set by hand, or that is left of another manager, does not make a Machine
// unavailable for good.
//
// Conformance: MA-46
func TestMarksOfNobodyGo(t *testing.T) {
	for name, mark := range map[string]func(*clusterv1.Machine){
		"in update":                      func(m *clusterv1.Machine) { inplace.Mark(m) },
		"handed over, but not from here": func(m *clusterv1.Machine) { inplace.HandOver(m) },
		"handed over, and no set": func(m *clusterv1.Machine) {
			inplace.HandOver(m)
			m.Labels = map[string]string{clusterv1.MachineDeploymentNameLabel: "md"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(machineWith(mark))
			for range 3 {
				d := Decide(w)
				assert.False(t, conditions.IsTrue(d.Machine, clusterv1.MachineUpdatingCondition))
				for _, a := range d.Actions {
					if p, ok := a.(Proceed); ok {
						w.Machine = p.To
					}
				}
			}
			assert.False(t, inplace.Updating(w.Machine), "%v", w.Machine.Annotations)
		})
	}
}

// TestMarksOfControlPlanesStay: a control plane marks a Machine before it brings the changes, and takes the mark back itself.
//
// Conformance: MA-46
func TestMarksOfControlPlanesStay(t *testing.T) {
	yes := true
	w := world(machineWith(func(m *clusterv1.Machine) {
		inplace.Mark(m)
		m.Labels[clusterv1.MachineControlPlaneLabel] = ""
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "controlplane.cluster.x-k8s.io/v1beta2", Kind: "KubeadmControlPlane", Name: "cp", UID: "cp", Controller: &yes}}
	}))
	inplace.Mark(w.Infrastructure.Object)
	d := Decide(w)
	assert.Equal(t, "Waiting for the owner of the Machine to bring the changes", conditions.Message(d.Machine, clusterv1.MachineUpdatingCondition))
	for _, a := range d.Actions {
		switch a.(type) {
		case Proceed, Unmark:
			t.Errorf("%T takes marks away", a)
		}
	}
	assert.False(t, callDue(w))
}
