package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=kubeadmconfigs,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Data secret created",type="string",JSONPath=".status.initialization.dataSecretCreated"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// KubeadmConfig turns into the first-boot document of one machine, or of all machines of a pool, that installs
// Kubernetes with kubeadm.
type KubeadmConfig struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +optional
	Spec KubeadmConfigSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status KubeadmConfigStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *KubeadmConfig) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *KubeadmConfig) SetConditions(conditions []metav1.Condition) {
	x.Status.Conditions = conditions
}

// +kubebuilder:object:root=true

// KubeadmConfigList is a list of KubeadmConfig.
type KubeadmConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []KubeadmConfig `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &KubeadmConfig{}, &KubeadmConfigList{})
}

// KubeadmConfigSpec says what a machine does at its first boot: the configurations of kubeadm, and files, users, disks
// and commands around it.
// +kubebuilder:validation:MinProperties=1
type KubeadmConfigSpec struct {
	// bootCommands are run early at every boot, before files are written and the network is up. Shell syntax, one command
	// each.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=10240
	BootCommands []string `json:"bootCommands,omitempty"`

	// clusterConfiguration is the part of kubeadm's configuration that holds for the whole cluster. Only the machine that
	// runs kubeadm init uses it; joining control plane machines read the certificates directory and the external etcd from
	// it.
	// +optional
	ClusterConfiguration ClusterConfiguration `json:"clusterConfiguration,omitempty,omitzero"`

	// diskSetup partitions and formats disks before kubeadm runs.
	// +optional
	DiskSetup DiskSetup `json:"diskSetup,omitempty,omitzero"`

	// files are written to the machine before commands run, in this order. A path must not appear twice.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +listType=atomic
	Files []File `json:"files,omitempty"`

	// format is the kind of document: cloud-config, which is the default, or ignition, which needs the feature gate
	// KubeadmBootstrapFormatIgnition.
	// +optional
	// +kubebuilder:validation:Enum=cloud-config;ignition
	Format string `json:"format,omitempty"`

	// ignition holds what applies only with format ignition.
	// +optional
	Ignition IgnitionSpec `json:"ignition,omitempty,omitzero"`

	// initConfiguration is kubeadm's configuration of the machine that starts the cluster. On all others it is ignored.
	// +optional
	InitConfiguration InitConfiguration `json:"initConfiguration,omitempty,omitzero"`

	// joinConfiguration is kubeadm's configuration of a machine that joins. What the user leaves out of discovery is filled
	// in here, and persisted, before the machine's data is made.
	// +optional
	JoinConfiguration JoinConfiguration `json:"joinConfiguration,omitempty,omitzero"`

	// mounts are lines for the machine's fstab: device, mount point, type, options, dump, pass.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinItems=1
	// +kubebuilder:validation:items:MaxItems=100
	Mounts [][]string `json:"mounts,omitempty"`

	// ntp configures time synchronization.
	// +optional
	NTP NTP `json:"ntp,omitempty,omitzero"`

	// postKubeadmCommands are run after kubeadm, even if it failed. Shell syntax, one command each.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=10240
	PostKubeadmCommands []string `json:"postKubeadmCommands,omitempty"`

	// preKubeadmCommands are run before kubeadm. Shell syntax, one command each.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=10240
	PreKubeadmCommands []string `json:"preKubeadmCommands,omitempty"`

	// users are created on the machine.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Users []User `json:"users,omitempty"`

	// verbosity is the level of kubeadm's log, as in its flag --v. Unset leaves the flag out.
	// +optional
	Verbosity *int32 `json:"verbosity,omitempty"`
}

// ClusterConfiguration is what kubeadm init sets up for the whole cluster. Version, name and networks come from the
// Machine and the Cluster.
// +kubebuilder:validation:MinProperties=1
type ClusterConfiguration struct {
	// apiServer configures the API server's static pod.
	// +optional
	APIServer APIServer `json:"apiServer,omitempty,omitzero"`

	// caCertificateValidityPeriodDays is how long generated certificate authorities live, in days; unset is 3650. It counts
	// only when they are made and cannot be changed on a control plane.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	CACertificateValidityPeriodDays int32 `json:"caCertificateValidityPeriodDays,omitempty"`

	// certificateValidityPeriodDays is how long the certificates live that kubeadm signs, in days; unset leaves it to
	// kubeadm, which takes a year. Needs Kubernetes 1.31.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1095
	CertificateValidityPeriodDays int32 `json:"certificateValidityPeriodDays,omitempty"`

	// certificatesDir is where certificates lie on control plane machines; unset is /etc/kubernetes/pki.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CertificatesDir string `json:"certificatesDir,omitempty"`

	// controlPlaneEndpoint is the address of the API servers as host:port. Unset takes the endpoint of the Cluster, and that
	// is then stored here.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ControlPlaneEndpoint string `json:"controlPlaneEndpoint,omitempty"`

	// controllerManager configures the controller manager's static pod.
	// +optional
	ControllerManager ControllerManager `json:"controllerManager,omitempty,omitzero"`

	// dns says which image of CoreDNS is installed.
	// +optional
	DNS DNS `json:"dns,omitempty,omitzero"`

	// encryptionAlgorithm is the type of generated keys; unset is RSA-2048. It applies to what is generated from then on:
	// existing authorities and the service account keys stay. ECDSA-P384 needs Kubernetes 1.34.
	// +optional
	// +kubebuilder:validation:Enum=ECDSA-P256;ECDSA-P384;RSA-2048;RSA-3072;RSA-4096
	EncryptionAlgorithm string `json:"encryptionAlgorithm,omitempty"`

	// etcd says whether kubeadm runs etcd on control plane machines (local, the default) or uses another one (external).
	// +optional
	Etcd Etcd `json:"etcd,omitempty,omitzero"`

	// featureGates are gates of kubeadm itself.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`

	// imageRepository is where kubeadm takes images from; unset is kubeadm's default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ImageRepository string `json:"imageRepository,omitempty"`

	// scheduler configures the scheduler's static pod.
	// +optional
	Scheduler Scheduler `json:"scheduler,omitempty,omitzero"`
}

