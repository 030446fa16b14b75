package v1beta2

// Condition types: what a condition is about.
const (
	KubeadmControlPlaneInitializedCondition                          = "Initialized"
	KubeadmControlPlaneCertificatesAvailableCondition                = "CertificatesAvailable"
	KubeadmControlPlaneEtcdClusterHealthyCondition                   = "EtcdClusterHealthy"
	KubeadmControlPlaneControlPlaneComponentsHealthyCondition        = "ControlPlaneComponentsHealthy"
	KubeadmControlPlaneAddonsUpToDateCondition                       = "AddonsUpToDate"
	KubeadmControlPlaneMachineAPIServerPodHealthyCondition           = "APIServerPodHealthy"
	KubeadmControlPlaneMachineControllerManagerPodHealthyCondition   = "ControllerManagerPodHealthy"
	KubeadmControlPlaneMachineSchedulerPodHealthyCondition           = "SchedulerPodHealthy"
	KubeadmControlPlaneMachineEtcdPodHealthyCondition                = "EtcdPodHealthy"
	KubeadmControlPlaneMachineEtcdMemberHealthyCondition             = "EtcdMemberHealthy"
	KubeadmControlPlaneMachineNodeKubeadmLabelsAndTaintsSetCondition = "NodeKubeadmLabelsAndTaintsSet"
)

// Reasons: why a condition has its status, one word for machines.
const (
	KubeadmControlPlaneInitializedReason                               = "Initialized"
	KubeadmControlPlaneNotInitializedReason                            = "NotInitialized"
	KubeadmControlPlaneEtcdClusterHealthyReason                        = "Healthy"
	KubeadmControlPlaneEtcdClusterNotHealthyReason                     = "NotHealthy"
	KubeadmControlPlaneEtcdClusterHealthUnknownReason                  = "HealthUnknown"
	KubeadmControlPlaneControlPlaneComponentsHealthyReason             = "Healthy"
	KubeadmControlPlaneControlPlaneComponentsNotHealthyReason          = "NotHealthy"
	KubeadmControlPlaneControlPlaneComponentsHealthUnknownReason       = "HealthUnknown"
	KubeadmControlPlaneMachineCannotBeRemediatedReason                 = "CannotBeRemediated"
	KubeadmControlPlaneMachineRemediationDeferredReason                = "RemediationDeferred"
	KubeadmControlPlaneMachineRemediationMachineDeletingReason         = "MachineDeleting"
	KubeadmControlPlaneDeletingWaitingForWorkersDeletionReason         = "WaitingForWorkersDeletion"
	KubeadmControlPlaneDeletingWaitingForMachineDeletionReason         = "WaitingForMachineDeletion"
	KubeadmControlPlaneMachinePodRunningReason                         = "Running"
	KubeadmControlPlaneMachinePodProvisioningReason                    = "Provisioning"
	KubeadmControlPlaneMachinePodDoesNotExistReason                    = "DoesNotExist"
	KubeadmControlPlaneMachinePodFailedReason                          = "Failed"
	KubeadmControlPlaneMachinePodDeletingReason                        = "Deleting"
	KubeadmControlPlaneMachineEtcdMemberNotHealthyReason               = "NotHealthy"
	KubeadmControlPlaneMachineEtcdMemberHealthyReason                  = "Healthy"
	KubeadmControlPlaneMachineEtcdMemberDeletingReason                 = "Deleting"
	KubeadmControlPlaneMachineNodeKubeadmLabelsAndTaintsNotSetReason   = "NotSet"
	KubeadmControlPlaneMachineNodeKubeadmLabelsAndTaintsSetReason      = "Set"
	KubeadmControlPlaneMachineNodeKubeadmLabelsAndTaintsDeletingReason = "Deleting"
)

// Annotation keys.
const (
	SkipCoreDNSAnnotation           = "controlplane.cluster.x-k8s.io/skip-coredns"
	SkipKubeProxyAnnotation         = "controlplane.cluster.x-k8s.io/skip-kube-proxy"
	RemediationInProgressAnnotation = "controlplane.cluster.x-k8s.io/remediation-in-progress"
	RemediationForAnnotation        = "controlplane.cluster.x-k8s.io/remediation-for"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	KubeadmControlPlaneFinalizer = "kubeadm.controlplane.cluster.x-k8s.io"
)

// Other names on the wire.
const (
	RollingUpdateStrategyType = "RollingUpdate"
)
