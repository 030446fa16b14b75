package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// UpgradeStepInfo is one version that an upgrade goes through.
type UpgradeStepInfo struct {
	// version is the Kubernetes version of the step.
	Version string `json:"version,omitempty"`
}

// BeforeClusterCreateRequest is sent before the objects of a new cluster are made.
// +kubebuilder:object:root=true
type BeforeClusterCreateRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster"`
}

// BeforeClusterCreateResponse says whether to go on, or to ask again later.
// +kubebuilder:object:root=true
type BeforeClusterCreateResponse struct {
	metav1.TypeMeta     `json:",inline"`
	CommonRetryResponse `json:",inline"`
}

// AfterControlPlaneInitializedRequest is sent when the API of a new cluster answers for the first time.
// +kubebuilder:object:root=true
type AfterControlPlaneInitializedRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster"`
}

// AfterControlPlaneInitializedResponse is only recorded: nothing waits for it but the next try.
// +kubebuilder:object:root=true
type AfterControlPlaneInitializedResponse struct {
	metav1.TypeMeta `json:",inline"`
	CommonResponse  `json:",inline"`
}

// BeforeClusterUpgradeRequest is sent before anything of a cluster is upgraded.
// +kubebuilder:object:root=true
type BeforeClusterUpgradeRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster"`

	// fromKubernetesVersion is the version before.
	FromKubernetesVersion string `json:"fromKubernetesVersion"`

	// toKubernetesVersion is the version after.
	ToKubernetesVersion string `json:"toKubernetesVersion"`

	// controlPlaneUpgrades lists the versions that the control plane still goes through, this one included.
	ControlPlaneUpgrades []UpgradeStepInfo `json:"controlPlaneUpgrades,omitempty"`

	// workersUpgrades lists the versions that the workers still go through, this one included.
	WorkersUpgrades []UpgradeStepInfo `json:"workersUpgrades,omitempty"`
}

// BeforeClusterUpgradeResponse says whether to go on, or to ask again later.
// +kubebuilder:object:root=true
type BeforeClusterUpgradeResponse struct {
	metav1.TypeMeta     `json:",inline"`
	CommonRetryResponse `json:",inline"`
}

// BeforeControlPlaneUpgradeRequest is sent before each step of the control plane.
// +kubebuilder:object:root=true
type BeforeControlPlaneUpgradeRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster"`

	// fromKubernetesVersion is the version before.
	FromKubernetesVersion string `json:"fromKubernetesVersion"`

	// toKubernetesVersion is the version after.
	ToKubernetesVersion string `json:"toKubernetesVersion"`

	// controlPlaneUpgrades lists the versions that the control plane still goes through, this one included.
	ControlPlaneUpgrades []UpgradeStepInfo `json:"controlPlaneUpgrades,omitempty"`

	// workersUpgrades lists the versions that the workers still go through, this one included.
	WorkersUpgrades []UpgradeStepInfo `json:"workersUpgrades,omitempty"`
}

// BeforeControlPlaneUpgradeResponse says whether to go on, or to ask again later.
// +kubebuilder:object:root=true
type BeforeControlPlaneUpgradeResponse struct {
	metav1.TypeMeta     `json:",inline"`
	CommonRetryResponse `json:",inline"`
}

// AfterControlPlaneUpgradeRequest is sent when a step of the control plane is done.
// +kubebuilder:object:root=true
type AfterControlPlaneUpgradeRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster"`

	// kubernetesVersion is the version that was reached.
	KubernetesVersion string `json:"kubernetesVersion"`

	// controlPlaneUpgrades lists the versions that the control plane still goes through, this one included.
	ControlPlaneUpgrades []UpgradeStepInfo `json:"controlPlaneUpgrades,omitempty"`

	// workersUpgrades lists the versions that the workers still go through, this one included.
	WorkersUpgrades []UpgradeStepInfo `json:"workersUpgrades,omitempty"`
}

// AfterControlPlaneUpgradeResponse says whether the next step, or the workers, may follow.
// +kubebuilder:object:root=true
type AfterControlPlaneUpgradeResponse struct {
	metav1.TypeMeta     `json:",inline"`
	CommonRetryResponse `json:",inline"`
}

// BeforeWorkersUpgradeRequest is sent before each step of the workers.
// +kubebuilder:object:root=true
type BeforeWorkersUpgradeRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster"`

	// fromKubernetesVersion is the version before.
	FromKubernetesVersion string `json:"fromKubernetesVersion"`

	// toKubernetesVersion is the version after.
	ToKubernetesVersion string `json:"toKubernetesVersion"`

	// controlPlaneUpgrades lists the versions that the control plane still goes through, this one included.
	ControlPlaneUpgrades []UpgradeStepInfo `json:"controlPlaneUpgrades,omitempty"`

	// workersUpgrades lists the versions that the workers still go through, this one included.
	WorkersUpgrades []UpgradeStepInfo `json:"workersUpgrades,omitempty"`
}

// BeforeWorkersUpgradeResponse says whether to go on, or to ask again later.
// +kubebuilder:object:root=true
type BeforeWorkersUpgradeResponse struct {
	metav1.TypeMeta     `json:",inline"`
	CommonRetryResponse `json:",inline"`
}

// AfterWorkersUpgradeRequest is sent when a step of the workers is done.
// +kubebuilder:object:root=true
type AfterWorkersUpgradeRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster"`

	// kubernetesVersion is the version that was reached.
	KubernetesVersion string `json:"kubernetesVersion"`

	// controlPlaneUpgrades lists the versions that the control plane still goes through, this one included.
	ControlPlaneUpgrades []UpgradeStepInfo `json:"controlPlaneUpgrades,omitempty"`

	// workersUpgrades lists the versions that the workers still go through, this one included.
	WorkersUpgrades []UpgradeStepInfo `json:"workersUpgrades,omitempty"`
}

// AfterWorkersUpgradeResponse says whether the next step may follow.
// +kubebuilder:object:root=true
type AfterWorkersUpgradeResponse struct {
	metav1.TypeMeta     `json:",inline"`
	CommonRetryResponse `json:",inline"`
}

// AfterClusterUpgradeRequest is sent when the whole cluster has the new version.
// +kubebuilder:object:root=true
type AfterClusterUpgradeRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster"`

	// kubernetesVersion is the version that was reached.
	KubernetesVersion string `json:"kubernetesVersion"`
}

// AfterClusterUpgradeResponse says whether the next upgrade may begin.
// +kubebuilder:object:root=true
type AfterClusterUpgradeResponse struct {
	metav1.TypeMeta     `json:",inline"`
	CommonRetryResponse `json:",inline"`
}

// BeforeClusterDeleteRequest is sent when a cluster is to be deleted, before anything of it goes.
// +kubebuilder:object:root=true
type BeforeClusterDeleteRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// cluster is the cluster as it is stored.
	Cluster clusterv1.Cluster `json:"cluster"`
}

// BeforeClusterDeleteResponse says whether to go on, or to ask again later.
// +kubebuilder:object:root=true
type BeforeClusterDeleteResponse struct {
	metav1.TypeMeta     `json:",inline"`
	CommonRetryResponse `json:",inline"`
}
