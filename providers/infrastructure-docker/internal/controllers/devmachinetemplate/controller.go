// Package devmachinetemplate tells in the status of DevMachineTemplates what a machine of theirs will have: its capacity and
// what kind of Node it becomes. An autoscaler needs that for groups that have no machine yet.
package devmachinetemplate

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/contract/paused"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-devmachinetemplate"

// Controller reconciles DevMachineTemplates.
type Controller struct {
	Client client.Client
	// Engine runs the containers; nil where there is no container engine.
	Engine docker.Engine
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devmachinetemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devmachinetemplates/status,verbs=get;patch

// SetupWithManager registers the controller.
func (c *Controller) SetupWithManager(_ context.Context, mgr ctrl.Manager, concurrency int) error {
	err := ctrl.NewControllerManagedBy(mgr).Named("devmachinetemplate").
		For(&infrav1.DevMachineTemplate{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Complete(c)
	if err != nil {
		return fmt.Errorf("building the devmachinetemplate controller: %w", err)
	}
	return nil
}

// Reconcile fills in the status of one template.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	template := &infrav1.DevMachineTemplate{}
	if err := c.Client.Get(ctx, req.NamespacedName, template); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !template.DeletionTimestamp.IsZero() || paused.HasAnnotation(template) {
		return reconcile.Result{}, nil
	}
	w := World{Template: template}
	if template.Spec.Template.Spec.Backend.InMemory == nil {
		if c.Engine == nil {
			return reconcile.Result{}, nil // no machine of this template can be made here; each of them tells so
		}
		host, err := c.Engine.Machine(ctx)
		if err != nil {
			return reconcile.Result{}, fmt.Errorf("asking the container engine for its capacity: %w", err)
		}
		w.Host = &host
	}
	return reconcile.Result{}, patch.Begin(c.Client, FieldOwner, template).Finish(ctx, Decide(w))
}

// World is all that is known when a decision about one template is taken.
type World struct {
	Template *infrav1.DevMachineTemplate
	// Host is that of the containers; nil for simulated machines.
	Host *docker.MachineInfo
}

// Decide returns the template as it should be stored. A container finds all of its host; a simulation offers what it offers.
func Decide(w World) *infrav1.DevMachineTemplate {
	out := w.Template.DeepCopy()
	if w.Host == nil {
		out.Status.Capacity = cloud.Capacity()
		out.Status.NodeInfo = infrav1.DevMachineTemplateNodeInfo{Architecture: cloud.Architecture, OperatingSystem: cloud.OperatingSystem}
		return out
	}
	out.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(w.Host.CPUs), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(w.Host.Memory, resource.BinarySI),
	}
	out.Status.NodeInfo = infrav1.DevMachineTemplateNodeInfo{OperatingSystem: "linux"}
	if known[w.Host.Architecture] {
		out.Status.NodeInfo.Architecture = w.Host.Architecture
	}
	return out
}

// known are the architectures that the contract has names for.
var known = map[string]bool{"amd64": true, "arm64": true, "s390x": true, "ppc64le": true}
