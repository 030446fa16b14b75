package kubeadmcontrolplane

import (
	"slices"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// controlPlaneDomains are the failure domains for control plane machines, sorted by name.
func controlPlaneDomains(w World) []string {
	var domains []string
	for _, domain := range w.Cluster.Status.FailureDomains {
		if domain.ControlPlane != nil && *domain.ControlPlane {
			domains = append(domains, domain.Name)
		}
	}
	slices.Sort(domains)
	return domains
}

// nextFailureDomain spreads machines: the domain with the fewest up-to-date machines, then the fewest in all, then
// the first by name. Without domains the infrastructure chooses.
func nextFailureDomain(w World) string {
	best, bestCurrent, bestAll := "", 0, 0
	for _, domain := range controlPlaneDomains(w) {
		current, all := 0, 0
		for _, m := range w.Machines {
			if m.Spec.FailureDomain != domain {
				continue
			}
			all++
			if !m.deleting() && len(outdated(w, m)) == 0 {
				current++
			}
		}
		if best == "" || current < bestCurrent || (current == bestCurrent && all < bestAll) {
			best, bestCurrent, bestAll = domain, current, all
		}
	}
	return best
}

// pickVictim chooses the machine to remove: the first set of candidates that is not empty, in it a failure domain the
// cluster does not know, else the fullest one, in it the oldest machine.
func pickVictim(w World) *Machine { return pickAmong(w, victims(w)) }

func pickAmong(w World, candidates []*Machine) *Machine {
	known := controlPlaneDomains(w)
	for _, m := range candidates {
		if m.Spec.FailureDomain != "" && len(known) > 0 && !slices.Contains(known, m.Spec.FailureDomain) {
			return m
		}
	}
	count := func(list []*Machine, domain string) int {
		n := 0
		for _, m := range list {
			if m.Spec.FailureDomain == domain {
				n++
			}
		}
		return n
	}
	var best *Machine
	for _, m := range candidates {
		if best == nil {
			best = m
			continue
		}
		a, b := count(candidates, m.Spec.FailureDomain), count(candidates, best.Spec.FailureDomain)
		if a > b || (a == b && count(w.Machines, m.Spec.FailureDomain) > count(w.Machines, best.Spec.FailureDomain)) {
			best = m
		}
	}
	return best
}

func victims(w World) []*Machine {
	marked := func(m *Machine) bool { _, ok := m.Annotations[clusterv1.DeleteMachineAnnotation]; return ok }
	old := func(m *Machine) bool { return len(outdated(w, m)) > 0 }
	broken := func(m *Machine) bool {
		for _, conditionType := range componentConditions(w.managedEtcd()) {
			if conditions.IsFalse(m, conditionType) {
				return true
			}
		}
		return false
	}
	for _, match := range []func(*Machine) bool{
		func(m *Machine) bool { return old(m) && marked(m) },
		marked,
		func(m *Machine) bool { return old(m) && broken(m) },
		old,
	} {
		var set []*Machine
		for _, m := range w.Machines {
			if match(m) {
				set = append(set, m)
			}
		}
		if len(set) > 0 {
			return set
		}
	}
	return w.Machines
}
