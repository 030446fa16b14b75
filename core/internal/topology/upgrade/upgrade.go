package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// World is what the versions of a cluster are decided from.
type World struct {
	// Wanted is the version of the topology.
	Wanted string
	// Steps are the versions that an upgrade of the control plane goes through, in order, as the class or an extension says.
	// Without any, the way is Wanted alone.
	Steps []string
	// WorkerSteps are those of Steps that the workers go through, too, where an extension says so. Without any, they skip what they
	// need not have.
	WorkerSteps []string
	// ControlPlane is the control plane; nil while it does not exist.
	ControlPlane *ControlPlane
	// MachineDeployments and MachinePools are the worker groups in the order of the topology.
	MachineDeployments, MachinePools []Workers
	// Concurrency is how many worker groups may be upgraded at once; below 1 counts as 1.
	Concurrency int
	// Hold keeps the control plane from its next step: the message of a hook that blocks. HoldWorkers does so for workers.
	Hold, HoldWorkers string
}

// ControlPlane is the state of a control plane.
type ControlPlane struct {
	// Version is the one it is told to have, Observed the lowest it has; empty while it reports none.
	Version, Observed string
	// Busy says why it is not at rest otherwise, such as "it is scaling up"; empty if it is.
	Busy string
}

// Settled says that the control plane has the version that it is told to have, and rests.
func (cp *ControlPlane) Settled() bool {
	return cp.Observed != "" && Same(cp.Observed, cp.Version) && cp.Busy == ""
}

// Workers is the state of a worker group.
type Workers struct {
	Name string
	// Version is the one it is told to have; empty while it does not exist.
	Version string
	// Upgrading says that some of its machines do not have that version yet.
	Upgrading bool
	// Running is the version that all of its machines have; empty when they have several, or there are none.
	Running string
	// Defer keeps this group from upgrading, Hold this one and all that follow.
	Defer, Hold bool
}

// Decision is the version of each part. Parts that must not be created yet have none.
type Decision struct {
	ControlPlane string
	// Next is the version that the control plane gets when nothing holds it any more; empty if there is none.
	Next                             string
	MachineDeployments, MachinePools Groups
	// ControlPlaneWaits says what keeps the control plane from the next version; empty if nothing does.
	ControlPlaneWaits string
}

// Groups is what is decided for the worker groups of one kind.
type Groups struct {
	// Versions are by the names of groups; a group that is not in it must not be created yet.
	Versions map[string]string
	// CreationPending, UpgradePending and UpgradeDeferred name groups, in the order of the topology.
	CreationPending, UpgradePending, UpgradeDeferred []string
}

// Decide says which version each part gets now.
func Decide(w World) (Decision, error) {
	wanted, err := parse(w.Wanted)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{ControlPlane: w.Wanted}
	settled := w.ControlPlane == nil
	if w.ControlPlane != nil {
		if settled, err = d.controlPlane(w, wanted); err != nil {
			return Decision{}, err
		}
	}
	slots := max(w.Concurrency, 1) - upgrading(w.MachineDeployments) - upgrading(w.MachinePools)
	d.MachineDeployments, slots = d.groups(w, w.MachineDeployments, settled, slots)
	d.MachinePools, _ = d.groups(w, w.MachinePools, settled, slots)
	return d, nil
}

// controlPlane decides about a control plane that exists; it says whether that has the version it is told to have, and rests.
func (d *Decision) controlPlane(w World, wanted semver.Version) (settled bool, err error) {
	cp := w.ControlPlane
	d.ControlPlane = cp.Version
	have, err := parse(cp.Version)
	if err != nil {
		return false, err
	}
	settled = cp.Settled()
	if wanted.LTE(have) {
		return settled, nil
	}
	next, err := step(w, have, wanted)
	if err != nil {
		return false, err
	}
	d.Next = next
	if d.ControlPlaneWaits = d.obstacle(w); d.ControlPlaneWaits != "" {
		return settled, nil
	}
	d.ControlPlane, d.Next = next, ""
	return false, nil
}

// obstacle says why the control plane cannot take the next step.
func (d *Decision) obstacle(w World) string {
	cp := w.ControlPlane
	switch {
	case cp.Observed == "":
		return "the control plane has no version yet"
	case !Same(cp.Observed, cp.Version):
		return fmt.Sprintf("the control plane is being upgraded to %s", cp.Version)
	case cp.Busy != "":
		return "the control plane is not at rest: " + cp.Busy
	}
	for _, g := range slices.Concat(w.MachineDeployments, w.MachinePools) {
		if g.Upgrading {
			return fmt.Sprintf("workers %s are being upgraded to %s", g.Name, g.Version)
		}
		if g.Version != "" && !g.Defer && !Same(g.Version, cp.Version) && w.takes(cp.Version) {
			return fmt.Sprintf("workers %s are to be upgraded to %s first", g.Name, cp.Version)
		}
		// A kubelet may be up to three minors older than the API server.
		if v, err := parse(g.Version); g.Version != "" && err == nil && d.tooOld(v) {
			return fmt.Sprintf("workers %s with %s are too old for a control plane of %s", g.Name, g.Version, d.Next)
		}
	}
	return w.Hold
}

// skew is how many minor versions a kubelet may be behind its API server.
const skew = 3

