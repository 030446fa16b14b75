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

// Foresee says what would happen if the control plane were as proposed. It asks the functions that decide.
func Foresee(w World, proposed *controlplanev1.KubeadmControlPlane) Preview {
	current := w.ControlPlane
	w.ControlPlane = proposed
	p := Preview{Blocked: obstacles(w), Added: max(w.replicas()-len(w.Machines), 0)}
	rest := w
	rest.Machines = slices.DeleteFunc(slices.Clone(w.Machines), (*Machine).deleting)
	surplus := len(rest.Machines) - w.replicas()
	for len(rest.outdatedMachines()) > 0 || surplus > 0 {
		next := pickVictim(rest)
		fate, because := Replaced, fieldsOf(w, next)
		if surplus > 0 { // the first ones to go are not replaced
			fate = Removed
			because = append(because, drift.Of("spec.replicas", current.Spec.Replicas, proposed.Spec.Replicas))
		}
		surplus--
		p.Machines = append(p.Machines, PreviewedMachine{Name: next.Name, Fate: fate, Because: because})
		rest.Machines = slices.DeleteFunc(slices.Clone(rest.Machines), func(m *Machine) bool { return m == next })
	}
	for _, m := range w.Machines {
		if m.deleting() || slices.Contains(rest.Machines, m) {
			p.Machines = append(p.Machines, stays(w, m, current))
		}
	}
	return p
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
	return preflight(w, &plan{}, nil, len(w.outdatedMachines()) > 0 || len(w.Machines) < w.replicas())
}
