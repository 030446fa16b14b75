package kubeadmcontrolplane

import (
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// decideDeletion takes the whole control plane down: workers first, then all machines at once. Neither quorum nor
// leadership matters any more, so the clean-up hook goes together with the machine. Only a live look that finds no
// machine lets the control plane itself go, and with it the Secrets of the cluster, all of them.
func decideDeletion(w World, p *plan) {
	if hasFinalizer(w.ControlPlane) {
		ownSecrets(w, p)
	}
	if len(w.Machines) == 0 {
		if hasFinalizer(w.ControlPlane) {
			p.do(RemoveFinalizer{})
		}
		return
	}
	if len(w.Others) > 0 {
		p.again(deletionPoll)
		return
	}
	for _, m := range w.Machines {
		_, hooked := m.Annotations[machines.CleanupHook]
		if m.deleting() && !hooked {
			continue
		}
		p.do(DeleteMachine{
			Machine: m, Unhook: hooked,
			Why: decision.Because("ControlPlaneDeleting", "the control plane is being deleted"),
		})
	}
}
