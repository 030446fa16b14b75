package machinepool

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
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

// Decide says what to do about a MachinePool, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Pool: w.Pool.DeepCopy()}
	if !w.deleting() && !slices.Contains(d.Pool.Finalizers, clusterv1.MachinePoolFinalizer) {
		// Alone, before anything exists that would have to be cleaned up.
		d.Pool.Finalizers = append(d.Pool.Finalizers, clusterv1.MachinePoolFinalizer)
		return d
	}
	pause := paused.Condition(w.Cluster, w.Pool)
	conditions.Set(d.Pool, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	if w.deleting() {
		d.delete(w)
	} else {
		d.own(w)
		d.bootstrap(w)
		d.infrastructure(w)
		d.members(w)
		d.nodes(w)
	}
	d.describe(w)
	if d.Err == nil {
		d.Pool.Status.ObservedGeneration = d.Pool.Generation
	}
	return d
}

// own labels the pool and makes it part of its Cluster.
func (d *Decision) own(w World) {
	labels.SetClusterName(d.Pool, d.Pool.Spec.ClusterName)
	if w.Cluster != nil {
		ownership.Ensure(d.Pool, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
	}
}

// adopt asks for the owner reference and label that make a provider object part of this pool. An object that serves another
// pool already is left alone: two pools would take it from each other for ever.
func (d *Decision) adopt(w World, o referred.Object) {
	if o.Object == nil || !o.Object.GetDeletionTimestamp().IsZero() {
		return
	}
	owner := metav1.GetControllerOf(o.Object)
	if owner != nil && owner.Kind == poolKind && owner.Name != w.Pool.Name {
		d.fail(fmt.Errorf("%s belongs to MachinePool %s already: each pool needs one of its own", accessors.Describe(o.Object.Unstructured), owner.Name))
		return
	}
	if metav1.IsControlledBy(o.Object, w.Pool) && labels.ClusterName(o.Object) == w.Pool.Spec.ClusterName {
		return
	}
	d.Actions = append(d.Actions, Adopt{Object: o.Object})
}

// bootstrap takes the name of the data Secret over. Other than a Machine, a pool follows it: a reference to another config
// is how a user brings new data to the members to come. Until that has its data, the former data stays in use.
func (d *Decision) bootstrap(w World) {
	spec, status, yes := &d.Pool.Spec.Template.Spec.Bootstrap, &d.Pool.Status.Initialization, true
	d.adopt(w, w.Bootstrap)
	d.fail(w.Bootstrap.Err)
	if spec.DataSecretName != nil && *spec.DataSecretName != "" && spec.ConfigRef.Name == "" {
		status.BootstrapDataSecretCreated = &yes
	}
	if w.Bootstrap.Object == nil {
		return
	}
	contract, obj := accessors.BootstrapConfig(w.Bootstrap.Object.Contract), w.Bootstrap.Object.Unstructured
	created, err := contract.DataSecretCreated().GetOr(obj, false)
	if err != nil || !created {
		d.fail(err)
		return
	}
	name, err := contract.DataSecretName().Get(obj)
	if err == nil && name == "" {
		err = fmt.Errorf("%s says that its data Secret exists but names none", accessors.Describe(obj))
	}
	if err != nil {
		d.fail(err)
		return
	}
	if spec.DataSecretName == nil || *spec.DataSecretName != name {
		spec.DataSecretName = &name
	}
	status.BootstrapDataSecretCreated = &yes
}

// infrastructure takes over what the infrastructure pool reports. The flag sticks; the members and their number follow.
func (d *Decision) infrastructure(w World) {
	d.adopt(w, w.Infrastructure)
	d.fail(w.Infrastructure.Err)
	was, ref := isTrue(d.Pool.Status.Initialization.InfrastructureProvisioned), d.Pool.Spec.Template.Spec.InfrastructureRef
	if w.Infrastructure.Missing && was {
		d.fail(fmt.Errorf("%s %s was deleted after it had been provisioned", ref.Kind, ref.Name))
	}
	if w.Infrastructure.Object == nil {
		return
	}
	contract, obj := accessors.InfrastructureMachinePool(w.Infrastructure.Object.Contract), w.Infrastructure.Object.Unstructured
	d.showFailure(obj)
	provisioned, err := contract.Provisioned(obj)
	d.fail(err)
	if !provisioned && !was {
		return
	}
	yes := true
	d.Pool.Status.Initialization.InfrastructureProvisioned = &yes
	replicas, err := contract.Replicas().Get(obj)
	switch {
	case err == nil:
		d.Pool.Status.Replicas = &replicas
		if replicasManaged(d.Pool) {
			d.Pool.Spec.Replicas = &replicas
		}
	case !errors.Is(err, accessors.ErrNotFound):
		d.fail(err)
	}
	d.providerIDs(contract, obj)
}

// providerIDs follows the list of members. An empty list of a pool that has members is one that is not yet filled.
func (d *Decision) providerIDs(contract accessors.InfrastructureMachinePoolContract, obj *unstructured.Unstructured) {
	ids, err := contract.ProviderIDList().GetOr(obj, nil)
	if err != nil {
		d.fail(err)
		return
	}
	if len(ids) == 0 && (d.Pool.Status.Replicas == nil || *d.Pool.Status.Replicas > 0) {
		return
	}
	d.listed = true
	// The order is the provider's business: the same members in another order are no change.
	if !slices.Equal(slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(d.Pool.Spec.ProviderIDList))) {
		d.Pool.Spec.ProviderIDList = ids
	}
}

// showFailure copies the old terminal failure of the infrastructure, for display; either half may be missing.
func (d *Decision) showFailure(obj *unstructured.Unstructured) {
	reason, message := accessors.Failure(obj)
	d.Pool.Status.Deprecated.V1Beta1 = nil
	if reason != "" || message != "" {
		d.Pool.Status.Deprecated.V1Beta1 = &clusterv1.MachinePoolDeprecatedV1Beta1Status{FailureReason: reason, FailureMessage: message}
	}
}

func (d *Decision) fail(err error) {
	if err != nil && !referred.AwaitsProvider(err) {
		d.Err = errors.Join(d.Err, err)
	}
}

func (d *Decision) look(after time.Duration) { d.After = decision.Sooner(d.After, after) }
