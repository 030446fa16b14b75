package kubeadmcontrolplane

import (
	"time"

	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/inplace"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/quorum"
)

// brokenPatience is how long a machine that is to be replaced anyway must be broken before it goes ahead of its
// replacement: a restart of a component is no reason to run with one machine less.
const brokenPatience = 5 * time.Minute

// rollOut replaces machines that are out of date, or has them updated in place, one at a time. With a surge the new machine comes first, without one
// the old machine goes first. A change of replicas meanwhile is absorbed by the same rule.
func rollOut(w World, p *plan) bool {
	old := w.outdatedMachines()
	if len(old) == 0 {
		return false
	}
	if strategy := w.ControlPlane.Spec.Rollout.Strategy.Type; strategy != "" && strategy != controlplanev1.RollingUpdateStrategyType {
		p.blocked = append(p.blocked, "the rollout strategy "+strategy+" is not known")
		return true
	}
	if !prepareJoin(w, p) {
		return true
	}
	next := nextOutdated(w)
	why := decision.Because("Rollout", "machine %s is out of date: %s", next.Name, summary(w, next))
	if len(w.Machines) >= w.replicas()+maxSurge(w) {
		if !updateInPlace(w, p, next) {
			remove(w, p, next, why)
		}
		return true
	}
	if blocked := preflight(w, p, nil, true); len(blocked) > 0 {
		if brokenForLong(w, p, next) && safeWithout(w, next) {
			remove(w, p, next, why)
			return true
		}
		p.blocked = append(p.blocked, blocked...)
		return true
	}
	create(w, p, false, why)
	return true
}

// maxSurge: where no machine may be replaced none is made in its stead.
func maxSurge(w World) int {
	if policy(w) == inplace.Require {
		return 0
	}
	if surge := w.ControlPlane.Spec.Rollout.Strategy.RollingUpdate.MaxSurge; surge != nil && surge.String() == "0" {
		return 0
	}
	return 1
}

// brokenForLong says whether a component of the machine has been failing for so long that it will not come back. Such
// a machine would block its own replacement for ever, since machines are added to a healthy control plane only.
func brokenForLong(w World, p *plan, m *Machine) bool {
	for _, conditionType := range componentConditions(w.managedEtcd()) {
		c := conditions.Get(m, conditionType)
		if c == nil || c.Status != "False" {
			continue
		}
		left := brokenPatience - w.Now.Sub(c.LastTransitionTime.Time)
		if left <= 0 {
			return true
		}
		p.again(left)
	}
	return false
}

// safeWithout says whether the control plane works without a machine: a majority of machines and members is left.
func safeWithout(w World, m *Machine) bool {
	if len(w.Machines) < 3 || componentsWithout(w, m) != "" {
		return false
	}
	return !w.managedEtcd() || quorum.Remove(quorumMembers(w), m.nodeName()).Allowed
}
