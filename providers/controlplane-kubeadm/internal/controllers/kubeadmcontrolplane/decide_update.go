package kubeadmcontrolplane

import (
	"slices"
	"strings"
	"time"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

const (
	// askAgain is when an extension is asked again that gave no answer, askLater when one is that cannot do what is required:
	// another program may be behind it meanwhile.
	askAgain = 15 * time.Second
	askLater = 5 * time.Minute
	// marksPoll bounds the wait for marks on objects, whose changes nobody tells of.
	marksPoll = 5 * time.Second

	gatesOff = "updates in place are off: switch the feature gates RuntimeSDK and InPlaceUpdates on"
)

func policy(w World) inplace.Policy { return inplace.PolicyOf(w.ControlPlane) }

// updating says whether a machine is being updated in place, by its own marks or by those of its objects.
func updating(m *Machine) bool {
	return !m.deleting() && (inplace.Marked(m) || inplace.Pending(m) || objectsMarked(m))
}

func objectsMarked(m *Machine) bool {
	return m.Infra != nil && inplace.Marked(m.Infra) || m.Config != nil && inplace.Marked(m.Config)
}

// allMarked says whether all objects of a machine carry the mark without which the core calls no extension.
func allMarked(m *Machine) bool {
	return (m.Infra == nil || inplace.Marked(m.Infra)) && (m.Config == nil || inplace.Marked(m.Config))
}

// changes are those causes of a machine that an extension may take away.
func changes(w World, m *Machine) []cause {
	return slices.DeleteFunc(slices.Clone(outdated(w, m)), func(c cause) bool { return c.renewal })
}

func (w World) upToDate() int {
	count := 0
	for _, m := range w.Machines {
		if !m.deleting() && len(outdated(w, m)) == 0 {
			count++
		}
	}
	return count
}

// nextOutdated is the machine that a rollout turns to next. Where none may be replaced those that cannot be updated
// in place stand in nobody's way.
func nextOutdated(w World) *Machine {
	if policy(w) != inplace.Require || w.upToDate() >= w.replicas() {
		return pickVictim(w)
	}
	var able []*Machine
	for _, m := range w.outdatedMachines() {
		if ineligible(w, m) == "" || certificatesExpire(w, m) {
			able = append(able, m)
		}
	}
	if len(able) == 0 {
		return pickVictim(w)
	}
	return pickAmong(w, able)
}

// ineligible says why a machine cannot be updated in place by any extension, or "".
func ineligible(w World, m *Machine) string {
	for _, mark := range []string{clusterv1.DeleteMachineAnnotation, clusterv1.RemediateMachineAnnotation} {
		if _, wished := m.Annotations[mark]; wished {
			return "it is marked with " + mark
		}
	}
	for _, c := range outdated(w, m) {
		if c.renewal {
			return c.short
		}
	}
	switch {
	case m.Config == nil:
		return "its KubeadmConfig cannot be read"
	case m.Infra == nil:
		return "its infrastructure machine cannot be read"
	}
	return ""
}

// mayUpdate says whether a machine that is out of date is to be updated in place, if an extension can, or why it stays as it
// is if it does; else it is replaced.
func mayUpdate(w World, m *Machine) (may bool, held string) {
	required := policy(w) == inplace.Require
	switch {
	case policy(w) == inplace.Never, !w.InPlace.On && !required:
		return false, ""
	case required && certificatesExpire(w, m):
		return false, "" // nothing but a new machine keeps the cluster alive
	}
	switch why := ineligible(w, m); {
	case why != "" && required:
		return false, "it cannot be updated in place: " + why
	case why != "":
		return false, ""
	case !w.InPlace.On:
		return false, gatesOff
	}
	return true, ""
}

// updateInPlace has a machine that a rollout turns to updated instead of replaced. It returns false if it is to be replaced.
func updateInPlace(w World, p *plan, m *Machine) bool {
	if w.upToDate() >= w.replicas() {
		return false
	}
	may, held := mayUpdate(w, m)
	if !may {
		if held != "" {
			keep(p, m, held)
		}
		return held != ""
	}
	skew := versionSkew(w)
	if blocked := preflight(w, p, nil, false); len(blocked) > 0 || skew != "" {
		if policy(w) != inplace.Require && skew == "" && len(preflight(w, p, m, false)) == 0 {
			return false // it is the only one that is not well
		}
		p.blocked = append(p.blocked, append(blocked, some(skew)...)...)
		return true
	}
	return begin(w, p, m)
}

// begin asks about a machine and follows the answer. It returns false if the machine is to be replaced.
func begin(w World, p *plan, m *Machine) bool {
	update, asked := w.InPlace.Answers[m.Name]
	switch {
	case !asked:
		p.ask = m
		p.blocked = append(p.blocked, "machine "+m.Name+" to be updated in place")
	case update.Err != nil:
		keep(p, m, "it is not known what can be updated in place: "+update.Err.Error())
		p.again(askAgain)
	case update.Covered():
		because := summary(w, m)
		if because == "" {
			because = "what was begun is finished"
		}
		p.do(StartUpdate{Machine: m, Infra: update.Infra, Config: machines.UpdatedConfig(m.Config.Spec, w.ControlPlane),
			Why: decision.Because("SuccessfulStartInPlaceUpdate", "machine %s is updated in place: %s", m.Name, because)})
	case policy(w) == inplace.Require:
		keep(p, m, "no extension changes these fields in place: "+strings.Join(limit(update.Uncovered, 5), ", "))
		p.again(askLater)
	default:
		return false
	}
	return true
}

func keep(p *plan, m *Machine, why string) {
	p.blocked = append(p.blocked, "machine "+m.Name+", which stays: "+why)
}

func some(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// carryOnUpdate looks after a machine that is being updated in place, and holds everything else that adds, removes or
// updates machines. An update that was begun and interrupted is finished; one that is overtaken by another change gives way
// to that, without waiting for its end.
func carryOnUpdate(w World, p *plan) bool {
	i := slices.IndexFunc(w.Machines, updating)
	if i < 0 {
		return false
	}
	m := w.Machines[i]
	marked, pending := inplace.Marked(m), inplace.Pending(m)
	overtaken := len(changes(w, m)) > 0
	switch {
	case !marked:
		p.blocked = append(p.blocked, "machine "+m.Name+" to be updated in place")
		p.again(marksPoll)
	case pending && !overtaken && allMarked(m):
		p.blocked = append(p.blocked, "machine "+m.Name+" to be updated in place")
	case !pending && !objectsMarked(m) && (!overtaken || !w.InPlace.On):
		p.do(CancelUpdate{Machine: m, Why: decision.Because("CancelInPlaceUpdate", "nothing of machine %s is to be updated in place", m.Name)})
	case !w.InPlace.On:
		p.blocked = append(p.blocked, "machine "+m.Name+" to be updated in place; "+gatesOff+", or delete it to have it replaced")
	default:
		resume(w, p, m)
	}
	return true
}

// resume begins anew with a machine whose update was interrupted or overtaken. The machine itself need not be well: it is
// being worked on.
func resume(w World, p *plan, m *Machine) {
	if len(outdated(w, m)) > 0 && !prepareJoin(w, p) {
		return
	}
	why := decision.Because("Rollout", "machine %s is out of date, and its update in place was overtaken: %s", m.Name, summary(w, m))
	blocked := append(preflight(w, p, m, false), some(versionSkew(w))...)
	switch {
	case len(blocked) > 0:
		p.blocked = append(p.blocked, blocked...)
	case m.Config == nil || m.Infra == nil:
		keep(p, m, ineligible(w, m))
		p.again(askAgain)
	case policy(w) == inplace.Never && len(changes(w, m)) > 0, !begin(w, p, m):
		remove(w, p, m, why)
	}
}
