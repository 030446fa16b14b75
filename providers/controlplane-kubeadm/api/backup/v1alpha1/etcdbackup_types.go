package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=etcdbackups,scope=Namespaced,shortName=eb,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Schedule",type="string",JSONPath=".spec.schedule"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type==\"Available\")].status"
// +kubebuilder:printcolumn:name="Last",type="date",JSONPath=".status.lastSnapshot.time"
// +kubebuilder:printcolumn:name="Verified",type="date",JSONPath=".status.lastVerifiedSnapshot.time"
// +kubebuilder:printcolumn:name="Size",type="integer",JSONPath=".status.lastSnapshot.sizeBytes"
// +kubebuilder:printcolumn:name="Revision",type="integer",JSONPath=".status.lastSnapshot.revision"
// +kubebuilder:printcolumn:name="Snapshots",type="integer",JSONPath=".status.snapshots"
// +kubebuilder:printcolumn:name="Next",type="string",JSONPath=".status.nextTime",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"

// EtcdBackup takes snapshots of the etcd of a cluster again and again, and deletes old ones.
type EtcdBackup struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec EtcdBackupSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status EtcdBackupStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *EtcdBackup) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *EtcdBackup) SetConditions(conditions []metav1.Condition) { x.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// EtcdBackupList is a list of EtcdBackup.
type EtcdBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []EtcdBackup `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &EtcdBackup{}, &EtcdBackupList{})
}

// EtcdBackupSpec says which cluster is backed up, when, and where to.
type EtcdBackupSpec struct {
	// clusterName is the name of the Cluster, in the same namespace. Its control plane must be a KubeadmControlPlane
	// that runs etcd on its machines. It cannot be changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot be changed: make another EtcdBackup for another cluster"
	ClusterName string `json:"clusterName,omitempty"`

	// schedule is when snapshots are taken, in UTC: the five fields of cron (minute, hour, day of month, month, day of
	// week), or one of @hourly, @daily, @weekly, @monthly and @yearly. When times were missed, because the manager was down or the
	// cluster could not be reached, one snapshot is taken for all of them.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Schedule string `json:"schedule,omitempty"`

	// suspend stops the taking of snapshots by schedule. Snapshots that are there stay, and old ones are still deleted.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// retention says which snapshots of this backup are kept.
	// +optional
	Retention EtcdBackupRetention `json:"retention,omitempty,omitzero"`

	// destination is where snapshots are stored. A change counts for new snapshots; older ones stay where they are.
	// +required
	Destination Destination `json:"destination,omitempty,omitzero"`

	// encryption says to whom snapshots are encrypted. A change counts for new snapshots.
	// +required
	Encryption Encryption `json:"encryption,omitempty,omitzero"`
}

// EtcdBackupRetention says which snapshots are kept. The newest good one always is.
type EtcdBackupRetention struct {
	// count is how many good snapshots are kept at most; the default is 7.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Count *int32 `json:"count,omitempty"`

	// maxAgeHours is the age in hours after which snapshots are deleted. Unset means that age does not matter.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=876000
	MaxAgeHours *int32 `json:"maxAgeHours,omitempty"`
}

// EtcdBackupStatus says what is observed.
// +kubebuilder:validation:MinProperties=1
type EtcdBackupStatus struct {
	// conditions say how the backup is doing: Available and Scheduled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// lastSnapshot is the newest snapshot that is stored as a whole.
	// +optional
	LastSnapshot *SnapshotSummary `json:"lastSnapshot,omitempty"`

	// lastVerifiedSnapshot is the newest snapshot that was read back, decrypted and opened; its time is when that was done.
	// +optional
	LastVerifiedSnapshot *SnapshotSummary `json:"lastVerifiedSnapshot,omitempty"`

	// lastScheduledTime is the time of the schedule for which a snapshot was asked for last.
	// +optional
	LastScheduledTime *metav1.Time `json:"lastScheduledTime,omitempty"`

	// nextTime is when the next snapshot will be taken.
	// +optional
	NextTime *metav1.Time `json:"nextTime,omitempty"`

	// snapshots is how many stored snapshots this backup has.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Snapshots *int32 `json:"snapshots,omitempty"`

	// observedGeneration is the generation that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// SnapshotSummary tells the most important about one EtcdSnapshot.
type SnapshotSummary struct {
	// name is the name of the EtcdSnapshot.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// time is when it was done.
	// +required
	Time metav1.Time `json:"time,omitempty,omitzero"`

	// revision is the revision of etcd that it holds.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// sizeBytes is the size of what is stored.
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`
}
