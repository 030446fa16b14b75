package kubeadmcontrolplane

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-capi/slipway/contract/decision"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/coredns"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/remediation"
)

// Action is one thing to do. Every action can be repeated: what was done before a crash is seen by the next observe.
type Action interface{ isAction() }

// AddFinalizer keeps the control plane from vanishing before its machines.
type AddFinalizer struct{}

// RemoveFinalizer lets it go.
type RemoveFinalizer struct{}

// GenerateCertificates makes those certificates of the cluster that do not exist.
type GenerateCertificates struct{}

// WriteKubeconfig creates the kubeconfig Secret, or renews its content.
type WriteKubeconfig struct {
	Renew bool
	decision.Why
}

// OwnTemplate makes the Cluster an owner of the infrastructure template, so that it moves and goes with the cluster.
type OwnTemplate struct{}

// OwnSecret makes this control plane the controller of a Secret of the system that lost it, and labels it again.
type OwnSecret struct {
	Secret *corev1.Secret
	decision.Why
}

// AdoptMachine makes this control plane the controller of a machine that has none.
type AdoptMachine struct{ Machine *Machine }

// UpdateMachine brings what may change in place to a machine and its objects.
type UpdateMachine struct {
	Machine *Machine
	// Machine, Config and Infra say which of the three objects differ.
	Self, Config, Infra bool
}

// CreateMachine creates a machine with its objects.
type CreateMachine struct {
	Name, FailureDomain string
	Init                bool
	// RemediationFor is the record of the remediation that the machine ends; empty for other machines.
	RemediationFor string
	decision.Why
}

// DeleteMachine deletes a machine; Unhook takes the clean-up hook off first, when nothing is to be cleaned up. Remediates
// is set when it failed a health check.
type DeleteMachine struct {
	Machine            *Machine
	Unhook, Remediates bool
	decision.Why
}

// StartUpdate brings a machine and its objects to what is wanted now and has the core call the extension that makes it true.
type StartUpdate struct {
	Machine *Machine
	// Infra is the infrastructure machine, Config what the bootstrap configuration is to be.
	Infra  Change
	Config bootstrapv1.KubeadmConfigSpec
	decision.Why
}

// CancelUpdate takes the mark of an update off a machine of which nothing has been changed yet.
type CancelUpdate struct {
	Machine *Machine
	decision.Why
}

// MoveLeadership hands the leadership of etcd from a node to the first of the candidates that takes it.
type MoveLeadership struct {
	From       string
	Candidates []string
	decision.Why
}

// RemoveMember takes a member out of etcd, asking one of the nodes in Through.
type RemoveMember struct {
	ID      uint64
	Name    string
	Through []string
	decision.Why
}

// ReleaseMachine takes the clean-up hook off a machine that is being deleted.
type ReleaseMachine struct {
	Machine *Machine
	decision.Why
}

// UpdateKubeadmConfig writes the document that kubeadm reads when a machine joins.
type UpdateKubeadmConfig struct {
	Config   *corev1.ConfigMap
	Document string
	decision.Why
}

// GrantKubeletAccess lets the API server of a cluster speak to its kubelets by the role that newer kubeadm expects.
type GrantKubeletAccess struct{ decision.Why }

// UpdateKubeProxy sets the image of kube-proxy.
type UpdateKubeProxy struct {
	Image string
	decision.Why
}

// UpdateCoreDNS sets the image of CoreDNS and brings a Corefile that this version reads.
type UpdateCoreDNS struct {
	Upgrade coredns.Upgrade
	// Config and Document are kubeadm's configuration now and as it is to be; Config is nil if there is none.
	Config   *corev1.ConfigMap
	Document string
	decision.Why
}

// NoteExpiry writes down until when the certificates of a machine are good, as RFC 3339.
type NoteExpiry struct {
	Machine *Machine
	At      string
}

// BeginRemediation writes down that a machine is about to be replaced, before it is deleted.
type BeginRemediation struct{ Record remediation.Record }

// EndRemediation takes that record away again, when the replacement exists or is not needed any more.
type EndRemediation struct{}

// ForgetVerdict takes the mark of a failed health check off a machine that has recovered.
type ForgetVerdict struct{ Machine *Machine }

// Warn tells the user something that only he can change.
type Warn struct{ decision.Why }

func (AddFinalizer) isAction()         {}
func (RemoveFinalizer) isAction()      {}
func (GenerateCertificates) isAction() {}
func (WriteKubeconfig) isAction()      {}
func (OwnTemplate) isAction()          {}
func (OwnSecret) isAction()            {}
func (AdoptMachine) isAction()         {}
func (UpdateMachine) isAction()        {}
func (CreateMachine) isAction()        {}
func (DeleteMachine) isAction()        {}
func (StartUpdate) isAction()          {}
func (CancelUpdate) isAction()         {}
func (MoveLeadership) isAction()       {}
func (RemoveMember) isAction()         {}
func (ReleaseMachine) isAction()       {}
func (UpdateKubeadmConfig) isAction()  {}
func (GrantKubeletAccess) isAction()   {}
func (UpdateKubeProxy) isAction()      {}
func (UpdateCoreDNS) isAction()        {}
func (NoteExpiry) isAction()           {}
func (BeginRemediation) isAction()     {}
func (EndRemediation) isAction()       {}
func (ForgetVerdict) isAction()        {}
func (Warn) isAction()                 {}
