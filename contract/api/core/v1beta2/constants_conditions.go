package v1beta2

// Condition types: what a condition is about.
const (
	AvailableCondition            = "Available"
	ReadyCondition                = "Ready"
	BootstrapConfigReadyCondition = "BootstrapConfigReady"
	InfrastructureReadyCondition  = "InfrastructureReady"
	MachinesReadyCondition        = "MachinesReady"
	MachinesUpToDateCondition     = "MachinesUpToDate"
	RollingOutCondition           = "RollingOut"
	ScalingUpCondition            = "ScalingUp"
	ScalingDownCondition          = "ScalingDown"
	RemediatingCondition          = "Remediating"
	DeletingCondition             = "Deleting"
	PausedCondition               = "Paused"
)

// Reasons: why a condition has its status, one word for machines.
const (
	AvailableReason                            = "Available"
	NotAvailableReason                         = "NotAvailable"
	AvailableUnknownReason                     = "AvailableUnknown"
	ReadyReason                                = "Ready"
	NotReadyReason                             = "NotReady"
	ReadyUnknownReason                         = "ReadyUnknown"
	UpToDateReason                             = "UpToDate"
	NotUpToDateReason                          = "NotUpToDate"
	UpToDateUnknownReason                      = "UpToDateUnknown"
	RollingOutReason                           = "RollingOut"
	NotRollingOutReason                        = "NotRollingOut"
	ScalingUpReason                            = "ScalingUp"
	NotScalingUpReason                         = "NotScalingUp"
	ScalingDownReason                          = "ScalingDown"
	NotScalingDownReason                       = "NotScalingDown"
	RemediatingReason                          = "Remediating"
	NotRemediatingReason                       = "NotRemediating"
	NoReplicasReason                           = "NoReplicas"
	WaitingForReplicasSetReason                = "WaitingForReplicasSet"
	InvalidConditionReportedReason             = "InvalidConditionReported"
	InternalErrorReason                        = "InternalError"
	ObjectDoesNotExistReason                   = "ObjectDoesNotExist"
	ObjectDeletedReason                        = "ObjectDeleted"
	NotPausedReason                            = "NotPaused"
	PausedReason                               = "Paused"
	ConnectionDownReason                       = "ConnectionDown"
	NotDeletingReason                          = "NotDeleting"
	DeletingReason                             = "Deleting"
	DeletionCompletedReason                    = "DeletionCompleted"
	InspectionFailedReason                     = "InspectionFailed"
	WaitingForClusterInfrastructureReadyReason = "WaitingForClusterInfrastructureReady"
	WaitingForControlPlaneInitializedReason    = "WaitingForControlPlaneInitialized"
	WaitingForBootstrapDataReason              = "WaitingForBootstrapData"
	ProvisionedReason                          = "Provisioned"
	NotProvisionedReason                       = "NotProvisioned"
)

// Other names on the wire.
const (
	ConditionSeverityError   = "Error"
	ConditionSeverityWarning = "Warning"
	ConditionSeverityInfo    = "Info"
	ConditionSeverityNone    = ""
)
