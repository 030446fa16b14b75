package bootstrapreport

// Cause is the class of what went wrong, the reason of the condition. Providers may have causes of their own.
type Cause string

// The causes that this package knows.
const (
	// MachineImageUnavailable: the image of the machine itself cannot be had.
	MachineImageUnavailable Cause = "MachineImageUnavailable"
	// MachineNotStarted: the machine was not made or did not start.
	MachineNotStarted Cause = "MachineNotStarted"
	// BootstrapDataInvalid: the first-boot document cannot be carried out.
	BootstrapDataInvalid Cause = "BootstrapDataInvalid"
	// ContainerRuntimeDown: containerd, or whatever runs containers, does not answer.
	ContainerRuntimeDown Cause = "ContainerRuntimeDown"
	// ContainerImageUnavailable: an image that kubeadm needs cannot be pulled.
	ContainerImageUnavailable Cause = "ContainerImageUnavailable"
	// HostNotPrepared: a setting or program that a Node needs is missing.
	HostNotPrepared Cause = "HostNotPrepared"
	// HostTooSmall: too few CPUs or too little memory.
	HostTooSmall Cause = "HostTooSmall"
	// HostUsedBefore: files or processes of another Node are on the machine.
	HostUsedBefore Cause = "HostUsedBefore"
	// PortInUse: something listens where Kubernetes must.
	PortInUse Cause = "PortInUse"
	// VersionMismatch: kubeadm, kubelet and cluster do not fit together.
	VersionMismatch Cause = "VersionMismatch"
	// ConfigurationInvalid: kubeadm or the kubelet does not accept its configuration.
	ConfigurationInvalid Cause = "ConfigurationInvalid"
	// NameNotResolved: a host name is unknown.
	NameNotResolved Cause = "NameNotResolved"
	// APIServerUnreachable: no connection to the cluster's endpoint.
	APIServerUnreachable Cause = "APIServerUnreachable"
	// NetworkUnreachable: no connection to something else.
	NetworkUnreachable Cause = "NetworkUnreachable"
	// AuthorityMismatch: the cluster's certificate authority is not the expected one.
	AuthorityMismatch Cause = "AuthorityMismatch"
	// CertificateNotValid: a certificate is for another name or another time.
	CertificateNotValid Cause = "CertificateNotValid"
	// CertificatesMissing: a control plane machine lacks the cluster's certificates.
	CertificatesMissing Cause = "CertificatesMissing"
	// TokenUnknown: the bootstrap token has expired or never existed.
	TokenUnknown Cause = "TokenUnknown"
	// Forbidden: the cluster does not allow a request of the joining machine.
	Forbidden Cause = "Forbidden"
	// NodeExists: a Node of the name is there and ready.
	NodeExists Cause = "NodeExists"
	// EtcdUnavailable: the member could not join etcd.
	EtcdUnavailable Cause = "EtcdUnavailable"
	// KubeletUnhealthy: the kubelet does not come up.
	KubeletUnhealthy Cause = "KubeletUnhealthy"
	// ControlPlaneUnhealthy: the static pods do not come up.
	ControlPlaneUnhealthy Cause = "ControlPlaneUnhealthy"
	// DiskFull: no space is left.
	DiskFull Cause = "DiskFull"
	// OutOfMemory: the machine has run out of memory.
	OutOfMemory Cause = "OutOfMemory"
	// CommandNotFound: a program is not installed.
	CommandNotFound Cause = "CommandNotFound"
	// PermissionDenied: a program or file may not be used.
	PermissionDenied Cause = "PermissionDenied"
	// CommandFailed: a command of the user ended with an error.
	CommandFailed Cause = "CommandFailed"
	// TimedOut: the boot did not end in time.
	TimedOut Cause = "TimedOut"
	// Interrupted: the boot was cut short and left no result.
	Interrupted Cause = "Interrupted"
	// Unknown: none of the above.
	Unknown Cause = "Unknown"
)

var advice = map[Cause]string{
	MachineImageUnavailable:   "build or load the image, name another one in the machine's template, or mend the access to its registry.",
	MachineNotStarted:         "see what the infrastructure says about the machine; space, quota and permissions are the usual limits.",
	BootstrapDataInvalid:      "correct the files and commands of the bootstrap configuration, and roll the machines out again.",
	ContainerRuntimeDown:      "look at the container runtime in the image of the machine: its service, socket and configuration.",
	ContainerImageUnavailable: "preload the image or mend the access to its registry; imageRepository names another registry.",
	HostNotPrepared:           "prepare the image of the machine (kernel settings, swap, programs), or do it in preKubeadmCommands.",
	HostTooSmall:              "give the machine more CPUs or memory: a control plane machine needs 2 CPUs and 1700 MB.",
	HostUsedBefore:            "use an image on which kubeadm has never run; files must not write below /etc/kubernetes what kubeadm makes.",
	PortInUse:                 "find out what listens on the port, in the image or started by preKubeadmCommands, and keep it from starting.",
	VersionMismatch:           "use an image with the kubeadm and kubelet of the Machine's spec.version.",
	ConfigurationInvalid:      "correct the field that is named; it must exist in the kubeadm or kubelet of this version.",
	NameNotResolved:           "check the name, and the name servers that the machine uses.",
	APIServerUnreachable:      "check that a control plane machine runs, that the load balancer leads to it, and that firewalls and routes let the machine reach the endpoint.",
	NetworkUnreachable:        "check routes, firewalls and proxy settings of the machine.",
	AuthorityMismatch:         "the endpoint leads to another cluster, or the Secrets with the certificate authorities were replaced: compare <cluster>-ca with the running cluster.",
	CertificateNotValid:       "compare the machine's clock with the cluster's, and the endpoint with the names in apiServer.certSANs.",
	CertificatesMissing:       "check the Secrets <cluster>-ca, -sa, -proxy and -etcd; only machines of a control plane may join as one.",
	TokenUnknown:              "the machine started too late for its token: delete it so that another one is made with a new token. If all fail, raise the lifetime of tokens.",
	Forbidden:                 "the cluster's rules for joining machines were changed or never made: compare roles and bindings in kube-system and kube-public with a fresh cluster.",
	NodeExists:                "delete the Node if its machine is gone, or give the machine another name.",
	EtcdUnavailable:           "look at the etcd members: all of them must be healthy before another one can join.",
	KubeletUnhealthy:          "look at the kubelet's lines below; settings of cgroups, swap and the container runtime are the usual causes.",
	ControlPlaneUnhealthy:     "look at the containers of the control plane below; arguments, certificates and etcd are the usual causes.",
	DiskFull:                  "give the machine a larger disk, or a smaller image.",
	OutOfMemory:               "give the machine more memory.",
	CommandNotFound:           "install the program in the image of the machine, or in an earlier command.",
	PermissionDenied:          "check the permissions of the file, and mount options such as noexec.",
	CommandFailed:             "correct the command in the bootstrap configuration; the status of a list of commands is that of the last one.",
	TimedOut:                  "see below what the machine was doing; a slow machine may need a longer timeout.",
	Interrupted:               "the machine restarted during its first boot, which is done only once: delete the Machine.",
	Unknown:                   "see below what the machine was doing.",
}

// Advice says in a sentence what to look at or do next; nothing for the causes of others.
func (c Cause) Advice() string { return advice[c] }

// Causes are all that this package knows, for documentation and tests.
func Causes() []Cause {
	out := make([]Cause, 0, len(advice))
	for c := range advice {
		out = append(out, c)
	}
	return out
}