func (d *Decision) tooOld(workers semver.Version) bool {
	next, err := parse(d.Next)
	return err == nil && next.Minor > workers.Minor+skew
}

// groups decides about the worker groups of one kind. Slots is how many more may begin an upgrade.
func (d *Decision) groups(w World, groups []Workers, settled bool, slots int) (Groups, int) {
	out := Groups{Versions: map[string]string{}}
	held := w.HoldWorkers != ""
	for _, g := range groups {
		if g.Version == "" {
			if !settled && w.ControlPlane != nil && w.ControlPlane.Observed != "" {
				// Born during an upgrade, it would be replaced right after.
				out.CreationPending = append(out.CreationPending, g.Name)
				continue
			}
			out.Versions[g.Name] = d.ControlPlane
			continue
		}
		out.Versions[g.Name] = g.Version
		if Same(g.Version, w.Wanted) && Same(g.Version, d.ControlPlane) {
			continue
		}
		if Same(g.Running, d.ControlPlane) {
			// Somebody has changed the group by hand: its machines are where they should be. Going back replaces none.
			out.Versions[g.Name] = d.ControlPlane
			continue
		}
		held = held || g.Hold
		switch {
		case g.Defer:
			out.UpgradeDeferred = append(out.UpgradeDeferred, g.Name)
		case settled && !held && slots > 0 && !g.Upgrading && !Same(g.Version, d.ControlPlane) && d.worth(w, g):
			out.Versions[g.Name] = d.ControlPlane
			slots--
		default:
			out.UpgradePending = append(out.UpgradePending, g.Name)
		}
	}
	return out, slots
}

// worth says whether workers shall take the present version of the control plane. On the way through several minors they skip
// those that they need not have: each step replaces all machines.
func (d *Decision) worth(w World, g Workers) bool {
	if Same(d.ControlPlane, w.Wanted) || d.Next == "" {
		return true
	}
	if len(w.WorkerSteps) > 0 {
		return w.takes(d.ControlPlane)
	}
	v, err := parse(g.Version)
	return err == nil && d.tooOld(v)
}

// takes says whether an extension wants the workers to go through a version.
func (w World) takes(version string) bool {
	return slices.ContainsFunc(w.WorkerSteps, func(s string) bool { return Same(s, version) })
}

func upgrading(groups []Workers) (n int) {
	for _, g := range groups {
		if g.Upgrading {
			n++
		}
	}
	return n
}

// step is the next version on the way.
func step(w World, have, wanted semver.Version) (string, error) {
	for _, text := range w.Steps {
		v, err := parse(text)
		if err != nil {
			return "", err
		}
		if v.GT(have) && v.LTE(wanted) {
			if v.Minor > have.Minor+1 {
				return "", fmt.Errorf("the way from %s leads to %s next, which leaves a minor version out", w.ControlPlane.Version, text)
			}
			return text, nil
		}
	}
	if wanted.Minor > have.Minor+1 || wanted.Major != have.Major {
		return "", fmt.Errorf("there is no way from %s to %s: list the versions between in spec.kubernetesVersions of the class", w.ControlPlane.Version, w.Wanted)
	}
	return w.Wanted, nil
}

// Plan lists the versions that lie before a part, in order; nothing if it is where it shall be.
func Plan(have, wanted string, steps []string) ([]string, error) {
	w := World{Wanted: wanted, Steps: steps, ControlPlane: &ControlPlane{Version: have}}
	to, err := parse(wanted)
	if err != nil {
		return nil, err
	}
	var plan []string
	for {
		at, err := parse(w.ControlPlane.Version)
		if err != nil {
			return nil, err
		}
		if to.LTE(at) {
			return plan, nil
		}
		next, err := step(w, at, to)
		if err != nil {
			return nil, err
		}
		plan = append(plan, next)
		w.ControlPlane.Version = next
	}
}

// Lowest is the lowest version of groups that exist; empty if there are none.
func Lowest(groups []Workers) string {
	lowest := ""
	for _, g := range groups {
		v, err := parse(g.Version)
		if err != nil {
			continue
		}
		if have, err := parse(lowest); err != nil || v.LT(have) {
			lowest = g.Version
		}
	}
	return lowest
}

// WorkersPlan lists the versions that the workers still go through while the control plane takes those of its plan.
func WorkersPlan(w World, controlPlane []string) []string {
	lowest := Lowest(slices.Concat(w.MachineDeployments, w.MachinePools))
	if lowest == "" || Same(lowest, w.Wanted) {
		return nil
	}
	at, err := parse(lowest)
	if err != nil {
		return nil
	}
	var plan []string
	for i, version := range controlPlane {
		v, err := parse(version)
		if err != nil || v.LTE(at) || Same(version, w.Wanted) {
			continue
		}
		needed := w.takes(version)
		if len(w.WorkerSteps) == 0 && i+1 < len(controlPlane) {
			next, err := parse(controlPlane[i+1])
			needed = err == nil && next.Minor > at.Minor+skew
		}
		if needed {
			plan, at = append(plan, version), v
		}
	}
	return append(plan, w.Wanted)
}

func parse(text string) (semver.Version, error) {
	v, err := semver.Parse(strings.TrimPrefix(text, "v"))
	if err != nil {
		return v, fmt.Errorf("%q is no version: %w", text, err)
	}
	return v, nil
}

// Same compares versions with and without v; what is built differently is another version.
func Same(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }
