package v1beta2

// Condition types: what a condition is about.
const (
	ClusterClassVariablesReadyCondition      = "VariablesReady"
	ClusterClassRefVersionsUpToDateCondition = "RefVersionsUpToDate"
)

// Reasons: why a condition has its status, one word for machines.
const (
	ClusterClassVariablesReadyReason                        = "VariablesReady"
	ClusterClassVariablesReadyVariableDiscoveryFailedReason = "VariableDiscoveryFailed"
	ClusterClassRefVersionsUpToDateReason                   = "RefVersionsUpToDate"
	ClusterClassRefVersionsNotUpToDateReason                = "RefVersionsNotUpToDate"
)

// Other names on the wire.
const (
	ClusterClassKind    = "ClusterClass"
	FieldValueRequired  = "FieldValueRequired"
	FieldValueDuplicate = "FieldValueDuplicate"
	FieldValueInvalid   = "FieldValueInvalid"
	FieldValueForbidden = "FieldValueForbidden"
)