// APIServer configures the API server's static pod.
// +kubebuilder:validation:MinProperties=1
type APIServer struct {
	// certSANs are further names and addresses in the API server's certificate.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	CertSANs []string `json:"certSANs,omitempty"`

	// extraArgs are further flags of the component. A name must not appear twice.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="extraArgs names must be unique"
	ExtraArgs []Arg `json:"extraArgs,omitempty"`

	// extraEnvs are environment variables of the component. Needs Kubernetes 1.31; for older versions they are left out.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraEnvs []corev1.EnvVar `json:"extraEnvs,omitempty"`

	// extraVolumes are directories and files of the machine that the component sees.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraVolumes []HostPathMount `json:"extraVolumes,omitempty"`
}

// Arg is one flag of a component.
type Arg struct {
	// name is the flag without leading dashes.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// value is the flag's value; it may be empty.
	// +required
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value"`
}

// HostPathMount shows a path of the machine to a component.
type HostPathMount struct {
	// hostPath is the path on the machine.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	HostPath string `json:"hostPath,omitempty"`

	// mountPath is the path in the component's container.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	MountPath string `json:"mountPath,omitempty"`

	// name is the name of the volume in the pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// pathType says what the path must be, or what is created there, such as File or DirectoryOrCreate; see the hostPath
	// volume of pods.
	// +optional
	PathType string `json:"pathType,omitempty"`

	// readOnly keeps the component from writing; unset is false.
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`
}

// ControllerManager configures the controller manager's static pod.
// +kubebuilder:validation:MinProperties=1
type ControllerManager struct {
	// extraArgs are further flags of the component. A name must not appear twice.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="extraArgs names must be unique"
	ExtraArgs []Arg `json:"extraArgs,omitempty"`

	// extraEnvs are environment variables of the component. Needs Kubernetes 1.31; for older versions they are left out.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraEnvs []corev1.EnvVar `json:"extraEnvs,omitempty"`

	// extraVolumes are directories and files of the machine that the component sees.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraVolumes []HostPathMount `json:"extraVolumes,omitempty"`
}

// DNS says which image of CoreDNS is installed.
// +kubebuilder:validation:MinProperties=1
type DNS struct {
	// imageRepository is where the image comes from; unset takes that of the cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ImageRepository string `json:"imageRepository,omitempty"`

	// imageTag is the version of the image; unset takes the one that belongs to the Kubernetes version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ImageTag string `json:"imageTag,omitempty"`
}

// Etcd is where the cluster keeps its state. Local and external exclude each other.
// +kubebuilder:validation:MinProperties=1
type Etcd struct {
	// external is an etcd cluster that somebody else runs.
	// +optional
	External ExternalEtcd `json:"external,omitempty,omitzero"`

	// local configures the etcd member that kubeadm runs on each control plane machine.
	// +optional
	Local LocalEtcd `json:"local,omitempty,omitzero"`
}

// ExternalEtcd is an etcd cluster that somebody else runs. Its certificates come from the Secrets <cluster>-etcd and
// <cluster>-apiserver-etcd-client, which must exist.
type ExternalEtcd struct {
	// caFile is where the authority of etcd's servers is written on control plane machines.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CAFile string `json:"caFile,omitempty"`

	// certFile is where the API server's client certificate is written.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CertFile string `json:"certFile,omitempty"`

	// endpoints are the URLs of the members.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	Endpoints []string `json:"endpoints,omitempty"`

	// keyFile is where the API server's client key is written.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	KeyFile string `json:"keyFile,omitempty"`
}

// LocalEtcd configures the etcd member on each control plane machine.
// +kubebuilder:validation:MinProperties=1
type LocalEtcd struct {
	// dataDir is where etcd keeps its data; unset is /var/lib/etcd.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	DataDir string `json:"dataDir,omitempty"`

	// extraArgs are further flags of the component. A name must not appear twice.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="extraArgs names must be unique"
	ExtraArgs []Arg `json:"extraArgs,omitempty"`

	// extraEnvs are environment variables of the component. Needs Kubernetes 1.31; for older versions they are left out.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraEnvs []corev1.EnvVar `json:"extraEnvs,omitempty"`

	// imageRepository is where the image comes from; unset takes that of the cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ImageRepository string `json:"imageRepository,omitempty"`

	// imageTag is the version of the image; unset takes the one that belongs to the Kubernetes version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ImageTag string `json:"imageTag,omitempty"`

	// peerCertSANs are further names and addresses in the certificate that members show each other.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	PeerCertSANs []string `json:"peerCertSANs,omitempty"`

	// serverCertSANs are further names and addresses in the certificate that members show clients.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	ServerCertSANs []string `json:"serverCertSANs,omitempty"`
}

// Scheduler configures the scheduler's static pod.
// +kubebuilder:validation:MinProperties=1
type Scheduler struct {
	// extraArgs are further flags of the component. A name must not appear twice.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="extraArgs names must be unique"
	ExtraArgs []Arg `json:"extraArgs,omitempty"`

	// extraEnvs are environment variables of the component. Needs Kubernetes 1.31; for older versions they are left out.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraEnvs []corev1.EnvVar `json:"extraEnvs,omitempty"`

	// extraVolumes are directories and files of the machine that the component sees.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraVolumes []HostPathMount `json:"extraVolumes,omitempty"`
}

// DiskSetup partitions and formats disks.
// +kubebuilder:validation:MinProperties=1
type DiskSetup struct {
	// filesystems are made after the partitions.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Filesystems []Filesystem `json:"filesystems,omitempty"`

	// partitions are made first, one entry for each disk.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Partitions []Partition `json:"partitions,omitempty"`
}

// Filesystem is a file system to make.
type Filesystem struct {
	// device is the disk or partition, such as /dev/sdb1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Device string `json:"device,omitempty"`

	// extraOpts are further arguments of the program that makes the file system.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	ExtraOpts []string `json:"extraOpts,omitempty"`

	// filesystem is the type, such as ext4 or xfs.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Filesystem string `json:"filesystem,omitempty"`

	// label is the label by which mounts can name the file system; unset makes none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Label string `json:"label,omitempty"`

	// overwrite makes the file system even where one exists. Unset keeps an existing one.
	// +optional
	Overwrite *bool `json:"overwrite,omitempty"`

	// partition says which partition of the device is meant: auto, any, none or a number.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Partition string `json:"partition,omitempty"`

	// replaceFS is a type of file system that is replaced where it is found although nothing is overwritten otherwise.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	ReplaceFS string `json:"replaceFS,omitempty"`
}

// Partition divides one disk. Exactly one of layout and diskLayout is set.
// +kubebuilder:validation:XValidation:rule="has(self.layout) != has(self.diskLayout)",message="exactly one of layout and diskLayout must be set"
type Partition struct {
	// device is the disk, such as /dev/sdb.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Device string `json:"device,omitempty"`

	// diskLayout are the partitions in their order. Their percentages must not add up to more than 100.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	DiskLayout []PartitionDiskLayout `json:"diskLayout,omitempty"`

	// layout true makes one partition of the whole disk, false makes none.
	// +optional
	Layout *bool `json:"layout,omitempty"`

	// overwrite makes the partitions even where there are some. Use with care: data is lost.
	// +optional
	Overwrite *bool `json:"overwrite,omitempty"`

	// tableType is the type of partition table: mbr or gpt. Unset is mbr.
	// +optional
	// +kubebuilder:validation:Enum=mbr;gpt
	TableType string `json:"tableType,omitempty"`
}

// PartitionDiskLayout is one partition.
type PartitionDiskLayout struct {
	// partitionType is what the partition is for, by name (Linux, LinuxSwap, ...), or the GUID of a GPT partition type.
	// Unset is Linux.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=36
	// +kubebuilder:validation:XValidation:rule="self in ['Linux','LinuxSwap','LinuxRAID','LVM','Fat32','NTFS','LinuxExtended'] || self.matches('^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$')",message="must be Linux, LinuxSwap, LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a GPT partition type GUID"
	PartitionType string `json:"partitionType,omitempty"`

	// percentage is the share of the disk.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Percentage int32 `json:"percentage"`
}

// File is a file to write on the machine.
type File struct {
	// append adds to a file that exists instead of replacing it; unset is false.
	// +optional
	Append *bool `json:"append,omitempty"`

	// content is the text of the file. It excludes contentFrom.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Content string `json:"content,omitempty"`

	// contentFormat says what the content is: Raw, the default, is written as it is; Template is a Go template that can use
	// .controlPlane.version.
	// +optional
	// +kubebuilder:validation:Enum=Raw;Template
	ContentFormat string `json:"contentFormat,omitempty"`

	// contentFrom is where the content is read from when the machine's data is made. Later changes there have no effect.
	// +optional
	ContentFrom FileSource `json:"contentFrom,omitempty,omitzero"`

	// encoding says how the content is encoded; the machine decodes it. Unset is plain text.
	// +optional
	// +kubebuilder:validation:Enum=base64;gzip;gzip+base64
	Encoding string `json:"encoding,omitempty"`

	// owner is the owner of the file as user:group; unset is root:root.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Owner string `json:"owner,omitempty"`

	// path is the absolute path of the file.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`

	// permissions are the file's permissions, such as "0640".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	Permissions string `json:"permissions,omitempty"`
}

