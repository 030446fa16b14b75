package kubeadmcontrolplane

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/drift"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// propagate brings labels, annotations, gates, timeouts and taints to the machines, without any rollout.
func propagate(w World, p *plan) {
	// A key that was removed from the template cannot be told from a foreign one by looking at the machine. Server-side
	// apply knows; it is asked whenever the control plane has changed since it was last brought to all machines.
	changed := w.ControlPlane.Status.ObservedGeneration != w.ControlPlane.Generation
	for _, m := range w.Machines {
		update := UpdateMachine{Machine: m, Self: changed || len(inPlaceDifferences(w, m)) > 0}
		if !m.deleting() {
			labels, annotations := machines.Labels(w.ControlPlane, w.Cluster.Name), machines.Annotations(w.ControlPlane)
			update.Config = m.Config != nil && (changed || !contains(m.Config.Labels, labels) || !contains(m.Config.Annotations, annotations))
			update.Infra = m.Infra != nil && (changed || !contains(m.Infra.Labels, labels) || !contains(m.Infra.Annotations, annotations))
		}
		if update.Self || update.Config || update.Infra {
			p.do(update)
		}
	}
}

// inPlaceDifferences are the fields of a Machine that change without replacing it. Labels and annotations of others do
// not count.
func inPlaceDifferences(w World, m *Machine) []drift.Difference {
	have, want := m.Machine, machines.InPlace(m.Machine, w.ControlPlane)
	all := slices.Concat(keyDifferences("metadata.labels", have.Labels, want.Labels),
		keyDifferences("metadata.annotations", have.Annotations, want.Annotations))
	if !slices.Equal(have.Spec.ReadinessGates, want.Spec.ReadinessGates) {
		all = append(all, drift.Of("spec.readinessGates", have.Spec.ReadinessGates, want.Spec.ReadinessGates))
	}
	if !slices.Equal(have.Spec.Taints, want.Spec.Taints) {
		all = append(all, drift.Of("spec.taints", have.Spec.Taints, want.Spec.Taints))
	}
	if !reflect.DeepEqual(have.Spec.Deletion, want.Spec.Deletion) {
		all = append(all, drift.Of("spec.deletion", have.Spec.Deletion, want.Spec.Deletion))
	}
	return all
}

func keyDifferences(path string, have, want map[string]string) []drift.Difference {
	var all []drift.Difference
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, ok := have[key]; !ok || value != want[key] {
			all = append(all, drift.Difference{Path: path + "." + key, From: value, To: want[key]})
		}
	}
	return all
}

// contains says whether all wanted keys are there; other keys belong to others.
func contains(have, want map[string]string) bool { return len(keyDifferences("", have, want)) == 0 }

// adopt takes over machines that nobody controls. If one of them cannot be taken over none is: a control plane is
// managed as a whole or not at all.
func adopt(w World, p *plan) {
	for _, m := range w.Orphans {
		if m.Spec.Bootstrap.ConfigRef.Kind != "KubeadmConfig" {
			p.problem = fmt.Sprintf("machine %s cannot be adopted: its bootstrap configuration is no KubeadmConfig", m.Name)
			return
		}
		if !nearVersion(m.Spec.Version, w.ControlPlane.Spec.Version) {
			p.do(Warn{decision.Because("AdoptionFailed", "machine %s has version %s, which is more than one minor away from %s",
				m.Name, m.Spec.Version, w.ControlPlane.Spec.Version)})
			return
		}
	}
	for _, m := range w.Orphans {
		p.do(AdoptMachine{Machine: m})
	}
}

func nearVersion(have, want string) bool {
	if have == "" {
		return true
	}
	a, errA := semver.ParseTolerant(have)
	b, errB := semver.ParseTolerant(want)
	if errA != nil || errB != nil {
		return false
	}
	distance := int64(a.Minor) - int64(b.Minor)
	return a.Major == b.Major && distance >= -1 && distance <= 1
}
