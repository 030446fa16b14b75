package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DeletionPolicy says what becomes of stored data when its object is deleted.
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

const (
	// Retain leaves the data where it is.
	Retain DeletionPolicy = "Retain"
	// Delete deletes the data, too.
	Delete DeletionPolicy = "Delete"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=etcdsnapshots,scope=Namespaced,shortName=es,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Backup",type="string",JSONPath=".spec.backupName"
// +kubebuilder:printcolumn:name="Completed",type="string",JSONPath=".status.conditions[?(@.type==\"Completed\")].status"
// +kubebuilder:printcolumn:name="Verified",type="string",JSONPath=".status.conditions[?(@.type==\"Verified\")].status"
// +kubebuilder:printcolumn:name="Revision",type="integer",JSONPath=".status.revision"
// +kubebuilder:printcolumn:name="Size",type="integer",JSONPath=".status.sizeBytes"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.kubernetesVersion"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Location",type="string",JSONPath=".status.location",priority=1

// EtcdSnapshot is one snapshot of the etcd of a cluster. Making one takes one.
type EtcdSnapshot struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec EtcdSnapshotSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status EtcdSnapshotStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *EtcdSnapshot) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *EtcdSnapshot) SetConditions(conditions []metav1.Condition) { x.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// EtcdSnapshotList is a list of EtcdSnapshot.
type EtcdSnapshotList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []EtcdSnapshot `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &EtcdSnapshot{}, &EtcdSnapshotList{})
}

// EtcdSnapshotSpec says of which cluster a snapshot is taken and where it is stored. All but deletionPolicy is fixed.
// +kubebuilder:validation:XValidation:rule="self.clusterName == oldSelf.clusterName && self.destination == oldSelf.destination && self.encryption == oldSelf.encryption && has(self.backupName) == has(oldSelf.backupName) && (!has(self.backupName) || self.backupName == oldSelf.backupName)",message="a snapshot is taken once: only deletionPolicy can be changed"
type EtcdSnapshotSpec struct {
	// backupName is the EtcdBackup, in the same namespace, that the snapshot belongs to: its retention counts for it. Of a
	// snapshot made with this field alone, everything else is taken from there.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	BackupName string `json:"backupName,omitempty"`

	// clusterName is the name of the Cluster, in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ClusterName string `json:"clusterName,omitempty"`

	// destination is where the snapshot is stored.
	// +required
	Destination Destination `json:"destination,omitempty,omitzero"`

	// encryption says to whom the snapshot is encrypted.
	// +required
	Encryption Encryption `json:"encryption,omitempty,omitzero"`

	// deletionPolicy says what becomes of the stored snapshot when this object is deleted: Retain, the default, leaves it;
	// Delete deletes it, too. Retention of a backup sets Delete before it deletes the object.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// EtcdSnapshotStatus says what is observed.
// +kubebuilder:validation:MinProperties=1
type EtcdSnapshotStatus struct {
	// conditions say how far the snapshot is: Completed, Verified and, at the end, Deleting.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// location is the name of the stored object, below the directory or the prefix of the destination.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Location string `json:"location,omitempty"`

	// completionTime is when the snapshot was stored as a whole.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// verificationTime is when the snapshot was found to be good.
	// +optional
	VerificationTime *metav1.Time `json:"verificationTime,omitempty"`

	// revision is the revision of etcd that the snapshot holds.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// totalKeys is the number of keys in the database, as `etcdutl snapshot status` counts them.
	// +optional
	TotalKeys int64 `json:"totalKeys,omitempty"`

	// sizeBytes is the size of what is stored.
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`

	// hash is the SHA-256 of what is stored, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash,omitempty"`

	// databaseSizeBytes is the size of the database in it.
	// +optional
	DatabaseSizeBytes int64 `json:"databaseSizeBytes,omitempty"`

	// databaseHash is the SHA-256 of the database in it, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	DatabaseHash string `json:"databaseHash,omitempty"`

	// clusterUID is the UID of the Cluster that the snapshot was taken of.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	ClusterUID string `json:"clusterUID,omitempty"`

	// kubernetesVersion is the version of the control plane when the snapshot was taken.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`

	// etcdVersion is the version of the member that the snapshot is from.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	EtcdVersion string `json:"etcdVersion,omitempty"`

	// memberName is the etcd member that the snapshot is from, which has the name of its Node.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	MemberName string `json:"memberName,omitempty"`

	// observedGeneration is the generation that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}
