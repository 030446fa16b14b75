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

// KubeadmConfig ...
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

// KubeadmConfigSpec ...
// +kubebuilder:validation:MinProperties=1
type KubeadmConfigSpec struct {
	// bootCommands ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=10240
	BootCommands []string `json:"bootCommands,omitempty"`

	// clusterConfiguration ...
	// +optional
	ClusterConfiguration ClusterConfiguration `json:"clusterConfiguration,omitempty,omitzero"`

	// diskSetup ...
	// +optional
	DiskSetup DiskSetup `json:"diskSetup,omitempty,omitzero"`

	// files ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +listType=atomic
	Files []File `json:"files,omitempty"`

	// format ...
	// +optional
	// +kubebuilder:validation:Enum=cloud-config;ignition
	Format string `json:"format,omitempty"`

	// ignition ...
	// +optional
	Ignition IgnitionSpec `json:"ignition,omitempty,omitzero"`

	// initConfiguration ...
	// +optional
	InitConfiguration InitConfiguration `json:"initConfiguration,omitempty,omitzero"`

	// joinConfiguration ...
	// +optional
	JoinConfiguration JoinConfiguration `json:"joinConfiguration,omitempty,omitzero"`

	// mounts ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinItems=1
	// +kubebuilder:validation:items:MaxItems=100
	Mounts [][]string `json:"mounts,omitempty"`

	// ntp ...
	// +optional
	NTP NTP `json:"ntp,omitempty,omitzero"`

	// postKubeadmCommands ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=10240
	PostKubeadmCommands []string `json:"postKubeadmCommands,omitempty"`

	// preKubeadmCommands ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=10240
	PreKubeadmCommands []string `json:"preKubeadmCommands,omitempty"`

	// users ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Users []User `json:"users,omitempty"`

	// verbosity ...
	// +optional
	Verbosity *int32 `json:"verbosity,omitempty"`
}

// ClusterConfiguration ...
// +kubebuilder:validation:MinProperties=1
type ClusterConfiguration struct {
	// apiServer ...
	// +optional
	APIServer APIServer `json:"apiServer,omitempty,omitzero"`

	// caCertificateValidityPeriodDays ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	CACertificateValidityPeriodDays int32 `json:"caCertificateValidityPeriodDays,omitempty"`

	// certificateValidityPeriodDays ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1095
	CertificateValidityPeriodDays int32 `json:"certificateValidityPeriodDays,omitempty"`

	// certificatesDir ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CertificatesDir string `json:"certificatesDir,omitempty"`

	// controlPlaneEndpoint ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ControlPlaneEndpoint string `json:"controlPlaneEndpoint,omitempty"`

	// controllerManager ...
	// +optional
	ControllerManager ControllerManager `json:"controllerManager,omitempty,omitzero"`

	// dns ...
	// +optional
	DNS DNS `json:"dns,omitempty,omitzero"`

	// encryptionAlgorithm ...
	// +optional
	// +kubebuilder:validation:Enum=ECDSA-P256;ECDSA-P384;RSA-2048;RSA-3072;RSA-4096
	EncryptionAlgorithm string `json:"encryptionAlgorithm,omitempty"`

	// etcd ...
	// +optional
	Etcd Etcd `json:"etcd,omitempty,omitzero"`

	// featureGates ...
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`

	// imageRepository ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ImageRepository string `json:"imageRepository,omitempty"`

	// scheduler ...
	// +optional
	Scheduler Scheduler `json:"scheduler,omitempty,omitzero"`
}

// APIServer ...
// +kubebuilder:validation:MinProperties=1
type APIServer struct {
	// certSANs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	CertSANs []string `json:"certSANs,omitempty"`

	// extraArgs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="extraArgs names must be unique"
	ExtraArgs []Arg `json:"extraArgs,omitempty"`

	// extraEnvs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraEnvs []corev1.EnvVar `json:"extraEnvs,omitempty"`

	// extraVolumes ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraVolumes []HostPathMount `json:"extraVolumes,omitempty"`
}

// Arg ...
type Arg struct {
	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// value ...
	// +required
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value"`
}

