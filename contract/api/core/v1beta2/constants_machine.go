package v1beta2

// Condition types: what a condition is about.
const (
	MachineUpToDateCondition             = "UpToDate"
	MachineUpdatingCondition             = "Updating"
	MachineNodeHealthyCondition          = "NodeHealthy"
	MachineNodeReadyCondition            = "NodeReady"
	MachineHealthCheckSucceededCondition = "HealthCheckSucceeded"
	MachineOwnerRemediatedCondition      = "OwnerRemediated"
	MachineExternallyRemediatedCondition = "ExternallyRemediated"
)

// Reasons: why a condition has its status, one word for machines.
const (
	MachineWaitingForMinReadySecondsReason                            = "WaitingForMinReadySeconds"
	MachineUpToDateReason                                             = "UpToDate"
	MachineNotUpToDateReason                                          = "NotUpToDate"
	MachineUpToDateUpdatingReason                                     = "Updating"
	MachineNotUpdatingReason                                          = "NotUpdating"
	MachineInPlaceUpdatingReason                                      = "InPlaceUpdating"
	MachineInPlaceUpdateFailedReason                                  = "InPlaceUpdateFailed"
	MachineBootstrapDataSecretProvidedReason                          = "DataSecretProvided"
	MachineNodeReadyReason                                            = "NodeReady"
	MachineNodeNotReadyReason                                         = "NodeNotReady"
	MachineNodeReadyUnknownReason                                     = "NodeReadyUnknown"
	MachineNodeHealthyReason                                          = "NodeHealthy"
	MachineNodeNotHealthyReason                                       = "NodeNotHealthy"
	MachineNodeHealthUnknownReason                                    = "NodeHealthyUnknown"
	MachineNodeDoesNotExistReason                                     = "NodeDoesNotExist"
	MachineNodeDeletedReason                                          = "NodeDeleted"
	MachineHealthCheckSucceededReason                                 = "HealthCheckSucceeded"
	MachineHealthCheckUnhealthyNodeReason                             = "UnhealthyNode"
	MachineHealthCheckUnhealthyMachineReason                          = "UnhealthyMachine"
	MachineHealthCheckNodeStartupTimeoutReason                        = "NodeStartupTimeout"
	MachineHealthCheckNodeDeletedReason                               = "NodeDeleted"
	MachineHealthCheckHasRemediateAnnotationReason                    = "HasRemediateAnnotation"
	MachineOwnerRemediatedWaitingForRemediationReason                 = "WaitingForRemediation"
	MachineExternallyRemediatedWaitingForRemediationReason            = "WaitingForRemediation"
	MachineExternallyRemediatedRemediationTemplateNotFoundReason      = "RemediationTemplateNotFound"
	MachineExternallyRemediatedRemediationRequestCreationFailedReason = "RemediationRequestCreationFailed"
	MachineDeletingWaitingForPreDrainHookReason                       = "WaitingForPreDrainHook"
	MachineDeletingDrainingNodeReason                                 = "DrainingNode"
	MachineDeletingWaitingForVolumeDetachReason                       = "WaitingForVolumeDetach"
	MachineDeletingWaitingForPreTerminateHookReason                   = "WaitingForPreTerminateHook"
	MachineDeletingWaitingForInfrastructureDeletionReason             = "WaitingForInfrastructureDeletion"
	MachineDeletingWaitingForBootstrapDeletionReason                  = "WaitingForBootstrapDeletion"
	MachineDeletingDeletingNodeReason                                 = "DeletingNode"
)

// Label keys and values.
const (
	MachineControlPlaneLabel     = "cluster.x-k8s.io/control-plane"
	MachineSetNameLabel          = "cluster.x-k8s.io/set-name"
	MachineDeploymentNameLabel   = "cluster.x-k8s.io/deployment-name"
	MachinePoolNameLabel         = "cluster.x-k8s.io/pool-name"
	MachineControlPlaneNameLabel = "cluster.x-k8s.io/control-plane-name"
	NodeRoleLabelPrefix          = "node-role.kubernetes.io"
	NodeRestrictionLabelDomain   = "node-restriction.kubernetes.io"
	ManagedNodeLabelDomain       = "node.cluster.x-k8s.io"
)

// Annotation keys.
const (
	ExcludeNodeDrainingAnnotation            = "machine.cluster.x-k8s.io/exclude-node-draining"
	ExcludeWaitForNodeVolumeDetachAnnotation = "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach"
	PreDrainDeleteHookAnnotationPrefix       = "pre-drain.delete.hook.machine.cluster.x-k8s.io"
	PreTerminateDeleteHookAnnotationPrefix   = "pre-terminate.delete.hook.machine.cluster.x-k8s.io"
	MachineCertificatesExpiryDateAnnotation  = "machine.cluster.x-k8s.io/certificates-expiry"
	ManagedNodeAnnotationDomain              = "node.cluster.x-k8s.io"
	PendingAcknowledgeMoveAnnotation         = "in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move"
	UpdateInProgressAnnotation               = "in-place-updates.internal.cluster.x-k8s.io/update-in-progress"
)

// Finalizers: their holder lets an object go when its work is undone.
const (
	MachineFinalizer = "machine.cluster.x-k8s.io"
)

// Phases: a summary for people; nothing is decided on them.
const (
	MachinePhasePending      = "Pending"
	MachinePhaseProvisioning = "Provisioning"
	MachinePhaseProvisioned  = "Provisioned"
	MachinePhaseRunning      = "Running"
	MachinePhaseUpdating     = "Updating"
	MachinePhaseDeleting     = "Deleting"
	MachinePhaseDeleted      = "Deleted"
	MachinePhaseFailed       = "Failed"
	MachinePhaseUnknown      = "Unknown"
)
