// Package plan says what a changed KubeadmControlPlane would do to each of its machines: replaced, changed in place or
// untouched, and because of which fields. It reads and never writes, and it asks the very functions by which the
// controller decides. It needs controller-runtime.
package plan

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/labels"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/controllers/kubeadmcontrolplane"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/drift"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/kubeadmconfig"
	webhooks "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/webhooks/kubeadmcontrolplane"
)

// Fate is what a change does to a machine in the end.
type Fate = kubeadmcontrolplane.Fate

// The fates of a machine.
const (
	Untouched = kubeadmcontrolplane.Untouched
	InPlace   = kubeadmcontrolplane.InPlace
	Replaced  = kubeadmcontrolplane.Replaced
	Removed   = kubeadmcontrolplane.Removed
)

// Field is one field that changes. From and To are JSON, or plain text for labels, versions and names; empty for an
// absent value. Values that may be secret are not told.
type Field = drift.Difference

// Machine is one machine and its fate, because of fields.
type Machine = kubeadmcontrolplane.PreviewedMachine

// Plan is what the controller would do until nothing is left to be done.
type Plan struct {
	// Machines are in the order in which they would go, then the others by age.
	Machines []Machine
	// Added is how many machines come beyond those that replace another one.
	Added int
	// Blocked says what stands in the way now, and why machines stay that may not be replaced.
	Blocked []string
	// Joining are the differences between what kubeadm finds in the workload cluster when a machine joins and what the
	// control plane wants it to find; a rollout brings it there. Empty if the workload cluster was not asked.
	Joining []Field
}

// Request asks for a plan.
type Request struct {
	// Reader reads the management cluster, Resolver finds contract versions there.
	Reader   client.Reader
	Resolver *contractversion.Resolver
	// Workload reads the workload cluster; nil leaves it out.
	Workload client.Reader
	// Proposed is the control plane as it would be, with the name and namespace of one that exists. Proposing it as it is
	// tells what is going to happen without any change.
	Proposed *controlplanev1.KubeadmControlPlane
	// Now is the time to plan for; zero is the present.
	Now time.Time
	// CanUpdate asks the extension that updates machines in place how much of a difference it covers; the error is [ErrNobody]
	// if there is none. Nil plans as if such updates were off.
	CanUpdate func(ctx context.Context, namespace string, request *hooks.CanUpdateMachineRequest) (*hooks.CanUpdateMachineResponse, error)
}

// ErrNobody says that no extension updates machines in place.
var ErrNobody = hookcall.ErrNobody

// Make makes a plan.
func Make(ctx context.Context, r Request) (*Plan, error) {
	current := &controlplanev1.KubeadmControlPlane{}
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(r.Proposed), current); err != nil {
		return nil, fmt.Errorf("reading KubeadmControlPlane %s: %w", r.Proposed.Name, err)
	}
	if r.Now.IsZero() {
		r.Now = time.Now()
	}
	world, err := kubeadmcontrolplane.Look(ctx, r.Reader, r.Resolver, current, r.Now)
	if err != nil {
		return nil, err
	}
	proposed := current.DeepCopy()
	proposed.Spec = *r.Proposed.Spec.DeepCopy()
	proposed.Annotations = labels.Merge(current.Annotations, r.Proposed.Annotations)
	webhooks.SetDefaults(proposed)
	if r.CanUpdate != nil {
		world.InPlace, err = kubeadmcontrolplane.AskAll(ctx, r.Reader, r.Resolver, r.CanUpdate, *world, proposed)
		if err != nil {
			return nil, err
		}
	}
	preview := kubeadmcontrolplane.Foresee(*world, proposed)
	plan := &Plan{Machines: preview.Machines, Added: preview.Added, Blocked: preview.Blocked}
	if r.Workload != nil {
		plan.Joining, err = joining(ctx, r.Workload, proposed)
	}
	return plan, err
}

func joining(ctx context.Context, workload client.Reader, proposed *controlplanev1.KubeadmControlPlane) ([]Field, error) {
	config := &corev1.ConfigMap{}
	if err := workload.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: kubeadmconfig.Name}, config); err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s of the workload cluster: %w", kubeadmconfig.Name, err)
	}
	return kubeadmconfig.Differences(config.Data[kubeadmconfig.Key], kubeadmcontrolplane.WantedKubeadmConfig(proposed))
}