// HostPathMount ...
type HostPathMount struct {
	// hostPath ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	HostPath string `json:"hostPath,omitempty"`

	// mountPath ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	MountPath string `json:"mountPath,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// pathType ...
	// +optional
	PathType string `json:"pathType,omitempty"`

	// readOnly ...
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`
}

// ControllerManager ...
// +kubebuilder:validation:MinProperties=1
type ControllerManager struct {
	// extraArgs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="extraArgs names must be unique"
	ExtraArgs []Arg `json:"extraArgs,omitempty"`

	// extraEnvs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraEnvs []corev1.EnvVar `json:"extraEnvs,omitempty"`

	// extraVolumes ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraVolumes []HostPathMount `json:"extraVolumes,omitempty"`
}

// DNS ...
// +kubebuilder:validation:MinProperties=1
type DNS struct {
	// imageRepository ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ImageRepository string `json:"imageRepository,omitempty"`

	// imageTag ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ImageTag string `json:"imageTag,omitempty"`
}

// Etcd ...
// +kubebuilder:validation:MinProperties=1
type Etcd struct {
	// external ...
	// +optional
	External ExternalEtcd `json:"external,omitempty,omitzero"`

	// local ...
	// +optional
	Local LocalEtcd `json:"local,omitempty,omitzero"`
}

// ExternalEtcd ...
type ExternalEtcd struct {
	// caFile ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CAFile string `json:"caFile,omitempty"`

	// certFile ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CertFile string `json:"certFile,omitempty"`

	// endpoints ...
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	Endpoints []string `json:"endpoints,omitempty"`

	// keyFile ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	KeyFile string `json:"keyFile,omitempty"`
}

// LocalEtcd ...
// +kubebuilder:validation:MinProperties=1
type LocalEtcd struct {
	// dataDir ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	DataDir string `json:"dataDir,omitempty"`

	// extraArgs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="extraArgs names must be unique"
	ExtraArgs []Arg `json:"extraArgs,omitempty"`

	// extraEnvs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraEnvs []corev1.EnvVar `json:"extraEnvs,omitempty"`

	// imageRepository ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ImageRepository string `json:"imageRepository,omitempty"`

	// imageTag ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ImageTag string `json:"imageTag,omitempty"`

	// peerCertSANs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	PeerCertSANs []string `json:"peerCertSANs,omitempty"`

	// serverCertSANs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	ServerCertSANs []string `json:"serverCertSANs,omitempty"`
}

// Scheduler ...
// +kubebuilder:validation:MinProperties=1
type Scheduler struct {
	// extraArgs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="extraArgs names must be unique"
	ExtraArgs []Arg `json:"extraArgs,omitempty"`

	// extraEnvs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraEnvs []corev1.EnvVar `json:"extraEnvs,omitempty"`

	// extraVolumes ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ExtraVolumes []HostPathMount `json:"extraVolumes,omitempty"`
}

// DiskSetup ...
// +kubebuilder:validation:MinProperties=1
type DiskSetup struct {
	// filesystems ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Filesystems []Filesystem `json:"filesystems,omitempty"`

	// partitions ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Partitions []Partition `json:"partitions,omitempty"`
}

// Filesystem ...
type Filesystem struct {
	// device ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Device string `json:"device,omitempty"`

	// extraOpts ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	ExtraOpts []string `json:"extraOpts,omitempty"`

	// filesystem ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Filesystem string `json:"filesystem,omitempty"`

	// label ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Label string `json:"label,omitempty"`

	// overwrite ...
	// +optional
	Overwrite *bool `json:"overwrite,omitempty"`

	// partition ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Partition string `json:"partition,omitempty"`

	// replaceFS ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	ReplaceFS string `json:"replaceFS,omitempty"`
}

// Partition ...
// +kubebuilder:validation:XValidation:rule="has(self.layout) != has(self.diskLayout)",message="exactly one of layout and diskLayout must be set"
type Partition struct {
	// device ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Device string `json:"device,omitempty"`

	// diskLayout ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	DiskLayout []PartitionDiskLayout `json:"diskLayout,omitempty"`

	// layout ...
	// +optional
	Layout *bool `json:"layout,omitempty"`

	// overwrite ...
	// +optional
	Overwrite *bool `json:"overwrite,omitempty"`

	// tableType ...
	// +optional
	// +kubebuilder:validation:Enum=mbr;gpt
	TableType string `json:"tableType,omitempty"`
}

// PartitionDiskLayout ...
type PartitionDiskLayout struct {
	// partitionType ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=36
	// +kubebuilder:validation:XValidation:rule="self in ['Linux','LinuxSwap','LinuxRAID','LVM','Fat32','NTFS','LinuxExtended'] || self.matches('^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$')",message="must be Linux, LinuxSwap, LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a GPT partition type GUID"
	PartitionType string `json:"partitionType,omitempty"`

	// percentage ...
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Percentage int32 `json:"percentage"`
}

// File ...
type File struct {
	// append ...
	// +optional
	Append *bool `json:"append,omitempty"`

	// content ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Content string `json:"content,omitempty"`

	// contentFormat ...
	// +optional
	// +kubebuilder:validation:Enum=Raw;Template
	ContentFormat string `json:"contentFormat,omitempty"`

	// contentFrom ...
	// +optional
	ContentFrom FileSource `json:"contentFrom,omitempty,omitzero"`

	// encoding ...
	// +optional
	// +kubebuilder:validation:Enum=base64;gzip;gzip+base64
	Encoding string `json:"encoding,omitempty"`

	// owner ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Owner string `json:"owner,omitempty"`

	// path ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`

	// permissions ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	Permissions string `json:"permissions,omitempty"`
}

