package v1beta2

// Condition types: what a condition is about.
const (
	VMProvisionedCondition                          = "VMProvisioned"
	NodeProvisionedCondition                        = "NodeProvisioned"
	EtcdProvisionedCondition                        = "EtcdProvisioned"
	APIServerProvisionedCondition                   = "APIServerProvisioned"
	DevMachineDockerContainerProvisionedCondition   = "ContainerProvisioned"
	DevMachineDockerCGroupsReadyCondition           = "CGroupsReady"
	DevMachineDockerPreLoadedImagesReadyCondition   = "PreLoadedImagesReady"
	DevMachineBootstrapCompletedCondition           = "BootstrapCompleted"
	DevMachineInMemoryVMProvisionedCondition        = "VMProvisioned"
	DevMachineInMemoryNodeProvisionedCondition      = "NodeProvisioned"
	DevMachineInMemoryEtcdProvisionedCondition      = "EtcdProvisioned"
	DevMachineInMemoryAPIServerProvisionedCondition = "APIServerProvisioned"
)

// Reasons: why a condition has its status, one word for machines.
const (
	WaitingControlPlaneInitializedReason                              = "WaitingControlPlaneInitialized"
	VMWaitingForStartupTimeoutReason                                  = "WaitingForStartupTimeout"
	NodeWaitingForStartupTimeoutReason                                = "WaitingForStartupTimeout"
	EtcdWaitingForStartupTimeoutReason                                = "WaitingForStartupTimeout"
	APIServerWaitingForStartupTimeoutReason                           = "WaitingForStartupTimeout"
	DevMachineDockerCGroupsReadyWaitingForContainerReason             = "WaitingForContainer"
	DevMachineDockerPreLoadedImagesReadyWaitingForContainerReason     = "WaitingForContainer"
	DevMachineDockerPreLoadedImagesReadyWaitingForCGroupsReason       = "WaitingForCGroups"
	DevMachineDockerBootstrapCompletedWaitingForContainerReason       = "WaitingForContainer"
	DevMachineDockerBootstrapCompletedWaitingForCGroupsReason         = "WaitingForCGroups"
	DevMachineDockerBootstrapCompletedWaitingForPreloadedImagesReason = "WaitingForPreloadedImages"
	DevMachineDockerBootstrapCompletedReason                          = "Completed"
	DevMachineDockerBootstrapNotCompletedReason                       = "NotCompleted"
	DevMachineDockerBootstrapFailedReason                             = "Failed"
	DevMachineInMemoryVMWaitingForStartupTimeoutReason                = "WaitingForStartupTimeout"
	DevMachineInMemoryNodeWaitingForVMProvisionedReason               = "WaitingForVMProvisioned"
	DevMachineInMemoryNodeWaitingForStartupTimeoutReason              = "WaitingForStartupTimeout"
	DevMachineInMemoryEtcdWaitingForVMProvisionedReason               = "WaitingForVMProvisioned"
	DevMachineInMemoryEtcdWaitingForNodeProvisionedReason             = "WaitingForNodeProvisioned"
	DevMachineInMemoryEtcdWaitingForStartupTimeoutReason              = "WaitingForStartupTimeout"
	DevMachineInMemoryAPIServerWaitingForVMProvisionedReason          = "WaitingForVMProvisioned"
	DevMachineInMemoryAPIServerWaitingForNodeProvisionedReason        = "WaitingForNodeProvisioned"
	DevMachineInMemoryAPIServerWaitingForStartupTimeoutReason         = "WaitingForStartupTimeout"
)

// Annotation keys.
const (
	LoadbalancerWeightAnnotation = "devmachine.infrastructure.cluster.x-k8s.io/weight"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	MachineFinalizer = "dockermachine.infrastructure.cluster.x-k8s.io"
)
