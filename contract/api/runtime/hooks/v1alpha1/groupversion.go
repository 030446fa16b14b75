package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is group and version of the hooks.
var GroupVersion = schema.GroupVersion{Group: "hooks.runtime.cluster.x-k8s.io", Version: "v1alpha1"}

// AddToScheme makes a scheme know requests and responses.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&BeforeClusterCreateRequest{}, &BeforeClusterCreateResponse{},
		&AfterControlPlaneInitializedRequest{}, &AfterControlPlaneInitializedResponse{},
		&BeforeClusterUpgradeRequest{}, &BeforeClusterUpgradeResponse{},
		&BeforeControlPlaneUpgradeRequest{}, &BeforeControlPlaneUpgradeResponse{},
		&AfterControlPlaneUpgradeRequest{}, &AfterControlPlaneUpgradeResponse{},
		&BeforeWorkersUpgradeRequest{}, &BeforeWorkersUpgradeResponse{},
		&AfterWorkersUpgradeRequest{}, &AfterWorkersUpgradeResponse{},
		&AfterClusterUpgradeRequest{}, &AfterClusterUpgradeResponse{},
		&BeforeClusterDeleteRequest{}, &BeforeClusterDeleteResponse{},
		&GenerateUpgradePlanRequest{}, &GenerateUpgradePlanResponse{},
		&CanUpdateMachineRequest{}, &CanUpdateMachineResponse{},
		&CanUpdateMachineSetRequest{}, &CanUpdateMachineSetResponse{},
		&UpdateMachineRequest{}, &UpdateMachineResponse{},
		&GeneratePatchesRequest{}, &GeneratePatchesResponse{},
		&ValidateTopologyRequest{}, &ValidateTopologyResponse{},
		&DiscoverVariablesRequest{}, &DiscoverVariablesResponse{},
		&DiscoveryRequest{}, &DiscoveryResponse{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
