package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// UpgradeStep is one version of a plan.
type UpgradeStep struct {
	// version is the Kubernetes version of the step.
	Version string `json:"version,omitempty"`
}

// GenerateUpgradePlanRequest asks which versions lie between what a cluster has and what it wants.
// +kubebuilder:object:root=true
type GenerateUpgradePlanRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster,omitempty,omitzero"`

	// fromControlPlaneKubernetesVersion is the version of the control plane now.
	FromControlPlaneKubernetesVersion string `json:"fromControlPlaneKubernetesVersion,omitempty"`

	// fromWorkersKubernetesVersion is the lowest version of the workers now; empty if there are none.
	FromWorkersKubernetesVersion string `json:"fromWorkersKubernetesVersion,omitempty"`

	// toKubernetesVersion is the version that is wanted.
	ToKubernetesVersion string `json:"toKubernetesVersion,omitempty"`
}

// GenerateUpgradePlanResponse is the plan: each list ends with the version that is wanted.
// +kubebuilder:object:root=true
type GenerateUpgradePlanResponse struct {
	metav1.TypeMeta `json:",inline"`
	CommonResponse  `json:",inline"`

	// controlPlaneUpgrades lists the versions for the control plane, one minor apart at most.
	ControlPlaneUpgrades []UpgradeStep `json:"controlPlaneUpgrades,omitempty"`

	// workersUpgrades lists the versions for the workers, each of them also one of the control plane's. Empty leaves it to the
	// manager to skip those that the workers need not have.
	WorkersUpgrades []UpgradeStep `json:"workersUpgrades,omitempty"`
}
