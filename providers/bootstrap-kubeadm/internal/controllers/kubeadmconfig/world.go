package kubeadmconfig

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/decision"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/token"
)

// World is all that is known when a decision about one KubeadmConfig is taken.
type World struct {
	Now    time.Time
	Config *bootstrapv1.KubeadmConfig
	// Machine or Pool owns the config; both are nil while it has no owner.
	Machine *clusterv1.Machine
	Pool    *clusterv1.MachinePool
	// Cluster is nil while it is not known.
	Cluster *clusterv1.Cluster
	// Secret is the data Secret, nil if there is none.
	Secret *corev1.Secret

	Certificates CertificatesView
	Sources      SourcesView
	Remote       RemoteView
	// TokenTTL is how long bootstrap tokens live.
	TokenTTL time.Duration
	// NewToken is a random token, for the case that one is needed.
	NewToken string
}

// CertificatesView are the cluster's key pairs.
type CertificatesView struct {
	Set     []certificates.Entry
	Missing []certificates.Purpose
	Err     error
}

// SourcesView are texts that live outside the config: Secrets, and the version for file templates.
type SourcesView struct {
	// Files and Users are those of the spec, complete.
	Files []bootstrapv1.File
	Users []bootstrapv1.User
	// FileErr and UserErr say why a source could not be read.
	FileErr, UserErr error
}

// RemoteView is the workload cluster.
type RemoteView struct {
	Connected bool
	// Token is the state of the token in the spec.
	Token token.State
	Err   error
}

// Decision is what to do: the config as it should be stored, and actions in order. Status changes count only if all actions succeed.
type Decision struct {
	Config  *bootstrapv1.KubeadmConfig
	Actions []Action
	// After is when to look again; zero when a watch will tell.
	After time.Duration
	Err   error
}

// Action changes something besides the config's status. Actions run in order; the first that fails ends the run.
type Action interface{ isAction() }

// PersistSpec stores what was filled into the spec, before anything is made from it.
type PersistSpec struct{ Spec bootstrapv1.KubeadmConfigSpec }

// AcquireLock makes this machine the one that runs kubeadm init; ends the run quietly if another one is.
type AcquireLock struct{ Why decision.Why }

// ReleaseLock lets other machines go on.
type ReleaseLock struct{}

// GenerateCertificates makes the key pairs that are missing; the next reconcile finds them.
type GenerateCertificates struct{}

// EnsureToken stores a bootstrap token in the workload cluster with its full time to live.
type EnsureToken struct {
	Token string
	Why   decision.Why
}

// StoreData writes the data Secret.
type StoreData struct {
	Content []byte
	Format  string
}

// OwnData makes the config the controller of its data Secret.
type OwnData struct{ Secret *corev1.Secret }

func (PersistSpec) isAction()          {}
func (AcquireLock) isAction()          {}
func (ReleaseLock) isAction()          {}
func (GenerateCertificates) isAction() {}
func (EnsureToken) isAction()          {}
func (StoreData) isAction()            {}

// OwnCertificate makes the Cluster the owner of a certificate's Secret that has none.
type OwnCertificate struct{ Secret *corev1.Secret }

func (OwnCertificate) isAction() {}
func (OwnData) isAction()        {}

// Stage is what a KubeadmConfig is in need of.
type Stage int

// The stages.
const (
	// Idle: no owner or no cluster yet, or being deleted.
	Idle Stage = iota
	// WaitInfrastructure: the cluster's infrastructure is not provisioned.
	WaitInfrastructure
	// WaitControlPlane: a worker before the control plane is initialized.
	WaitControlPlane
	// InitControlPlane: the machine may run kubeadm init.
	InitControlPlane
	// JoinControlPlane and JoinWorker: the machine runs kubeadm join.
	JoinControlPlane
	JoinWorker
	// Adopt: the owner has its data already, the status was lost.
	Adopt
	// Done: the data exists; only the token may need care.
	Done
)

// StageOf says what a config is in need of. It is pure, and cheap enough to decide what must be observed.
func StageOf(w World) Stage {
	switch {
	case !w.Config.DeletionTimestamp.IsZero(), w.Machine == nil && w.Pool == nil, w.Cluster == nil:
		return Idle
	case !isTrue(w.Cluster.Status.Initialization.InfrastructureProvisioned):
		return WaitInfrastructure
	case isTrue(w.Config.Status.Initialization.DataSecretCreated) && w.Config.Status.DataSecretName != "":
		return Done
	case ownerHasData(w):
		return Adopt
	case !isTrue(w.Cluster.Status.Initialization.ControlPlaneInitialized):
		if controlPlane(w) {
			return InitControlPlane
		}
		return WaitControlPlane
	case controlPlane(w):
		return JoinControlPlane
	}
	return JoinWorker
}

func ownerHasData(w World) bool {
	name := ownerDataSecret(w)
	return name != ""
}

func ownerDataSecret(w World) string {
	var name *string
	if w.Machine != nil {
		name = w.Machine.Spec.Bootstrap.DataSecretName
	} else {
		name = w.Pool.Spec.Template.Spec.Bootstrap.DataSecretName
	}
	if name == nil {
		return ""
	}
	return *name
}

// controlPlane: only Machines can be of a control plane.
func controlPlane(w World) bool {
	if w.Machine == nil {
		return false
	}
	_, ok := w.Machine.Labels[clusterv1.MachineControlPlaneLabel]
	return ok
}

// version is the Kubernetes version that the owner wants.
func version(w World) string {
	if w.Machine != nil {
		return w.Machine.Spec.Version
	}
	return w.Pool.Spec.Template.Spec.Version
}

// makesCertificates says whether no control plane object cares for the certificates of a control plane machine's cluster.
func makesCertificates(w World) bool {
	return controlPlane(w) && w.Cluster.Spec.ControlPlaneRef.Name == ""
}

// joined says whether no more token is needed.
func joined(w World) bool {
	if w.Machine != nil {
		return w.Machine.Status.NodeRef.Name != ""
	}
	wanted := int32(1)
	if w.Pool.Spec.Replicas != nil {
		wanted = *w.Pool.Spec.Replicas
	}
	return int32(len(w.Pool.Status.NodeRefs)) == wanted
}

func isTrue(b *bool) bool { return b != nil && *b }