// FileSource ...
type FileSource struct {
	// secret ...
	// +required
	Secret SecretKeySource `json:"secret,omitempty,omitzero"`
}

// SecretKeySource ...
type SecretKeySource struct {
	// key ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Key string `json:"key,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// IgnitionSpec ...
// +kubebuilder:validation:MinProperties=1
type IgnitionSpec struct {
	// containerLinuxConfig ...
	// +optional
	ContainerLinuxConfig IgnitionContainerLinuxConfig `json:"containerLinuxConfig,omitempty,omitzero"`
}

// IgnitionContainerLinuxConfig ...
// +kubebuilder:validation:MinProperties=1
type IgnitionContainerLinuxConfig struct {
	// additionalConfig ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	AdditionalConfig string `json:"additionalConfig,omitempty"`

	// strict ...
	// +optional
	Strict *bool `json:"strict,omitempty"`
}

// InitConfiguration ...
// +kubebuilder:validation:MinProperties=1
type InitConfiguration struct {
	// bootstrapTokens ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	BootstrapTokens []BootstrapToken `json:"bootstrapTokens,omitempty"`

	// localAPIEndpoint ...
	// +optional
	LocalAPIEndpoint LocalAPIEndpoint `json:"localAPIEndpoint,omitempty,omitzero"`

	// nodeRegistration ...
	// +optional
	NodeRegistration NodeRegistrationOptions `json:"nodeRegistration,omitempty,omitzero"`

	// patches ...
	// +optional
	Patches Patches `json:"patches,omitempty,omitzero"`

	// skipPhases ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	SkipPhases []string `json:"skipPhases,omitempty"`

	// timeouts ...
	// +optional
	Timeouts Timeouts `json:"timeouts,omitempty,omitzero"`
}

// BootstrapToken ...
type BootstrapToken struct {
	// description ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Description string `json:"description,omitempty"`

	// expires ...
	// +optional
	Expires metav1.Time `json:"expires,omitempty,omitzero"`

	// groups ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Groups []string `json:"groups,omitempty"`

	// token ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=23
	Token string `json:"token,omitempty"`

	// ttlSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSeconds *int32 `json:"ttlSeconds,omitempty"`

	// usages ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Usages []string `json:"usages,omitempty"`
}

// LocalAPIEndpoint ...
// +kubebuilder:validation:MinProperties=1
type LocalAPIEndpoint struct {
	// advertiseAddress ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=39
	AdvertiseAddress string `json:"advertiseAddress,omitempty"`

	// bindPort ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	BindPort int32 `json:"bindPort,omitempty"`
}

// NodeRegistrationOptions ...
// +kubebuilder:validation:MinProperties=1
type NodeRegistrationOptions struct {
	// criSocket ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CRISocket string `json:"criSocket,omitempty"`

	// ignorePreflightErrors ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	IgnorePreflightErrors []string `json:"ignorePreflightErrors,omitempty"`

	// imagePullPolicy ...
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy string `json:"imagePullPolicy,omitempty"`

	// imagePullSerial ...
	// +optional
	ImagePullSerial *bool `json:"imagePullSerial,omitempty"`

	// kubeletExtraArgs ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +listMapKey=value
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.name == y.name))",message="kubeletExtraArgs names must be unique"
	KubeletExtraArgs []Arg `json:"kubeletExtraArgs,omitempty"`

	// name ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// taints ...
	// +optional
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	Taints *[]corev1.Taint `json:"taints,omitempty"`
}

