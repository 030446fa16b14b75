package topology

import (
	"slices"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// Plans are the versions that lie before the control plane and the workers, in order. One that is being rolled out is the first.
type Plans struct{ ControlPlane, Workers []string }

// plansOf finds the plans of the upgrade that goes on; they are empty if there is none, or no way.
func plansOf(w World) *Plans {
	p := &Plans{}
	if w.ControlPlane == nil {
		return p
	}
	u := w.versions()
	steps, err := upgrade.Plan(w.ControlPlane.Version, u.Wanted, u.Steps)
	if err != nil {
		return p
	}
	if at := w.ControlPlane; at.Observed != "" && !upgrade.Same(at.Observed, at.Version) {
		steps = slices.Insert(steps, 0, at.Version)
	}
	p.ControlPlane, p.Workers = steps, upgrade.WorkersPlan(u, steps)
	if at := upgrade.Lowest(slices.Concat(u.MachineDeployments, u.MachinePools)); w.rollingOut(at) && !slices.Contains(p.Workers, at) {
		p.Workers = slices.Insert(p.Workers, 0, at)
	}
	return p
}

// rollingOut says whether a group of workers that is to have a version has machines of another one.
func (w World) rollingOut(version string) bool {
	for _, md := range w.Current.MachineDeployments {
		if o := md.Object; o != nil && o.Spec.Template.Spec.Version == version && behind(o.Status.Versions, version) {
			return true
		}
	}
	for _, mp := range w.Current.MachinePools {
		if o := mp.Object; o != nil && o.Spec.Template.Spec.Version == version && behind(o.Status.Versions, version) {
			return true
		}
	}
	return false
}

// tell writes the plans into the status of a Cluster.
func (p Plans) tell(status *clusterv1.ClusterStatus) {
	if status.ControlPlane == nil && len(p.ControlPlane) > 0 {
		status.ControlPlane = &clusterv1.ClusterControlPlaneStatus{}
	}
	if status.ControlPlane != nil {
		status.ControlPlane.UpgradePlan = stepsOf(p.ControlPlane)
	}
	if status.Workers == nil && len(p.Workers) > 0 {
		status.Workers = &clusterv1.WorkersStatus{}
	}
	if status.Workers != nil {
		status.Workers.UpgradePlan = stepsOf(p.Workers)
	}
}

func stepsOf(versions []string) []clusterv1.UpgradeStep {
	var out []clusterv1.UpgradeStep
	for _, v := range versions {
		out = append(out, clusterv1.UpgradeStep{Version: v})
	}
	return out
}
