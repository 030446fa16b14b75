package cluster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

// Decide says what to do about a Cluster, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Cluster: w.Cluster.DeepCopy()}
	if !w.deleting() && !slices.Contains(d.Cluster.Finalizers, clusterv1.ClusterFinalizer) {
		// Alone, before anything exists that would have to be cleaned up.
		d.Cluster.Finalizers = append(d.Cluster.Finalizers, clusterv1.ClusterFinalizer)
		return d
	}
	pause := paused.Condition(w.Cluster, w.Cluster)
	conditions.Set(d.Cluster, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	d.adopt(w, w.Infrastructure)
	d.adopt(w, w.ControlPlane)
	d.infrastructure(w)
	d.controlPlane(w)
	d.kubeconfig(w)
	d.failures(w)
	if !w.deleting() {
		d.fail(w.Class.Err) // a class that is gone must not keep its clusters
	}
	if w.deleting() {
		d.delete(w)
	}
	d.describe(w)
	if d.Err == nil {
		d.Cluster.Status.ObservedGeneration = d.Cluster.Generation
	}
	return d
}

func (d *Decision) adopt(w World, r referred.Object) {
	if r.Object == nil || w.deleting() || !r.Object.GetDeletionTimestamp().IsZero() {
		return
	}
	ref := ownerReference(w.Cluster)
	for _, have := range r.Object.GetOwnerReferences() {
		if ownership.Same(have, ref) && have.UID == ref.UID && labels.ClusterName(r.Object) == w.Cluster.Name {
			return
		}
	}
	d.Actions = append(d.Actions, Adopt{Object: r.Object})
}

// ownerReference is a controller's only where the Cluster made the object from a topology.
func ownerReference(c *clusterv1.Cluster) metav1.OwnerReference {
	gvk := clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)
	if c.Spec.Topology.ClassRef.Name != "" {
		return ownership.ControllerReference(c, gvk)
	}
	return ownership.Reference(c, gvk)
}

// infrastructure takes over endpoint, failure domains and the flag, which sticks.
func (d *Decision) infrastructure(w World) {
	c, yes := d.Cluster, true
	init := &c.Status.Initialization
	if w.Infrastructure.Err != nil {
		d.failUnlessDeleting(w, w.Infrastructure.Err)
		return
	}
	if c.Spec.InfrastructureRef.Name == "" {
		if !w.deleting() && !w.hasTopology() {
			init.InfrastructureProvisioned = &yes
		}
		return
	}
	if w.Infrastructure.Missing && !w.deleting() && isTrue(init.InfrastructureProvisioned) {
		d.fail(fmt.Errorf("%s %s was deleted after it had been provisioned", c.Spec.InfrastructureRef.Kind, c.Spec.InfrastructureRef.Name))
	}
	if w.Infrastructure.Object == nil || !w.Infrastructure.Object.GetDeletionTimestamp().IsZero() {
		return
	}
	contract, obj := accessors.InfrastructureCluster(w.Infrastructure.Object.Contract), w.Infrastructure.Object.Unstructured
	provisioned, err := contract.Provisioned().GetOr(obj, false)
	d.fail(err)
	if !provisioned && !isTrue(init.InfrastructureProvisioned) {
		return
	}
	d.endpoint(contract.ControlPlaneEndpoint(), obj)
	domains, err := contract.FailureDomains(obj)
	d.fail(err)
	if err == nil {
		c.Status.FailureDomains = domains
	}
	if !isTrue(init.InfrastructureProvisioned) {
		d.Events = append(d.Events, Event{"InfrastructureReady", "Infrastructure is provisioned"})
	}
	init.InfrastructureProvisioned = &yes
}

// controlPlane takes over the flag, which sticks, and the endpoint of control planes that bring their own.
func (d *Decision) controlPlane(w World) {
	c, yes := d.Cluster, true
	init := &c.Status.Initialization
	if w.ControlPlane.Err != nil {
		d.failUnlessDeleting(w, w.ControlPlane.Err)
		return
	}
	if c.Spec.ControlPlaneRef.Name == "" {
		d.standaloneInitialized(w)
		return
	}
	if w.ControlPlane.Missing && !w.deleting() && isTrue(init.ControlPlaneInitialized) {
		d.fail(fmt.Errorf("%s %s was deleted after it had been initialized", c.Spec.ControlPlaneRef.Kind, c.Spec.ControlPlaneRef.Name))
	}
	if w.ControlPlane.Object == nil || !w.ControlPlane.Object.GetDeletionTimestamp().IsZero() {
		return
	}
	contract, obj := accessors.ControlPlane(w.ControlPlane.Object.Contract), w.ControlPlane.Object.Unstructured
	initialized, err := contract.Initialized().GetOr(obj, false)
	d.fail(err)
	if !initialized {
		return
	}
	d.endpoint(contract.ControlPlaneEndpoint(), obj)
	if !isTrue(init.ControlPlaneInitialized) {
		d.Events = append(d.Events, Event{"ControlPlaneInitialized", "The control plane accepts requests"})
	}
	init.ControlPlaneInitialized = &yes
}

// standaloneInitialized: control plane Machines without a control plane object initialize with their first Node.
func (d *Decision) standaloneInitialized(w World) {
	yes := true
	for _, m := range w.Descendants.Machines {
		if labels.IsControlPlane(m.Labels) && m.Status.NodeRef.Name != "" {
			d.Cluster.Status.Initialization.ControlPlaneInitialized = &yes
		}
	}
}

// endpoint is copied once: a Cluster never loses or changes the address of its API.
func (d *Decision) endpoint(path accessors.Path[clusterv1.APIEndpoint], obj *unstructured.Unstructured) {
	have := d.Cluster.Spec.ControlPlaneEndpoint
	if have.Host != "" && have.Port != 0 {
		return
	}
	found, err := path.GetOr(obj, clusterv1.APIEndpoint{})
	d.fail(err)
	if err == nil && found.Host != "" && found.Port != 0 {
		d.Cluster.Spec.ControlPlaneEndpoint = found
	}
}

// failures shows what provider objects of the older contract call terminal. Nothing acts on it.
func (d *Decision) failures(w World) {
	d.Cluster.Status.Deprecated.V1Beta1 = nil
	for _, o := range []referred.Object{w.Infrastructure, w.ControlPlane} {
		if o.Object == nil {
			continue
		}
		if reason, message := accessors.Failure(o.Object.Unstructured); reason != "" || message != "" {
			d.Cluster.Status.Deprecated.V1Beta1 = &clusterv1.MachineDeprecatedV1Beta1Status{FailureReason: reason, FailureMessage: message}
			return
		}
	}
}

func (d *Decision) fail(err error) {
	if err != nil && !referred.AwaitsProvider(err) {
		d.Err = errors.Join(d.Err, err)
	}
}

// failUnlessDeleting leaves read errors during deletion to the deletion, which stops at them in its own order.
func (d *Decision) failUnlessDeleting(w World, err error) {
	if !w.deleting() {
		d.fail(err)
	}
}

func (d *Decision) look(after time.Duration) {
	if after > 0 && (d.After == 0 || after < d.After) {
		d.After = after
	}
}