// Patches ...
// +kubebuilder:validation:MinProperties=1
type Patches struct {
	// directory ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Directory string `json:"directory,omitempty"`
}

// Timeouts ...
// +kubebuilder:validation:MinProperties=1
type Timeouts struct {
	// controlPlaneComponentHealthCheckSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	ControlPlaneComponentHealthCheckSeconds *int32 `json:"controlPlaneComponentHealthCheckSeconds,omitempty"`

	// discoverySeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	DiscoverySeconds *int32 `json:"discoverySeconds,omitempty"`

	// etcdAPICallSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	EtcdAPICallSeconds *int32 `json:"etcdAPICallSeconds,omitempty"`

	// kubeletHealthCheckSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	KubeletHealthCheckSeconds *int32 `json:"kubeletHealthCheckSeconds,omitempty"`

	// kubernetesAPICallSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	KubernetesAPICallSeconds *int32 `json:"kubernetesAPICallSeconds,omitempty"`

	// tlsBootstrapSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	TLSBootstrapSeconds *int32 `json:"tlsBootstrapSeconds,omitempty"`
}

// JoinConfiguration ...
// +kubebuilder:validation:MinProperties=1
type JoinConfiguration struct {
	// caCertPath ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CACertPath string `json:"caCertPath,omitempty"`

	// controlPlane ...
	// +optional
	ControlPlane *JoinControlPlane `json:"controlPlane,omitempty"`

	// discovery ...
	// +optional
	Discovery Discovery `json:"discovery,omitempty,omitzero"`

	// nodeRegistration ...
	// +optional
	NodeRegistration NodeRegistrationOptions `json:"nodeRegistration,omitempty,omitzero"`

	// patches ...
	// +optional
	Patches Patches `json:"patches,omitempty,omitzero"`

	// skipPhases ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	SkipPhases []string `json:"skipPhases,omitempty"`

	// timeouts ...
	// +optional
	Timeouts Timeouts `json:"timeouts,omitempty,omitzero"`
}

// JoinControlPlane ...
type JoinControlPlane struct {
	// localAPIEndpoint ...
	// +optional
	LocalAPIEndpoint LocalAPIEndpoint `json:"localAPIEndpoint,omitempty,omitzero"`
}

// Discovery ...
// +kubebuilder:validation:MinProperties=1
type Discovery struct {
	// bootstrapToken ...
	// +optional
	BootstrapToken BootstrapTokenDiscovery `json:"bootstrapToken,omitempty,omitzero"`

	// file ...
	// +optional
	File FileDiscovery `json:"file,omitempty,omitzero"`

	// tlsBootstrapToken ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	TLSBootstrapToken string `json:"tlsBootstrapToken,omitempty"`
}

// BootstrapTokenDiscovery ...
// +kubebuilder:validation:MinProperties=1
type BootstrapTokenDiscovery struct {
	// apiServerEndpoint ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIServerEndpoint string `json:"apiServerEndpoint,omitempty"`

	// caCertHashes ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	CACertHashes []string `json:"caCertHashes,omitempty"`

	// token ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Token string `json:"token,omitempty"`

	// unsafeSkipCAVerification ...
	// +optional
	UnsafeSkipCAVerification *bool `json:"unsafeSkipCAVerification,omitempty"`
}

// FileDiscovery ...
type FileDiscovery struct {
	// kubeConfig ...
	// +optional
	KubeConfig FileDiscoveryKubeConfig `json:"kubeConfig,omitempty,omitzero"`

	// kubeConfigPath ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	KubeConfigPath string `json:"kubeConfigPath,omitempty"`
}

// FileDiscoveryKubeConfig ...
type FileDiscoveryKubeConfig struct {
	// cluster ...
	// +optional
	Cluster FileDiscoveryKubeConfigCluster `json:"cluster,omitempty,omitzero"`

	// user ...
	// +required
	User FileDiscoveryKubeConfigUser `json:"user,omitempty,omitzero"`
}

