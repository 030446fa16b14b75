package topology

import (
	"context"
	"slices"
	"strconv"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// compute works out which objects there should be. It asks the extensions behind external patches, so that it is the end of what is
// observed and not part of the decision. Extensions are nil where they are off.
func (w *World) compute(ctx context.Context, extensions patches.Extensions) error {
	if w.Lifecycle.HoldCreation {
		return nil
	}
	return w.computeAt(ctx, w.versions(), extensions)
}

func (w *World) computeAt(ctx context.Context, versions upgrade.World, extensions patches.Extensions) error {
	var err error
	if w.Versions, err = upgrade.Decide(versions); err != nil {
		return err
	}
	w.Topology, err = desired.Compute(ctx, desired.World{
		Cluster: w.Cluster, Blueprint: w.Blueprint, Current: w.Current, Versions: w.Versions, Values: w.Values, Overrides: w.Overrides, Extensions: extensions,
		Suffix: w.suffix(),
	})
	return err
}

func (w World) suffix() func(purpose string) string {
	if w.Suffix != nil {
		return w.Suffix
	}
	return func(purpose string) string { return suffix(w.Cluster, purpose) }
}

// versions is the world of the upgrade decision.
func (w World) versions() upgrade.World {
	topology := w.Cluster.Spec.Topology
	u := upgrade.World{Wanted: topology.Version, Steps: w.Steps, WorkerSteps: w.WorkerSteps, ControlPlane: w.ControlPlane, Concurrency: 1,
		Hold: w.Lifecycle.Hold, HoldWorkers: w.Lifecycle.HoldWorkers}
	if n, err := strconv.Atoi(w.Cluster.Annotations[clusterv1.ClusterTopologyUpgradeConcurrencyAnnotation]); err == nil {
		u.Concurrency = n
	}
	for _, t := range topology.Workers.MachineDeployments {
		g := workers(t.Name, t.Metadata.Annotations)
		if md := w.Current.MachineDeployments[t.Name].Object; md != nil {
			g.Version = md.Spec.Template.Spec.Version
			g.Upgrading = md.Status.ObservedGeneration < md.Generation || behind(md.Status.Versions, g.Version)
			g.Running = only(md.Status.Versions)
		}
		u.MachineDeployments = append(u.MachineDeployments, g)
	}
	for _, t := range topology.Workers.MachinePools {
		g := workers(t.Name, t.Metadata.Annotations)
		if mp := w.Current.MachinePools[t.Name].Object; mp != nil {
			g.Version = mp.Spec.Template.Spec.Version
			g.Upgrading = mp.Status.ObservedGeneration < mp.Generation || behind(mp.Status.Versions, g.Version)
			g.Running = only(mp.Status.Versions)
		}
		u.MachinePools = append(u.MachinePools, g)
	}
	return u
}

func workers(name string, annotations map[string]string) upgrade.Workers {
	_, hold := annotations[clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation]
	_, later := annotations[clusterv1.ClusterTopologyDeferUpgradeAnnotation]
	return upgrade.Workers{Name: name, Hold: hold, Defer: later}
}

func behind(have []clusterv1.StatusVersion, wanted string) bool {
	return slices.ContainsFunc(have, func(v clusterv1.StatusVersion) bool { return v.Version != wanted })
}

// only is the version of all machines, if they have one in common.
func only(have []clusterv1.StatusVersion) string {
	if len(have) != 1 {
		return ""
	}
	return have[0].Version
}
