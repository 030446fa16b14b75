package v1alpha1

// Destination is where snapshots are stored.
// +kubebuilder:validation:XValidation:rule="has(self.directory) != has(self.s3)",message="set exactly one of directory and s3"
type Destination struct {
	// directory stores snapshots in a directory of the manager, such as one on a PersistentVolume.
	// +optional
	Directory *DirectoryDestination `json:"directory,omitempty"`

	// s3 stores snapshots in a bucket of Amazon S3 or of any server that speaks its protocol.
	// +optional
	S3 *S3Destination `json:"s3,omitempty"`
}

// DirectoryDestination is a directory of the manager.
type DirectoryDestination struct {
	// path is the directory, relative to the one that the manager was given with --etcd-backup-root.
	// Below it each cluster has a directory of its own, <namespace>/<cluster>.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`
}

// S3Destination is a bucket.
type S3Destination struct {
	// endpoint is the URL of the server, such as https://minio.example.com:9000. Unset means Amazon S3 in the region.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`

	// region is the region of the bucket. Servers other than Amazon's mostly take any; the default is us-east-1.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Region string `json:"region,omitempty"`

	// bucket is the name of the bucket, which must exist.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	Bucket string `json:"bucket,omitempty"`

	// prefix starts the names of all objects, without a slash at its ends. After it comes <namespace>/<cluster>/.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Prefix string `json:"prefix,omitempty"`

	// credentialsSecretRef names the Secret with the keys accessKeyID, secretAccessKey and, for temporary credentials,
	// sessionToken. The rights of the manager itself are never used.
	// +required
	CredentialsSecretRef SecretReference `json:"credentialsSecretRef,omitempty,omitzero"`

	// forcePathStyle puts the name of the bucket into the path instead of the host name. Most servers other than
	// Amazon's need it.
	// +optional
	ForcePathStyle *bool `json:"forcePathStyle,omitempty"`

	// caBundle are certificates in PEM of authorities to trust instead of those of the system, for servers with a
	// certificate of one's own.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	CABundle string `json:"caBundle,omitempty"`
}

// Encryption says to whom snapshots are encrypted. They hold all Secrets of the cluster, so they are never stored as they are.
type Encryption struct {
	// secretRef names the Secret with the keys of age (https://age-encryption.org): identity with identities that the
	// manager may decrypt with, and recipients with further public keys. At least one of them is needed; without an
	// identity, snapshots cannot be verified by opening them.
	// +required
	SecretRef SecretReference `json:"secretRef,omitempty,omitzero"`
}

// SecretReference names a Secret in the namespace of the object.
type SecretReference struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}
