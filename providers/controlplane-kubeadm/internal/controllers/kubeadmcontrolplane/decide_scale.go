package kubeadmcontrolplane

import (
	"fmt"

	"github.com/slipway-capi/slipway/contract/decision"
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
	create(w, p, true, decision.Because("Initialize", "the control plane has no machine yet"))
}

func scaleUp(w World, p *plan) {
	if p.blocked = append(p.blocked, preflight(w, p, nil, true)...); len(p.blocked) > 0 {
		return
	}
	create(w, p, false, decision.Because("ScaleUp", "%d replicas wanted, %d exist", w.replicas(), len(w.Machines)))
}

func create(w World, p *plan, init bool, why decision.Why) {
	switch {
	case w.Template.Missing || w.Template.Problem != "":
		p.blocked = append(p.blocked, templateTrouble(w))
		return
	case w.NextName == "":
		p.blocked = append(p.blocked, w.NameProblem)
		return
	}
	action := CreateMachine{Name: w.NextName, FailureDomain: nextFailureDomain(w), Init: init, Why: why}
	if p.remediating != nil {
		action.RemediationFor = p.remediating.String()
	}
	p.do(action)
	if p.remediating != nil {
		p.do(EndRemediation{})
	}
}

func scaleDown(w World, p *plan) {
	victim := pickVictim(w)
	remove(w, p, victim, decision.Because("ScaleDown",
		"%d replicas wanted, %d exist; %s is next to go", w.replicas(), len(w.Machines), victim.Name))
}

// remove deletes a machine if the control plane is healthy without it. Its etcd member goes later, when it is drained.
func remove(w World, p *plan, victim *Machine, why decision.Why) {
	if p.blocked = append(p.blocked, preflight(w, p, victim, false)...); len(p.blocked) > 0 {
		return
	}
	if blocked := moveLeadershipFrom(w, p, victim); blocked != "" {
		p.blocked = append(p.blocked, blocked)
		return
	}
	p.do(DeleteMachine{Machine: victim, Why: why})
}

func templateTrouble(w World) string {
	ref := w.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	if w.Template.Missing {
		return fmt.Sprintf("%s %s does not exist", ref.Kind, ref.Name)
	}
	return w.Template.Problem
}