// FileSource is where a text is read from.
type FileSource struct {
	// secret is a key of a Secret in the same namespace.
	// +required
	Secret SecretKeySource `json:"secret,omitempty,omitzero"`
}

// SecretKeySource is a key of a Secret.
type SecretKeySource struct {
	// key is the key in the Secret's data.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Key string `json:"key,omitempty"`

	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// IgnitionSpec holds what applies only with format ignition.
// +kubebuilder:validation:MinProperties=1
type IgnitionSpec struct {
	// containerLinuxConfig adds to the generated Container Linux Config.
	// +optional
	ContainerLinuxConfig IgnitionContainerLinuxConfig `json:"containerLinuxConfig,omitempty,omitzero"`
}

// IgnitionContainerLinuxConfig adds to the generated Container Linux Config.
// +kubebuilder:validation:MinProperties=1
type IgnitionContainerLinuxConfig struct {
	// additionalConfig is a Container Linux Config that is merged over the generated one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	AdditionalConfig string `json:"additionalConfig,omitempty"`

	// strict makes warnings about additionalConfig errors; unset is false.
	// +optional
	Strict *bool `json:"strict,omitempty"`
}

// InitConfiguration is kubeadm's configuration of the machine that starts the cluster.
// +kubebuilder:validation:MinProperties=1
type InitConfiguration struct {
	// bootstrapTokens are tokens that kubeadm init creates, besides those that the manager makes for machines.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	BootstrapTokens []BootstrapToken `json:"bootstrapTokens,omitempty"`

	// localAPIEndpoint is where this machine's API server listens.
	// +optional
	LocalAPIEndpoint LocalAPIEndpoint `json:"localAPIEndpoint,omitempty,omitzero"`

	// nodeRegistration says how the Node is registered and its kubelet is started.
	// +optional
	NodeRegistration NodeRegistrationOptions `json:"nodeRegistration,omitempty,omitzero"`

	// patches change the manifests that kubeadm writes.
	// +optional
	Patches Patches `json:"patches,omitempty,omitzero"`

	// skipPhases are phases of kubeadm that are left out.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	SkipPhases []string `json:"skipPhases,omitempty"`

	// timeouts are how long kubeadm waits. For Kubernetes before 1.31 most of them are left out.
	// +optional
	Timeouts Timeouts `json:"timeouts,omitempty,omitzero"`
}

// BootstrapToken is a token with which nodes join.
type BootstrapToken struct {
	// description says for people what the token is for.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Description string `json:"description,omitempty"`

	// expires is when the token ends. It excludes ttlSeconds.
	// +optional
	Expires metav1.Time `json:"expires,omitempty,omitzero"`

	// groups are the groups of whoever uses the token.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Groups []string `json:"groups,omitempty"`

	// token is the token, of the form [a-z0-9]{6}.[a-z0-9]{16}.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=23
	Token string `json:"token,omitempty"`

	// ttlSeconds is how long the token lives, in seconds; 0 is for ever, unset is a day.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSeconds *int32 `json:"ttlSeconds,omitempty"`

	// usages are what the token is for: signing, authentication.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Usages []string `json:"usages,omitempty"`
}

// LocalAPIEndpoint is where a machine's API server listens.
// +kubebuilder:validation:MinProperties=1
type LocalAPIEndpoint struct {
	// advertiseAddress is the address that others are told; unset lets kubeadm find it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=39
	AdvertiseAddress string `json:"advertiseAddress,omitempty"`

	// bindPort is the port; unset is 6443.
	// +optional
	// +kubebuilder:validation:Minimum=1
	BindPort int32 `json:"bindPort,omitempty"`
}

// NodeRegistrationOptions says how the Node is registered and its kubelet is started.
// +kubebuilder:validation:MinProperties=1
type NodeRegistrationOptions struct {
	// criSocket is the container runtime's socket; unset lets kubeadm find it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CRISocket string `json:"criSocket,omitempty"`

	// ignorePreflightErrors are checks of kubeadm whose failure is only a warning.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	IgnorePreflightErrors []string `json:"ignorePreflightErrors,omitempty"`

	// imagePullPolicy says when kubeadm pulls images; unset is IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy string `json:"imagePullPolicy,omitempty"`

	// imagePullSerial pulls images one after the other; unset is true. Needs Kubernetes 1.31.
	// +optional
	ImagePullSerial *bool `json:"imagePullSerial,omitempty"`

	// kubeletExtraArgs are further flags of the kubelet. A name must not appear twice.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="kubeletExtraArgs names must be unique"
	KubeletExtraArgs []Arg `json:"kubeletExtraArgs,omitempty"`

	// name is the Node's name; unset is the machine's host name. It may use instance data: {{ ds.meta_data.local_hostname
	// }}.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// taints are the Node's taints. Unset leaves kubeadm's default, an empty list makes none. Workers get one more, until
	// their Node has the Machine's labels.
	// +optional
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	Taints *[]corev1.Taint `json:"taints,omitempty"`
}

// Patches change the manifests that kubeadm writes.
// +kubebuilder:validation:MinProperties=1
type Patches struct {
	// directory is a directory on the machine with patches; its files come through files.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Directory string `json:"directory,omitempty"`
}

// Timeouts are how long kubeadm waits, in seconds. Unset leaves kubeadm's default.
// +kubebuilder:validation:MinProperties=1
type Timeouts struct {
	// controlPlaneComponentHealthCheckSeconds is for a component of the control plane to become healthy.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ControlPlaneComponentHealthCheckSeconds *int32 `json:"controlPlaneComponentHealthCheckSeconds,omitempty"`

	// discoverySeconds is for finding the cluster when joining.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DiscoverySeconds *int32 `json:"discoverySeconds,omitempty"`

	// etcdAPICallSeconds is for calls to etcd.
	// +optional
	// +kubebuilder:validation:Minimum=0
	EtcdAPICallSeconds *int32 `json:"etcdAPICallSeconds,omitempty"`

	// kubeletHealthCheckSeconds is for the kubelet to become healthy.
	// +optional
	// +kubebuilder:validation:Minimum=0
	KubeletHealthCheckSeconds *int32 `json:"kubeletHealthCheckSeconds,omitempty"`

	// kubernetesAPICallSeconds is for calls to the API server.
	// +optional
	// +kubebuilder:validation:Minimum=0
	KubernetesAPICallSeconds *int32 `json:"kubernetesAPICallSeconds,omitempty"`

	// tlsBootstrapSeconds is for the kubelet to get its certificate.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TLSBootstrapSeconds *int32 `json:"tlsBootstrapSeconds,omitempty"`
}

// JoinConfiguration is kubeadm's configuration of a machine that joins.
// +kubebuilder:validation:MinProperties=1
type JoinConfiguration struct {
	// caCertPath is where the cluster's authority lies on the machine; unset is /etc/kubernetes/pki/ca.crt.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CACertPath string `json:"caCertPath,omitempty"`

	// controlPlane makes the machine part of the control plane. It is set for control plane machines and must not be set for
	// others.
	// +optional
	ControlPlane *JoinControlPlane `json:"controlPlane,omitempty"`

	// discovery says how the machine finds and trusts the cluster. What is unset is filled in.
	// +optional
	Discovery Discovery `json:"discovery,omitempty,omitzero"`

	// nodeRegistration says how the Node is registered and its kubelet is started.
	// +optional
	NodeRegistration NodeRegistrationOptions `json:"nodeRegistration,omitempty,omitzero"`

	// patches change the manifests that kubeadm writes.
	// +optional
	Patches Patches `json:"patches,omitempty,omitzero"`

	// skipPhases are phases of kubeadm that are left out.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	SkipPhases []string `json:"skipPhases,omitempty"`

	// timeouts are how long kubeadm waits. For Kubernetes before 1.31 most of them are left out.
	// +optional
	Timeouts Timeouts `json:"timeouts,omitempty,omitzero"`
}

// JoinControlPlane is what a joining control plane machine has besides a worker.
type JoinControlPlane struct {
	// localAPIEndpoint is where this machine's API server listens.
	// +optional
	LocalAPIEndpoint LocalAPIEndpoint `json:"localAPIEndpoint,omitempty,omitzero"`
}

// Discovery says how a machine finds and trusts the cluster: by a token, which is made when nothing is set, or by a
// file.
// +kubebuilder:validation:MinProperties=1
type Discovery struct {
	// bootstrapToken finds the cluster by a token.
	// +optional
	BootstrapToken BootstrapTokenDiscovery `json:"bootstrapToken,omitempty,omitzero"`

	// file finds the cluster by a kubeconfig on the machine. No token is made then.
	// +optional
	File FileDiscovery `json:"file,omitempty,omitzero"`

	// tlsBootstrapToken is the token with which the kubelet gets its certificate; unset takes the token of bootstrapToken.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	TLSBootstrapToken string `json:"tlsBootstrapToken,omitempty"`
}

// BootstrapTokenDiscovery finds the cluster by a token.
// +kubebuilder:validation:MinProperties=1
type BootstrapTokenDiscovery struct {
	// apiServerEndpoint is an API server as host:port; unset takes the endpoint of the Cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIServerEndpoint string `json:"apiServerEndpoint,omitempty"`

	// caCertHashes are the cluster's authorities as sha256:<hash of the public key>; unset takes those of the Cluster.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	CACertHashes []string `json:"caCertHashes,omitempty"`

	// token is the token; unset has one made, which is kept alive until the machine has joined.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Token string `json:"token,omitempty"`

	// unsafeSkipCAVerification trusts whoever answers at the endpoint. Do not use it where the network is not trusted.
	// +optional
	UnsafeSkipCAVerification *bool `json:"unsafeSkipCAVerification,omitempty"`
}

// FileDiscovery finds the cluster by a kubeconfig on the machine.
type FileDiscovery struct {
	// kubeConfig has the kubeconfig written to kubeConfigPath. Unset expects it there already.
	// +optional
	KubeConfig FileDiscoveryKubeConfig `json:"kubeConfig,omitempty,omitzero"`

	// kubeConfigPath is the path of the kubeconfig on the machine, or the URL it is loaded from.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	KubeConfigPath string `json:"kubeConfigPath,omitempty"`
}

// FileDiscoveryKubeConfig is a kubeconfig to write.
type FileDiscoveryKubeConfig struct {
	// cluster is how to reach the cluster; what is unset is taken from the Cluster.
	// +optional
	Cluster FileDiscoveryKubeConfigCluster `json:"cluster,omitempty,omitzero"`

	// user is how to authenticate.
	// +required
	User FileDiscoveryKubeConfigUser `json:"user,omitempty,omitzero"`
}

// FileDiscoveryKubeConfigCluster is how a kubeconfig reaches a cluster.
// +kubebuilder:validation:MinProperties=1
type FileDiscoveryKubeConfigCluster struct {
	// certificateAuthorityData are the authorities to trust, PEM in base64 as in every kubeconfig; unset takes the cluster's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=51200
	CertificateAuthorityData []byte `json:"certificateAuthorityData,omitempty"`

	// insecureSkipTLSVerify trusts whoever answers.
	// +optional
	InsecureSkipTLSVerify *bool `json:"insecureSkipTLSVerify,omitempty"`

	// proxyURL is a proxy on the way to the server.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProxyURL string `json:"proxyURL,omitempty"`

	// server is the URL of the API server; unset takes the endpoint of the Cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Server string `json:"server,omitempty"`

	// tlsServerName is the name that the server's certificate must have; unset takes that of the URL.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	TLSServerName string `json:"tlsServerName,omitempty"`
}

// FileDiscoveryKubeConfigUser is how a kubeconfig authenticates. Exactly one of authProvider and exec is set.
// +kubebuilder:validation:MinProperties=1
type FileDiscoveryKubeConfigUser struct {
	// authProvider authenticates by a plug-in that is built into the client.
	// +optional
	AuthProvider FileDiscoveryKubeConfigUserAuthProvider `json:"authProvider,omitempty,omitzero"`

	// exec authenticates by a program on the machine.
	// +optional
	Exec FileDiscoveryKubeConfigUserExec `json:"exec,omitempty,omitzero"`
}

// FileDiscoveryKubeConfigUserAuthProvider is a plug-in that is built into the client.
type FileDiscoveryKubeConfigUserAuthProvider struct {
	// config are the plug-in's settings.
	// +optional
	Config map[string]string `json:"config,omitempty"`

	// name is the plug-in's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// FileDiscoveryKubeConfigUserExec is a program that prints credentials.
type FileDiscoveryKubeConfigUserExec struct {
	// apiVersion is the version of the program's answer; unset is client.authentication.k8s.io/v1.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIVersion string `json:"apiVersion,omitempty"`

	// args are the program's arguments.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	Args []string `json:"args,omitempty"`

	// command is the program.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Command string `json:"command,omitempty"`

	// env are further environment variables of the program.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Env []FileDiscoveryKubeConfigUserExecEnv `json:"env,omitempty"`

	// provideClusterInfo tells the program about the cluster; unset is false.
	// +optional
	ProvideClusterInfo *bool `json:"provideClusterInfo,omitempty"`
}

// FileDiscoveryKubeConfigUserExecEnv is an environment variable.
type FileDiscoveryKubeConfigUserExecEnv struct {
	// name is the variable's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// value is the variable's value.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Value string `json:"value,omitempty"`
}

// NTP configures time synchronization.
// +kubebuilder:validation:MinProperties=1
type NTP struct {
	// enabled turns it on or off; unset leaves the image's setting.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// servers are the time servers; unset leaves the image's.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	Servers []string `json:"servers,omitempty"`
}

// User is a user to create on the machine.
type User struct {
	// gecos is the user's full name, as in passwd.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Gecos string `json:"gecos,omitempty"`

	// groups are further groups of the user, separated by comma and space.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Groups string `json:"groups,omitempty"`

	// homeDir is the home directory; unset is the system's default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	HomeDir string `json:"homeDir,omitempty"`

	// inactive disables the user; unset is false.
	// +optional
	Inactive *bool `json:"inactive,omitempty"`

	// lockPassword keeps the user from logging in by password; unset is true.
	// +optional
	LockPassword *bool `json:"lockPassword,omitempty"`

	// name is the user's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// passwd is the hash of the password. It excludes passwdFrom.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Passwd string `json:"passwd,omitempty"`

	// passwdFrom is where the hash of the password is read from when the machine's data is made.
	// +optional
	PasswdFrom FileSource `json:"passwdFrom,omitempty,omitzero"`

	// primaryGroup is the user's main group; unset makes one of the user's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	PrimaryGroup string `json:"primaryGroup,omitempty"`

	// shell is the login shell; unset is the system's default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Shell string `json:"shell,omitempty"`

	// sshAuthorizedKeys are the public keys with which the user logs in.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	SSHAuthorizedKeys []string `json:"sshAuthorizedKeys,omitempty"`

	// sudo is the user's rule for sudo; unset gives no right.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Sudo string `json:"sudo,omitempty"`
}

// KubeadmConfigStatus is what is known about a machine's data.
// +kubebuilder:validation:MinProperties=1
type KubeadmConfigStatus struct {
	// conditions say what is well and what is not, and why.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// dataSecretName is the Secret with the first-boot document.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	DataSecretName string `json:"dataSecretName,omitempty"`

	// deprecated holds what only readers of older API versions look at.
	// +optional
	Deprecated KubeadmConfigDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// initialization is what the Machine waits for.
	// +optional
	Initialization KubeadmConfigInitializationStatus `json:"initialization,omitempty,omitzero"`

	// observedGeneration is the newest generation of the spec that the controller has dealt with.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// KubeadmConfigDeprecatedStatus holds what only readers of older API versions look at.
type KubeadmConfigDeprecatedStatus struct {
	// v1beta1 holds what only readers of v1beta1 look at.
	// +optional
	V1Beta1 *KubeadmConfigDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// KubeadmConfigDeprecatedV1Beta1Status holds what only readers of v1beta1 look at.
type KubeadmConfigDeprecatedV1Beta1Status struct {
	// conditions say what is well and what is not, and why.
	// +optional
	Conditions []clusterv1.Condition `json:"conditions,omitempty"`

	// failureMessage says what has failed for good, for readers of v1beta1.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage string `json:"failureMessage,omitempty"`

	// failureReason is the word for what has failed for good, for readers of v1beta1.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureReason string `json:"failureReason,omitempty"`
}

// KubeadmConfigInitializationStatus is what the Machine waits for.
// +kubebuilder:validation:MinProperties=1
type KubeadmConfigInitializationStatus struct {
	// dataSecretCreated is true once the data exists; it is never made again for a Machine.
	// +optional
	DataSecretCreated *bool `json:"dataSecretCreated,omitempty"`
}
