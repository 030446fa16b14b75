package kubeadmcontrolplane

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/remediation"
)

const (
	// configPoll is how often kubeadm's configuration is looked for while kubeadm init runs on the first machine.
	configPoll = time.Second
	// deletionPoll bounds the wait for worker machines, whose deletion the controller does not watch in detail.
	deletionPoll = 10 * time.Second
)

// Decision is what to do about a control plane and what to report.
type Decision struct {
	// Actions in the order they are to be carried out; the first failure ends the run.
	Actions []Action
	// Status is the control plane's status, conditions included.
	Status controlplanev1.KubeadmControlPlaneStatus
	// MachineConditions are the conditions that this controller reports on Machines, by name of the machine.
	MachineConditions map[string][]metav1.Condition
	// Requeue is when to look again even if nothing happens; zero means never.
	Requeue time.Duration
	// Problem is an error that only a retry can clear.
	Problem string

	// ask is the machine about which an extension must be asked before more can be decided; nil if nothing depends on that.
	ask *Machine
}

// plan collects actions while a decision is being made.
type plan struct {
	actions []Action
	requeue time.Duration
	problem string
	// blocked says why machines cannot be added or removed now.
	blocked []string
	// remediating is the remediation that is going on, nil if none is; unreadable says why that is not known.
	remediating *remediation.Record
	unreadable  string
	// ask is the machine that an extension must be asked about first.
	ask *Machine
	// addons is nil unless the addons were looked at.
	addons *addonReport
}

func (p *plan) do(actions ...Action) { p.actions = append(p.actions, actions...) }

func (p *plan) again(after time.Duration) { p.requeue = decision.Sooner(p.requeue, after) }

// Decide says what to do about a control plane, given all that is known about it. It is pure.
func Decide(w World) Decision {
	if is, _ := paused.Reason(w.Cluster, w.ControlPlane); is {
		return hold(w)
	}
	assessMachines(&w)
	p := &plan{}
	switch {
	case w.deleting():
		decideDeletion(w, p)
	case len(w.Foreign) > 0:
		p.problem = "control plane machines " + listOf(w.Foreign) + " are controlled by somebody else; nothing is done"
	default:
		decideRunning(w, p)
	}
	return conclude(w, p)
}

// hold leaves everything as it is and only says that it does.
func hold(w World) Decision {
	status := *w.ControlPlane.Status.DeepCopy()
	setCondition(&status, w.Now, paused.Condition(w.Cluster, w.ControlPlane))
	return Decision{Status: status}
}

func decideRunning(w World, p *plan) {
	if !hasFinalizer(w.ControlPlane) {
		p.do(AddFinalizer{})
	}
	provideCertificates(w, p)
	ownSecrets(w, p)
	if w.Template.Found && !w.Template.OwnedByCluster {
		p.do(OwnTemplate{})
	}
	if len(w.Orphans) > 0 {
		adopt(w, p)
	} else {
		propagate(w, p)
	}
	if !w.infrastructureReady() || !w.endpointSet() {
		return
	}
	if p.problem == "" && len(w.Orphans) == 0 {
		settleRemediation(w, p)
		firstOf(w, p, removeStrayMember, releaseDeletingMachine, remediate, carryOnUpdate, rollOut, scale)
	}
	// The kubeconfig comes last: its key takes a while to make, and the machine can boot meanwhile.
	provideKubeconfig(w, p)
	noteExpiry(w, p)
	updateAddons(w, p)
}

// firstOf runs the steps until one has something to do or must be waited for.
func firstOf(w World, p *plan, steps ...func(World, *plan) bool) {
	for _, step := range steps {
		if step(w, p) {
			return
		}
	}
}

// provideCertificates makes what is missing as early as possible: keys take long. Once the cluster runs nothing is
// ever made again, because a new authority would cut off every node.
func provideCertificates(w World, p *plan) {
	switch {
	case w.Certificates.Problem != "":
		p.problem = w.Certificates.Problem
	case len(w.Certificates.Missing) > 0 && !w.initialized():
		p.do(GenerateCertificates{})
	}
}

// ownSecrets takes back the Secrets of the system that lost their owner: without one they would outlive the cluster, and
// the next one of its name would run with its authorities. A control plane that the cluster has left for another one takes
// nothing.
func ownSecrets(w World, p *plan) {
	if ref := w.Cluster.Spec.ControlPlaneRef; ref.Name != "" && (ref.Name != w.ControlPlane.Name || ref.Kind != machines.ControlPlaneGVK.Kind) {
		return
	}
	owner := ownership.ControllerReference(w.ControlPlane, machines.ControlPlaneGVK)
	for _, secret := range w.Secrets {
		if certificates.LostOwner(secret, w.Cluster.Name, owner) {
			p.do(OwnSecret{Secret: secret, Why: decision.Because("SecretTaken", "Secret %s had no longer this owner or the label of its cluster", secret.Name)})
		}
	}
}

func provideKubeconfig(w World, p *plan) {
	k := w.Kubeconfig
	made := len(w.Certificates.Missing) > 0 && !w.initialized()
	switch {
	case k.Exists && !k.Ours:
	case !w.Certificates.CanSign && !made:
		if !k.Exists {
			p.blocked = append(p.blocked, "the cluster authority or its key is missing, so there is no kubeconfig")
		}
	case !k.Exists:
		p.do(WriteKubeconfig{Why: decision.Because("KubeconfigMissing", "the cluster has no kubeconfig yet")})
	case k.Problem != "":
		p.do(WriteKubeconfig{Renew: true, Why: decision.Because("KubeconfigBroken", "the kubeconfig cannot be read")})
	case k.Server != kubeconfig.Server(w.Cluster.Spec.ControlPlaneEndpoint):
		p.do(WriteKubeconfig{Renew: true, Why: decision.Because("EndpointChanged", "the kubeconfig leads to %s", k.Server)})
	case k.Expires.Sub(w.Now) < kubeconfig.Validity/2:
		p.do(WriteKubeconfig{Renew: true, Why: decision.Because("KubeconfigExpires", "less than half of its life is left")})
	}
}

func hasFinalizer(object metav1.Object) bool {
	for _, finalizer := range object.GetFinalizers() {
		if finalizer == controlplanev1.KubeadmControlPlaneFinalizer {
			return true
		}
	}
	return false
}

func itoa(n int) string { return strconv.Itoa(n) }
