package lifecycle

import (
	"slices"

	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// held is the world of versions with what holds so far.
func (r *run) held() upgrade.World {
	w := r.w.Upgrade
	w.Hold, w.HoldWorkers = r.Hold, r.HoldWorkers
	return w
}

// steps fills the ways that lie ahead into a call.
func (r *run) steps(c Call) Call {
	w := r.w.Upgrade
	c.ControlPlane, _ = upgrade.Plan(w.ControlPlane.Version, w.Wanted, w.Steps) // a way that does not exist is told by the decision about versions
	c.Workers = upgrade.WorkersPlan(w, c.ControlPlane)
	return c
}

// controlPlaneDone tells that a step of the control plane is done. Until extensions agree, neither workers nor the next step may begin.
func (r *run) controlPlaneDone() {
	cp := r.w.Upgrade.ControlPlane
	if cp == nil || !r.pending(hook.AfterControlPlaneUpgrade.Name) || !cp.Settled() || !upgrade.Same(cp.Version, r.w.Step) {
		return
	}
	c := r.steps(Call{Hook: hook.AfterControlPlaneUpgrade.Name, To: cp.Version})
	c.ControlPlane = slices.Insert(c.ControlPlane, 0, cp.Version)
	if !r.call(c) {
		r.Hold = Wait{c.Hook, ""}.Hold()
		r.HoldWorkers = r.Hold
		return
	}
	r.told(c.Hook)
}

// workersDone tells that a step of the workers is done. Until extensions agree, the control plane may not take the next one.
func (r *run) workersDone() {
	cp := r.w.Upgrade.ControlPlane
	if cp == nil || !r.pending(hook.AfterWorkersUpgrade.Name) || !cp.Settled() || r.HoldWorkers != "" {
		return
	}
	d, err := upgrade.Decide(r.held())
	if err != nil || !workersRest(r.w.Upgrade, d) {
		return // what is wrong with versions is told by the decision about them
	}
	c := r.steps(Call{Hook: hook.AfterWorkersUpgrade.Name, To: cp.Version})
	c.Workers = slices.Insert(c.Workers, 0, cp.Version)
	if !r.call(c) {
		r.Hold = Wait{c.Hook, ""}.Hold()
		return
	}
	r.told(c.Hook)
}

// workersRest says whether the workers are where the present version of the control plane takes them.
func workersRest(w upgrade.World, d upgrade.Decision) bool {
	for _, g := range slices.Concat(w.MachineDeployments, w.MachinePools) {
		if g.Upgrading {
			return false
		}
	}
	if len(changing(w.MachineDeployments, d.MachineDeployments))+len(changing(w.MachinePools, d.MachinePools)) > 0 {
		return false
	}
	// On the way, groups that wait are those that skip this version; at its end they are not done.
	last := upgrade.Same(w.ControlPlane.Version, w.Wanted)
	return !last || len(d.MachineDeployments.UpgradePending)+len(d.MachinePools.UpgradePending) == 0
}

// changing lists the groups that are told another version.
func changing(groups []upgrade.Workers, d upgrade.Groups) (out []upgrade.Workers) {
	for _, g := range groups {
		if v, ok := d.Versions[g.Name]; ok && g.Version != "" && !upgrade.Same(v, g.Version) {
			out = append(out, g)
		}
	}
	return out
}

// begin asks before the control plane takes a version: whether the upgrade may begin, and then about this step.
func (r *run) begin() {
	cp := r.w.Upgrade.ControlPlane
	if cp == nil || r.Hold != "" {
		return
	}
	d, err := upgrade.Decide(r.held())
	if err != nil || upgrade.Same(d.ControlPlane, cp.Version) {
		r.rest()
		return
	}
	next := d.ControlPlane
	begun := r.pending(hook.AfterClusterUpgrade.Name) || r.w.Off && upgrade.Same(r.w.Step, cp.Version)
	if !begun {
		if r.Hold = r.w.Held; r.Hold != "" {
			return
		}
		if !r.before(hook.BeforeClusterUpgrade.Name, r.w.Upgrade.Wanted) {
			return
		}
		r.note(hook.AfterClusterUpgrade.Name)
		if r.Step == "" {
			r.Step = cp.Version // an upgrade is under way: see doneBefore
		}
	}
	// Who was interrupted between the note and the control plane has asked already.
	if !r.pending(hook.AfterControlPlaneUpgrade.Name) || !upgrade.Same(r.w.Step, next) {
		if !r.before(hook.BeforeControlPlaneUpgrade.Name, next) {
			return
		}
		r.note(hook.AfterControlPlaneUpgrade.Name)
	}
	if r.Step = next; r.w.Off && upgrade.Same(next, r.w.Upgrade.Wanted) {
		r.Step = "" // the end of the way needs no mark
	}
}

func (r *run) before(name, to string) (free bool) {
	free = r.call(r.steps(Call{Hook: name, From: r.w.Upgrade.ControlPlane.Version, To: to}))
	if !free {
		r.Hold = Wait{name, ""}.Hold()
	}
	return free
}

// rest forgets the step when nobody needs to know it: at the end of the way, with nothing to tell of it.
func (r *run) rest() {
	if cp := r.w.Upgrade.ControlPlane; upgrade.Same(cp.Version, r.w.Upgrade.Wanted) && !r.pending(hook.AfterControlPlaneUpgrade.Name) {
		r.Step = ""
	}
}

// workersBegin asks before the first group of workers takes a version.
func (r *run) workersBegin() {
	if r.w.Upgrade.ControlPlane == nil || r.HoldWorkers != "" || r.pending(hook.AfterWorkersUpgrade.Name) {
		return
	}
	d, err := upgrade.Decide(r.held())
	if err != nil {
		return
	}
	groups := append(changing(r.w.Upgrade.MachineDeployments, d.MachineDeployments), changing(r.w.Upgrade.MachinePools, d.MachinePools)...)
	if len(groups) == 0 {
		return
	}
	if !r.call(r.steps(Call{Hook: hook.BeforeWorkersUpgrade.Name, From: upgrade.Lowest(groups), To: d.ControlPlane})) {
		r.HoldWorkers = Wait{hook.BeforeWorkersUpgrade.Name, ""}.Hold()
		return
	}
	r.note(hook.AfterWorkersUpgrade.Name)
}

// doneBefore tells that an upgrade is done whose end was not yet told when the next version was asked for. That one must not begin
// before: it is another upgrade, with hooks of its own. While an upgrade is under way there is a step.
func (r *run) doneBefore() {
	cp := r.w.Upgrade.ControlPlane
	if cp == nil || r.w.Step != "" || upgrade.Same(cp.Version, r.w.Upgrade.Wanted) || !r.rests(cp.Version) {
		return
	}
	if !r.whole(cp.Version) {
		r.Hold = Wait{hook.AfterClusterUpgrade.Name, ""}.Hold()
		r.HoldWorkers = r.Hold
	}
}

// done tells that the whole cluster has the version that is wanted.
func (r *run) done() {
	if r.rests(r.w.Upgrade.Wanted) {
		r.whole(r.w.Upgrade.Wanted)
	}
}

// whole tells that the whole cluster has a version.
func (r *run) whole(version string) (free bool) {
	if free = r.call(Call{Hook: hook.AfterClusterUpgrade.Name, To: version}); free {
		r.told(hook.AfterClusterUpgrade.Name)
	}
	return free
}

// rests says whether only the end of an upgrade to a version is still to be told.
func (r *run) rests(version string) bool {
	w := r.w.Upgrade
	if w.ControlPlane == nil || !r.pending(hook.AfterClusterUpgrade.Name) || r.pending(hook.AfterControlPlaneUpgrade.Name) || r.pending(hook.AfterWorkersUpgrade.Name) {
		return false
	}
	for _, g := range slices.Concat(w.MachineDeployments, w.MachinePools) {
		if g.Upgrading || g.Version != "" && !upgrade.Same(g.Version, version) {
			return false
		}
	}
	return w.ControlPlane.Settled() && upgrade.Same(w.ControlPlane.Version, version)
}

// Hold is the wait as a reason that holds versions back: the same whatever the handlers say.
func (w Wait) Hold() string { return "hook " + w.Hook + " makes it wait" }
