package v1alpha1

const (
	// SnapshotFinalizer keeps an EtcdSnapshot until what is to go with it is gone from its destination.
	SnapshotFinalizer = "backup.slipway.dev/etcdsnapshot"
	// ScheduledTimeAnnotation says on an EtcdSnapshot for which time of its backup's schedule it was made (RFC 3339).
	ScheduledTimeAnnotation = "backup.slipway.dev/scheduled-time"
)

// Keys of the Secret that a destination in S3 names.
const (
	AccessKeyIDKey     = "accessKeyID"
	SecretAccessKeyKey = "secretAccessKey"
	SessionTokenKey    = "sessionToken"
)

// Keys of the Secret that an encryption names.
const (
	// IdentityKey has age identities, one a line. Snapshots are encrypted to them, and can be read back and verified.
	IdentityKey = "identity"
	// RecipientsKey has further age recipients, one a line: keys whose other half is kept elsewhere.
	RecipientsKey = "recipients"
)

// The conditions of an EtcdBackup.
const (
	// AvailableCondition is True while the newest snapshot that was due is there and good.
	AvailableCondition = "Available"
	// AvailableReason says that the newest snapshot is good.
	AvailableReason = "Available"
	// NoSnapshotReason says that there is no good snapshot yet.
	NoSnapshotReason = "NoSnapshot"
	// SnapshotFailingReason says that the newest snapshot cannot be taken.
	SnapshotFailingReason = "SnapshotFailing"
	// SnapshotCorruptReason says that the newest snapshot was read back and is not what it should be.
	SnapshotCorruptReason = "SnapshotCorrupt"

	// ScheduledCondition is True while the next snapshot is planned.
	ScheduledCondition = "Scheduled"
	// ScheduledReason says that status.nextTime is when the next snapshot will be taken.
	ScheduledReason = "Scheduled"
	// SuspendedReason says that spec.suspend is set.
	SuspendedReason = "Suspended"
	// PausedReason says that the cluster or the backup is paused.
	PausedReason = "Paused"
	// ClusterNotFoundReason says that there is no Cluster of the name.
	ClusterNotFoundReason = "ClusterNotFound"
	// InvalidScheduleReason says that the schedule cannot be read.
	InvalidScheduleReason = "InvalidSchedule"
)

// The conditions of an EtcdSnapshot.
const (
	// CompletedCondition is True when the snapshot is stored as a whole.
	CompletedCondition = "Completed"
	// CompletedReason says that the snapshot is stored.
	CompletedReason = "Completed"
	// WaitingForClusterReason says that the workload cluster cannot be reached.
	WaitingForClusterReason = "WaitingForCluster"
	// EtcdNotManagedReason says that the etcd of the cluster is not run by a KubeadmControlPlane.
	EtcdNotManagedReason = "EtcdNotManaged"
	// SecretInvalidReason says that a Secret is missing or does not hold what it should.
	SecretInvalidReason = "SecretInvalid"
	// DestinationInvalidReason says that the destination cannot be used.
	DestinationInvalidReason = "DestinationInvalid"
	// TakingReason says that the snapshot is about to be taken.
	TakingReason = "Taking"
	// FailedReason says that the last attempt failed; there will be another one.
	FailedReason = "Failed"

	// VerifiedCondition is True when the stored snapshot was read back, decrypted, and opened without flaws.
	VerifiedCondition = "Verified"
	// VerifiedReason says that the snapshot is good.
	VerifiedReason = "Verified"
	// NotYetVerifiedReason says that the snapshot has not been read back yet, or that the last attempt failed.
	NotYetVerifiedReason = "NotYetVerified"
	// NoIdentityReason says that what is stored is what was sent, but that there is no identity to decrypt it with.
	NoIdentityReason = "NoIdentity"
	// CorruptReason says that what was read back is not what was taken, or is no sound etcd database.
	CorruptReason = "Corrupt"

	// DeletingCondition says what keeps a snapshot that is being deleted.
	DeletingCondition = "Deleting"
)
