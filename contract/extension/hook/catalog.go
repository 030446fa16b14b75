package hook

import (
	"slices"

	v1 "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// Discovery asks an extension what it serves. Extensions answer it by themselves.
var Discovery = define[v1.DiscoveryRequest, v1.DiscoveryResponse]("Discovery")

// The hooks in the life of a cluster.
var (
	BeforeClusterCreate          = define[v1.BeforeClusterCreateRequest, v1.BeforeClusterCreateResponse]("BeforeClusterCreate")
	AfterControlPlaneInitialized = define[v1.AfterControlPlaneInitializedRequest, v1.AfterControlPlaneInitializedResponse]("AfterControlPlaneInitialized")
	BeforeClusterUpgrade         = define[v1.BeforeClusterUpgradeRequest, v1.BeforeClusterUpgradeResponse]("BeforeClusterUpgrade")
	BeforeControlPlaneUpgrade    = define[v1.BeforeControlPlaneUpgradeRequest, v1.BeforeControlPlaneUpgradeResponse]("BeforeControlPlaneUpgrade")
	AfterControlPlaneUpgrade     = define[v1.AfterControlPlaneUpgradeRequest, v1.AfterControlPlaneUpgradeResponse]("AfterControlPlaneUpgrade")
	BeforeWorkersUpgrade         = define[v1.BeforeWorkersUpgradeRequest, v1.BeforeWorkersUpgradeResponse]("BeforeWorkersUpgrade")
	AfterWorkersUpgrade          = define[v1.AfterWorkersUpgradeRequest, v1.AfterWorkersUpgradeResponse]("AfterWorkersUpgrade")
	AfterClusterUpgrade          = define[v1.AfterClusterUpgradeRequest, v1.AfterClusterUpgradeResponse]("AfterClusterUpgrade")
	BeforeClusterDelete          = define[v1.BeforeClusterDeleteRequest, v1.BeforeClusterDeleteResponse]("BeforeClusterDelete")
)

// The hooks of classes and their patches.
var (
	GeneratePatches     = define[v1.GeneratePatchesRequest, v1.GeneratePatchesResponse]("GeneratePatches")
	ValidateTopology    = define[v1.ValidateTopologyRequest, v1.ValidateTopologyResponse]("ValidateTopology")
	DiscoverVariables   = define[v1.DiscoverVariablesRequest, v1.DiscoverVariablesResponse]("DiscoverVariables")
	GenerateUpgradePlan = define[v1.GenerateUpgradePlanRequest, v1.GenerateUpgradePlanResponse]("GenerateUpgradePlan")
)

// The hooks of updates in place.
var (
	CanUpdateMachine    = define[v1.CanUpdateMachineRequest, v1.CanUpdateMachineResponse]("CanUpdateMachine")
	CanUpdateMachineSet = define[v1.CanUpdateMachineSetRequest, v1.CanUpdateMachineSetResponse]("CanUpdateMachineSet")
	UpdateMachine       = define[v1.UpdateMachineRequest, v1.UpdateMachineResponse]("UpdateMachine")
)

// catalog holds every hook that an extension can have a handler for.
var catalog = []Definition{
	BeforeClusterCreate.Definition, AfterControlPlaneInitialized.Definition, BeforeClusterUpgrade.Definition,
	BeforeControlPlaneUpgrade.Definition, AfterControlPlaneUpgrade.Definition, BeforeWorkersUpgrade.Definition,
	AfterWorkersUpgrade.Definition, AfterClusterUpgrade.Definition, BeforeClusterDelete.Definition,
	GeneratePatches.Definition, ValidateTopology.Definition, DiscoverVariables.Definition, GenerateUpgradePlan.Definition,
	CanUpdateMachine.Definition, CanUpdateMachineSet.Definition, UpdateMachine.Definition,
}

// All lists every hook that an extension can have a handler for.
func All() []Definition { return slices.Clone(catalog) }

// Find looks a hook up by what identifies it on the wire.
func Find(id v1.GroupVersionHook) (Definition, bool) {
	i := slices.IndexFunc(catalog, func(d Definition) bool { return d.ID() == id })
	if i < 0 {
		return Definition{}, false
	}
	return catalog[i], true
}
