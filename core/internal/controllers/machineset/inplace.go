package machineset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/cloning"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
)

// Move hands a Machine over to another set, which is going to update it in place.
type Move struct {
	Machine *clusterv1.Machine
	To      *clusterv1.MachineSet
	Why     decision.Why
}

// Start begins the update of a Machine that has come from another set: its objects first, so that the Machine, which tells
// that all is ready, comes last.
type Start struct {
	Machine, Wanted *clusterv1.Machine
	Objects         []Change
}

// Change is an object as it is and as it is wanted.
type Change struct{ Before, After *unstructured.Unstructured }

func (Move) isAction()  {}
func (Start) isAction() {}

// counted are the Machines among the replicas of the set: those that were handed to it count once its deployment says so.
func (w World) counted() []*clusterv1.Machine {
	return slices.DeleteFunc(slices.Clone(w.Machines), func(m *clusterv1.Machine) bool {
		return inplace.Arriving(m) && inplace.Receivable(m) && !inplace.Awaited(w.Set, m)
	})
}

// handsOver says whether the set hands what it has too many over instead of deleting it.
func (w World) handsOver() bool {
	return w.Set.Annotations[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation] != ""
}

// handOver lets n Machines go to the set that updates them. Those that cannot be updated are deleted, unless that is forbidden;
// then others go, or nobody.
func (d *Decision) handOver(w World, machines []*clusterv1.Machine, n int) {
	if w.Receiver == nil || !inplace.Agree(w.Set, w.Receiver) {
		d.After = decision.Sooner(d.After, lookAgain)
		return
	}
	required := inplace.PolicyOf(w.Set) == inplace.Require
	list := slices.DeleteFunc(movingFirst(w, machines), func(m *clusterv1.Machine) bool {
		return required && m.DeletionTimestamp.IsZero() && !movable(m) && !inplace.Arriving(m)
	})
	for _, m := range list[:min(n, len(list))] {
		switch {
		case !m.DeletionTimestamp.IsZero():
		case inplace.Arriving(m): // it goes on once its update here has begun
		case movable(m):
			d.Actions = append(d.Actions, Move{Machine: m, To: w.Receiver, Why: decision.Because("UpdateInPlace", "MachineSet %s updates it in place", w.Receiver.Name)})
		default:
			d.Actions = append(d.Actions, Delete{Machine: m, Why: decision.Because("ScaleDown", "it is not well enough to be updated in place")})
		}
	}
}

// movable says whether a Machine can be updated in place: it runs, nobody wants it to go, and it is well, or its last update
// has just taken it out of service.
func movable(m *clusterv1.Machine) bool {
	for _, mark := range []string{clusterv1.DeleteMachineAnnotation, clusterv1.RemediateMachineAnnotation} {
		if _, marked := m.Annotations[mark]; marked {
			return false
		}
	}
	if !m.DeletionTimestamp.IsZero() || inplace.Arriving(m) || m.Status.NodeRef.Name == "" || conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) {
		return false
	}
	return inplace.Updating(m) || !unhealthy(m)
}

// movingFirst puts Machines into the order in which they leave for another set: first those that nobody misses.
func movingFirst(w World, machines []*clusterv1.Machine) []*clusterv1.Machine {
	list := surplus(machines, len(machines), w.Set.Spec.Deletion.Order, w.Now)
	class := func(m *clusterv1.Machine) int {
		switch {
		case !m.DeletionTimestamp.IsZero():
			return 0
		case inplace.Updating(m):
			return 1
		case !conditions.IsTrue(m, clusterv1.AvailableCondition):
			return 2
		}
		return 3
	}
	sort.SliceStable(list, func(i, j int) bool { return class(list[i]) < class(list[j]) })
	return list
}

// start begins with the update of the Machines that have come and are counted.
func (d *Decision) start(w World) {
	for _, m := range w.Machines {
		if !m.DeletionTimestamp.IsZero() || !inplace.Arriving(m) || !inplace.Awaited(w.Set, m) {
			continue
		}
		s, err := w.beginning(m)
		if err != nil {
			d.fail(fmt.Errorf("updating Machine %s in place: %w", m.Name, err))
			continue
		}
		d.Actions = append(d.Actions, s)
	}
}

