package v1beta2

// Condition types: what a condition is about.
const (
	MachineHealthCheckRemediationAllowedCondition = "RemediationAllowed"
)

// Reasons: why a condition has its status, one word for machines.
const (
	MachineHealthCheckTooManyUnhealthyReason   = "TooManyUnhealthy"
	MachineHealthCheckRemediationAllowedReason = "RemediationAllowed"
)