// FileDiscoveryKubeConfigCluster ...
// +kubebuilder:validation:MinProperties=1
type FileDiscoveryKubeConfigCluster struct {
	// certificateAuthorityData ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=51200
	CertificateAuthorityData string `json:"certificateAuthorityData,omitempty"`

	// insecureSkipTLSVerify ...
	// +optional
	InsecureSkipTLSVerify *bool `json:"insecureSkipTLSVerify,omitempty"`

	// proxyURL ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProxyURL string `json:"proxyURL,omitempty"`

	// server ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Server string `json:"server,omitempty"`

	// tlsServerName ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	TLSServerName string `json:"tlsServerName,omitempty"`
}

// FileDiscoveryKubeConfigUser ...
// +kubebuilder:validation:MinProperties=1
type FileDiscoveryKubeConfigUser struct {
	// authProvider ...
	// +optional
	AuthProvider FileDiscoveryKubeConfigUserAuthProvider `json:"authProvider,omitempty,omitzero"`

	// exec ...
	// +optional
	Exec FileDiscoveryKubeConfigUserExec `json:"exec,omitempty,omitzero"`
}

// FileDiscoveryKubeConfigUserAuthProvider ...
type FileDiscoveryKubeConfigUserAuthProvider struct {
	// config ...
	// +optional
	Config map[string]string `json:"config,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// FileDiscoveryKubeConfigUserExec ...
type FileDiscoveryKubeConfigUserExec struct {
	// apiVersion ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIVersion string `json:"apiVersion,omitempty"`

	// args ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	Args []string `json:"args,omitempty"`

	// command ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Command string `json:"command,omitempty"`

	// env ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Env []FileDiscoveryKubeConfigUserExecEnv `json:"env,omitempty"`

	// provideClusterInfo ...
	// +optional
	ProvideClusterInfo *bool `json:"provideClusterInfo,omitempty"`
}

// FileDiscoveryKubeConfigUserExecEnv ...
type FileDiscoveryKubeConfigUserExecEnv struct {
	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// value ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Value string `json:"value,omitempty"`
}

// NTP ...
// +kubebuilder:validation:MinProperties=1
type NTP struct {
	// enabled ...
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// servers ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	Servers []string `json:"servers,omitempty"`
}

// User ...
type User struct {
	// gecos ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Gecos string `json:"gecos,omitempty"`

	// groups ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Groups string `json:"groups,omitempty"`

	// homeDir ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	HomeDir string `json:"homeDir,omitempty"`

	// inactive ...
	// +optional
	Inactive *bool `json:"inactive,omitempty"`

	// lockPassword ...
	// +optional
	LockPassword *bool `json:"lockPassword,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// passwd ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Passwd string `json:"passwd,omitempty"`

	// passwdFrom ...
	// +optional
	PasswdFrom FileSource `json:"passwdFrom,omitempty,omitzero"`

	// primaryGroup ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	PrimaryGroup string `json:"primaryGroup,omitempty"`

	// shell ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Shell string `json:"shell,omitempty"`

	// sshAuthorizedKeys ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	SSHAuthorizedKeys []string `json:"sshAuthorizedKeys,omitempty"`

	// sudo ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Sudo string `json:"sudo,omitempty"`
}

// KubeadmConfigStatus ...
// +kubebuilder:validation:MinProperties=1
type KubeadmConfigStatus struct {
	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// dataSecretName ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	DataSecretName string `json:"dataSecretName,omitempty"`

	// deprecated ...
	// +optional
	Deprecated KubeadmConfigDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// initialization ...
	// +optional
	Initialization KubeadmConfigInitializationStatus `json:"initialization,omitempty,omitzero"`

	// observedGeneration ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// KubeadmConfigDeprecatedStatus ...
type KubeadmConfigDeprecatedStatus struct {
	// v1beta1 ...
	// +optional
	V1Beta1 *KubeadmConfigDeprecatedV1Beta1Status `json:"v1beta1,omitempty"`
}

// KubeadmConfigDeprecatedV1Beta1Status ...
type KubeadmConfigDeprecatedV1Beta1Status struct {
	// conditions ...
	// +optional
	Conditions []clusterv1.Condition `json:"conditions,omitempty"`

	// failureMessage ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage string `json:"failureMessage,omitempty"`

	// failureReason ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureReason string `json:"failureReason,omitempty"`
}

// KubeadmConfigInitializationStatus ...
// +kubebuilder:validation:MinProperties=1
type KubeadmConfigInitializationStatus struct {
	// dataSecretCreated ...
	// +optional
	DataSecretCreated *bool `json:"dataSecretCreated,omitempty"`
}