// beginning is how the update of a Machine begins.
func (w World) beginning(m *clusterv1.Machine) (Start, error) {
	s := Start{Machine: m, Wanted: m.DeepCopy()}
	for _, part := range []struct {
		template Template
		ref      clusterv1.ContractVersionedObjectReference
		wanted   clusterv1.ContractVersionedObjectReference
	}{
		{w.Infrastructure, m.Spec.InfrastructureRef, w.Set.Spec.Template.Spec.InfrastructureRef},
		{w.Bootstrap, m.Spec.Bootstrap.ConfigRef, w.Set.Spec.Template.Spec.Bootstrap.ConfigRef},
	} {
		if part.wanted.Name == "" {
			continue
		}
		i := slices.IndexFunc(w.Objects[m.Name], func(o *unstructured.Unstructured) bool { return known([]*unstructured.Unstructured{o}, part.ref) })
		switch {
		case part.template.Err != nil:
			return s, part.template.Err
		case part.template.Object == nil:
			return s, fmt.Errorf("%s %s does not exist", part.wanted.Kind, part.wanted.Name)
		case i < 0:
			return s, fmt.Errorf("%s %s cannot be read", part.ref.Kind, part.ref.Name)
		}
		before := w.Objects[m.Name][i]
		after, err := inplace.ToTemplate(before, w.Origins[cloning.Origin(before)], part.template.Object.Unstructured)
		if err != nil {
			return s, err
		}
		inplace.Mark(after)
		s.Objects = append(s.Objects, Change{Before: before, After: after})
	}
	s.Wanted.Spec.Version, s.Wanted.Spec.FailureDomain = w.Set.Spec.Template.Spec.Version, w.Set.Spec.Template.Spec.FailureDomain
	inplace.Begin(s.Wanted)
	return s, nil
}

// receiver reads the set to which Machines are to be handed over.
func (l sight) receiver(ctx context.Context, w *World) error {
	name := w.Set.Annotations[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation]
	if name == "" {
		return nil
	}
	to := &clusterv1.MachineSet{}
	err := l.reader.Get(ctx, client.ObjectKey{Namespace: w.Set.Namespace, Name: name}, to)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading MachineSet %s: %w", name, err)
	}
	w.Receiver = to
	return nil
}

// origins reads the templates from which the objects of arriving Machines were made, as far as they still exist.
func (l sight) origins(ctx context.Context, w *World) error {
	w.Origins = map[clusterv1.ContractVersionedObjectReference]*unstructured.Unstructured{}
	for _, m := range w.Machines {
		if !inplace.Arriving(m) {
			continue
		}
		for _, o := range w.Objects[m.Name] {
			ref := cloning.Origin(o)
			if ref.Name == "" || w.Origins[ref] != nil {
				continue
			}
			origin, err := external.Get(ctx, l.reader, l.resolver, ref, m.Namespace)
			switch {
			case err == nil:
				w.Origins[ref] = origin.Unstructured
			case !external.IsNotFound(err):
				return err
			}
		}
	}
	return nil
}

// move makes another set the controller of a Machine, in one write: it is never without one and never of both.
func (c *Controller) move(ctx context.Context, w World, a Move) error {
	m := a.Machine.DeepCopy()
	h := patch.Begin(c.Client, FieldOwner, m)
	kind := clusterv1.GroupVersion.WithKind("MachineSet")
	ownership.Remove(m, ownership.Reference(w.Set, kind))
	ownership.Ensure(m, ownership.ControllerReference(a.To, kind))
	labels.Set(m, clusterv1.MachineSetNameLabel, labels.Value(a.To.Name))
	if hash, ok := a.To.Labels[clusterv1.MachineDeploymentUniqueLabel]; ok {
		labels.Set(m, clusterv1.MachineDeploymentUniqueLabel, hash)
	}
	inplace.HandOver(m)
	if err := h.Finish(ctx, m); err != nil {
		return fmt.Errorf("handing Machine %s over to MachineSet %s: %w", m.Name, a.To.Name, err)
	}
	c.writes.note(client.ObjectKeyFromObject(w.Set), m.Name, false)
	c.event(w.Set, corev1.EventTypeNormal, "SuccessfulMove", "Moved Machine "+m.Name+" to MachineSet "+a.To.Name+": "+a.Why.Because)
	return nil
}

// begin changes the objects of a Machine, then the Machine itself.
func (c *Controller) begin(ctx context.Context, w World, a Start) error {
	var errs []error
	for _, o := range a.Objects {
		if err := patch.Begin(c.Client, FieldOwnerOfMachines, o.Before).Finish(ctx, o.After.DeepCopy()); err != nil {
			errs = append(errs, fmt.Errorf("changing %s: %w", accessors.Describe(o.After), err))
		}
	}
	if len(errs) == 0 {
		if err := patch.Begin(c.Client, FieldOwner, a.Machine).Finish(ctx, a.Wanted.DeepCopy()); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		c.event(w.Set, corev1.EventTypeWarning, "FailedStartInPlaceUpdate", "The update of Machine "+a.Machine.Name+" in place could not begin: "+err.Error())
		return fmt.Errorf("updating Machine %s in place: %w", a.Machine.Name, err)
	}
	c.event(w.Set, corev1.EventTypeNormal, "SuccessfulStartInPlaceUpdate", "Machine "+a.Machine.Name+" begins to be updated in place")
	return nil
}
