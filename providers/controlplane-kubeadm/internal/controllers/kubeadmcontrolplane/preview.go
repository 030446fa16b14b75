package kubeadmcontrolplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/drift"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// Fate is what a change does to a machine in the end.
type Fate string

// The fates of a machine.
const (
	Untouched Fate = "untouched"
	InPlace   Fate = "in place"
	Replaced  Fate = "replaced"
	Removed   Fate = "removed"
)

// PreviewedMachine is one machine and its fate, because of fields.
type PreviewedMachine struct {
	Name    string
	Fate    Fate
	Because []drift.Difference
}

// Preview is what the controller would do until nothing is left to be done.
type Preview struct {
	// Machines are in the order in which they would go, then the others by age.
	Machines []PreviewedMachine
	// Added is how many machines come beyond those that replace another one.
	Added int
	// Blocked says what stands in the way now.
	Blocked []string
}

// ErrNoCluster says that a control plane belongs to no Cluster yet.
var ErrNoCluster = errors.New("the control plane belongs to no Cluster")

// Look reads what a preview needs, without writing anything. The result shows the control plane as it is given.
func Look(ctx context.Context, reader client.Reader, resolver *contractversion.Resolver, controlPlane *controlplanev1.KubeadmControlPlane, now time.Time) (*World, error) {
	look := sight{reader: reader, resolver: resolver}
	w := &World{Now: now, ControlPlane: controlPlane}
	cluster, err := look.owner(ctx, controlPlane)
	if err != nil {
		return nil, err
	}
	if cluster == nil {
		return nil, fmt.Errorf("KubeadmControlPlane %s: %w", controlPlane.Name, ErrNoCluster)
	}
	w.Cluster = cluster
	list, err := look.listMachines(ctx, w)
	if err != nil {
		return nil, err
	}
	sortOut(w, list)
	return w, look.observeParts(ctx, w)
}

// AskAll asks about all machines that may be updated in place if the control plane were as proposed.
func AskAll(ctx context.Context, reader client.Reader, resolver *contractversion.Resolver, ask Ask, w World, proposed *controlplanev1.KubeadmControlPlane) (Updates, error) {
	w.ControlPlane, w.InPlace = proposed, Updates{On: true, Answers: map[string]Update{}}
	look := sight{reader: reader, resolver: resolver}
	for _, m := range w.outdatedMachines() {
		if may, _ := mayUpdate(w, m); !may {
			continue
		}
		update, err := look.canUpdate(ctx, ask, w, m)
		if err != nil {
			return Updates{}, err
		}
		w.InPlace.Answers[m.Name] = update
	}
	return w.InPlace, nil
}

// Foresee says what would happen if the control plane were as proposed. It asks the functions that decide.
func Foresee(w World, proposed *controlplanev1.KubeadmControlPlane) Preview {
	current := w.ControlPlane
	w.ControlPlane = proposed
	p := Preview{Blocked: obstacles(w), Added: max(w.replicas()-len(w.Machines), 0)}
	f := foresight{World: w}
	f.Machines = slices.DeleteFunc(slices.Clone(w.Machines), (*Machine).deleting)
	f.surplus, f.current = len(f.Machines)-w.replicas(), f.upToDate()
	f.current += max(w.replicas()+maxSurge(w)-len(f.Machines), 0)
	for len(f.outdatedMachines()) > 0 || f.surplus > 0 {
		next := f.next(w)
		fate, because, held := f.fate(w, next)
		if held != "" {
			p.Blocked = append(p.Blocked, held)
		}
		if fate == Removed {
			because = append(because, drift.Of("spec.replicas", current.Spec.Replicas, proposed.Spec.Replicas))
		}
		p.Machines = append(p.Machines, PreviewedMachine{Name: next.Name, Fate: fate, Because: because})
		f.Machines = slices.DeleteFunc(slices.Clone(f.Machines), func(m *Machine) bool { return m == next })
	}
	for _, m := range w.Machines {
		if m.deleting() || slices.Contains(f.Machines, m) {
			p.Machines = append(p.Machines, stays(w, m, current))
		}
	}
	return p
}

// foresight is a control plane on its way, without the machines whose fate is known.
type foresight struct {
	World
	// surplus is how many machines go without a replacement, current how many are up to date by now.
	surplus, current int
}

// next is the machine whose turn it is: as in a rollout, and when that is over as in scaling down.
func (f *foresight) next(w World) *Machine {
	if f.current >= w.replicas() {
		return pickVictim(f.World)
	}
	return nextOutdated(f.World)
}

// fate is what becomes of a machine, because of what, and why it stays as it is if it does.
func (f *foresight) fate(w World, m *Machine) (fate Fate, because []drift.Difference, held string) {
	because = fieldsOf(w, m)
	if len(outdated(w, m)) > 0 && f.current < w.replicas() {
		p := &plan{}
		switch may, held := mayUpdate(w, m); {
		case held != "":
			keep(p, m, held)
			return Untouched, nil, p.blocked[0]
		case !may || !begin(w, p, m):
		case len(p.actions) > 0:
			f.current++
			return InPlace, because, ""
		default:
			return Untouched, nil, p.blocked[0]
		}
	}
	if f.surplus > 0 { // the first ones to go are not replaced
		f.surplus--
		return Removed, because, ""
	}
	f.current++
	return Replaced, because, ""
}

func fieldsOf(w World, m *Machine) []drift.Difference {
	var fields []drift.Difference
	for _, c := range outdated(w, m) {
		fields = append(fields, c.fields...)
	}
	if _, wished := m.Annotations[clusterv1.DeleteMachineAnnotation]; wished {
		fields = append(fields, drift.Difference{Path: "metadata.annotations." + clusterv1.DeleteMachineAnnotation})
	}
	return fields
}

// stays says what changes on a machine that is not replaced. Keys that the proposal takes away are found by comparing
// with the present control plane; on the machine they cannot be told from those of others.
func stays(w World, m *Machine, current *controlplanev1.KubeadmControlPlane) PreviewedMachine {
	fields := inPlaceDifferences(w, m)
	if !m.deleting() {
		before, after := current.Spec.MachineTemplate.Metadata, w.ControlPlane.Spec.MachineTemplate.Metadata
		fields = append(fields, lostKeys("metadata.labels", m.Labels, before.Labels, after.Labels)...)
		fields = append(fields, lostKeys("metadata.annotations", m.Annotations, before.Annotations, after.Annotations)...)
	}
	fate := Untouched
	switch {
	case m.deleting():
		fate = Removed
	case len(fields) > 0:
		fate = InPlace
	}
	return PreviewedMachine{Name: m.Name, Fate: fate, Because: fields}
}

func lostKeys(path string, have, before, after map[string]string) []drift.Difference {
	var all []drift.Difference
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, stays := after[key]; stays {
			continue
		}
		if value, ok := have[key]; ok && key != machines.CleanupHook {
			all = append(all, drift.Difference{Path: path + "." + key, From: value})
		}
	}
	return all
}

// obstacles are what the controller would wait for now, by the conditions as they are stored.
func obstacles(w World) []string {
	if len(w.outdatedMachines()) == 0 && len(w.Machines) == w.replicas() {
		return nil
	}
	if len(w.Foreign) > 0 {
		return []string{"control plane machines " + listOf(w.Foreign) + " are controlled by somebody else"}
	}
	if i := slices.IndexFunc(w.Machines, updating); i >= 0 {
		return []string{"machine " + w.Machines[i].Name + " to be updated in place"}
	}
	return preflight(w, &plan{}, nil, len(w.outdatedMachines()) > 0 || len(w.Machines) < w.replicas())
}
