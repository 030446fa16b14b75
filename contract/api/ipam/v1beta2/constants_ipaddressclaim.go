package v1beta2

// Reasons: why a condition has its status, one word for machines.
const (
	IPAddressClaimReadyAllocationFailedReason = "AllocationFailed"
	IPAddressClaimReadyPoolNotReadyReason     = "PoolNotReady"
	IPAddressClaimReadyPoolExhaustedReason    = "PoolExhausted"
)
