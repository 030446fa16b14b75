package kubeadmcontrolplane

import (
	"fmt"
	"slices"
	"strings"
	"time"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// scale creates or deletes one machine towards the wanted number. It always ends the run.
func scale(w World, p *plan) bool {
	have, want := len(w.Machines), w.replicas()
	switch {
	case have == 0:
		startCluster(w, p)
	case have < want:
		scaleUp(w, p)
	case have > want && want > 0:
		scaleDown(w, p)
	}
	return true
}

func startCluster(w World, p *plan) {
	if w.initialized() {
		// A cluster that ran once must never be started a second time: that would be another, empty cluster.
		p.blocked = append(p.blocked, "the cluster was initialized, but none of its control plane machines is left")
		return
	}
	create(w, p, true)
}

func scaleUp(w World, p *plan) {
	if p.blocked = append(p.blocked, preflight(w, nil, true)...); len(p.blocked) > 0 {
		return
	}
	create(w, p, false)
}

func create(w World, p *plan, init bool) {
	switch {
	case w.Template.Missing || w.Template.Problem != "":
		p.blocked = append(p.blocked, templateTrouble(w))
		return
	case w.NextName == "":
		p.blocked = append(p.blocked, w.NameProblem)
		return
	}
	because := "the control plane has no machine yet"
	reason := "Initialize"
	if !init {
		reason, because = "ScaleUp", fmt.Sprintf("%d replicas wanted, %d exist", w.replicas(), len(w.Machines))
	}
	p.do(CreateMachine{
		Name: w.NextName, FailureDomain: nextFailureDomain(w), Init: init, Why: decision.Because(reason, "%s", because),
	})
}

func scaleDown(w World, p *plan) {
	victim := pickVictim(w)
	if p.blocked = append(p.blocked, preflight(w, victim, false)...); len(p.blocked) > 0 {
		return
	}
	if blocked := moveLeadershipFrom(w, p, victim); blocked != "" {
		p.blocked = append(p.blocked, blocked)
		return
	}
	p.do(DeleteMachine{Machine: victim, Why: decision.Because("ScaleDown",
		"%d replicas wanted, %d exist; %s is next to go", w.replicas(), len(w.Machines), victim.Name)})
}

func templateTrouble(w World) string {
	ref := w.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	if w.Template.Missing {
		return fmt.Sprintf("%s %s does not exist", ref.Kind, ref.Name)
	}
	return w.Template.Problem
}

// preflight lists what forbids changing the number of machines now; victim is the machine to be removed, if any. A
// change is made only from a control plane that is healthy as a whole, so at most one thing is broken at a time.
func preflight(w World, victim *Machine, up bool) []string {
	if len(w.Machines) == 0 {
		return nil
	}
	if topology := topologyUpgrade(w); topology != "" {
		return []string{topology}
	}
	if up && len(w.Certificates.Missing) > 0 {
		return []string{"certificates are missing"}
	}
	if deleting := w.deletingMachines(); len(deleting) > 0 {
		return []string{"waiting for machine " + names(deleting) + " to be deleted"}
	}
	var blocked []string
	for _, m := range w.Machines {
		if m == victim {
			continue
		}
		if trouble := unhealthy(w, m); trouble != "" {
			blocked = append(blocked, trouble)
		}
	}
	return blocked
}

func topologyUpgrade(w World) string {
	version := w.Cluster.Spec.Topology.Version
	if version == "" || version == w.ControlPlane.Spec.Version {
		return ""
	}
	if w.Cluster.Annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation] == w.ControlPlane.Spec.Version {
		return ""
	}
	return "waiting for version " + version + " of the topology"
}

// unhealthy says what is wrong with a machine, or "" if nothing is. What is not known counts as wrong.
func unhealthy(w World, m *Machine) string {
	if m.nodeName() == "" {
		return "machine " + m.Name + " has no node yet"
	}
	var wrong []string
	for _, conditionType := range componentConditions(w.managedEtcd()) {
		if !conditions.IsTrue(m, conditionType) {
			wrong = append(wrong, conditionType)
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return "machine " + m.Name + ": " + strings.Join(wrong, ", ") + " not true"
}

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
func pickVictim(w World) *Machine {
	candidates := victims(w)
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

// certificatesExpire says whether a machine's certificates end within the time the control plane allows.
func certificatesExpire(w World, m *Machine) bool {
	days := w.ControlPlane.Spec.Rollout.Before.CertificatesExpiryDays
	expiry := m.Status.CertificatesExpiryDate
	return days > 0 && !expiry.IsZero() && expiry.Time.Before(w.Now.Add(time.Duration(days)*24*time.Hour))
}

func initializedFlag() controlplanev1.KubeadmControlPlaneInitializationStatus {
	yes := true
	return controlplanev1.KubeadmControlPlaneInitializationStatus{ControlPlaneInitialized: &yes}
}
