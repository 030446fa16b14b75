package topology

import (
	"context"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// plan finds the versions that an upgrade goes through: those of the class, or what its extension says.
func (c *Controller) plan(ctx context.Context, w *World) error {
	w.Steps = w.Class.Spec.KubernetesVersions
	extension := w.Class.Spec.Upgrade.External.GenerateUpgradePlanExtension
	if extension == "" || w.ControlPlane == nil || upgrade.Same(w.ControlPlane.Version, w.Cluster.Spec.Topology.Version) {
		return nil
	}
	if c.Hooks == nil {
		return fmt.Errorf("class %s has upgrades planned by an extension, and extensions are not enabled (feature gate RuntimeSDK)", w.Class.Name)
	}
	versions := w.versions()
	response, err := hookcall.One(ctx, c.Hooks, hook.GenerateUpgradePlan, extension, w.Cluster.Namespace, &hooks.GenerateUpgradePlanRequest{
		Cluster: hookcall.Cluster(w.Cluster), FromControlPlaneKubernetesVersion: w.ControlPlane.Version, ToKubernetesVersion: versions.Wanted,
		FromWorkersKubernetesVersion: upgrade.Lowest(slices.Concat(versions.MachineDeployments, versions.MachinePools)),
	})
	if err != nil {
		return err
	}
	steps, workers, err := planned(w.Cluster, w.ControlPlane.Version, response)
	if err != nil {
		return fmt.Errorf("the plan of extension %s: %w", extension, err)
	}
	if len(steps) > 0 {
		w.Steps, w.WorkerSteps = steps, workers
	}
	return nil
}

// planned reads the plan of an extension and refuses one that leads elsewhere, or nowhere.
func planned(cluster *clusterv1.Cluster, from string, plan *hooks.GenerateUpgradePlanResponse) (controlPlane, workers []string, err error) {
	wanted := cluster.Spec.Topology.Version
	for _, s := range plan.ControlPlaneUpgrades {
		controlPlane = append(controlPlane, s.Version)
	}
	for _, s := range plan.WorkersUpgrades {
		workers = append(workers, s.Version)
	}
	if len(controlPlane) == 0 {
		return nil, nil, nil // the extension gives no response, and its policy lets that pass
	}
	if err := ascending("controlPlaneUpgrades", append([]string{from}, controlPlane...), wanted, 1); err != nil {
		return nil, nil, err
	}
	if len(workers) == 0 {
		return controlPlane, nil, nil
	}
	if err := ascending("workersUpgrades", workers, wanted, 0); err != nil {
		return nil, nil, err
	}
	for _, v := range workers {
		if !upgrade.Same(v, from) && !slices.ContainsFunc(controlPlane, func(s string) bool { return upgrade.Same(s, v) }) {
			return nil, nil, fmt.Errorf("workersUpgrades has %s, which the control plane does not take", v)
		}
	}
	return controlPlane, workers, nil
}

// ascending demands versions that go up to one, by so many minors at most; 0 is any number.
func ascending(field string, versions []string, last string, minors uint64) error {
	var before semver.Version
	for i, text := range versions {
		v, err := semver.ParseTolerant(text)
		switch {
		case err != nil:
			return fmt.Errorf("%s has %q, which is no version", field, answers.Text(text))
		case i > 0 && v.LTE(before):
			return fmt.Errorf("%s does not go up from %s to %s", field, before, v)
		case i > 0 && minors > 0 && (v.Major != before.Major || v.Minor > before.Minor+minors):
			return fmt.Errorf("%s leaves a minor version out between %s and %s", field, before, v)
		}
		before = v
	}
	if end := versions[len(versions)-1]; !upgrade.Same(end, last) {
		return fmt.Errorf("%s ends with %s instead of %s", field, answers.Text(end), last)
	}
	return nil
}
