package machine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
)

// defaultNodeDeletionTimeout is how long the Node of a deleted Machine is tried to be removed, in seconds.
const defaultNodeDeletionTimeout = 10

// Decide says what to do about a Machine, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Machine: w.Machine.DeepCopy()}
	if !w.deleting() && !slices.Contains(d.Machine.Finalizers, clusterv1.MachineFinalizer) {
		// Alone, before anything exists that would have to be cleaned up; most Machines are created with it.
		d.Machine.Finalizers = append(d.Machine.Finalizers, clusterv1.MachineFinalizer)
		return d
	}
	pause := paused.Condition(w.Cluster, w.Machine)
	conditions.Set(d.Machine, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	d.own(w)
	d.bootstrap(w)
	d.infrastructure(w)
	if w.deleting() {
		d.delete(w)
	} else {
		d.node(w)
		d.update(w)
	}
	d.certificates(w)
	d.failures(w)
	d.describe(w)
	if d.Err == nil {
		d.Machine.Status.ObservedGeneration = d.Machine.Generation
	}
	return d
}

// own labels the Machine and makes the Cluster the owner of a stand-alone one.
func (d *Decision) own(w World) {
	m := d.Machine
	if m.Labels == nil {
		m.Labels = map[string]string{}
	}
	m.Labels[clusterv1.ClusterNameLabel] = m.Spec.ClusterName
	if w.Cluster == nil || metav1.GetControllerOf(m) != nil || w.deleting() {
		return
	}
	for _, l := range []string{clusterv1.MachineSetNameLabel, clusterv1.MachinePoolNameLabel, clusterv1.MachineControlPlaneLabel} {
		if _, ok := m.Labels[l]; ok {
			return
		}
	}
	ownership.Ensure(m, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
}

// adopt asks for the owner reference and label that make a provider object part of this Machine.
func (d *Decision) adopt(w World, r Referred) {
	if r.Object == nil || w.deleting() || !r.Object.GetDeletionTimestamp().IsZero() {
		return
	}
	if metav1.IsControlledBy(r.Object, w.Machine) && labels.ClusterName(r.Object) == w.Machine.Spec.ClusterName {
		return
	}
	if owner := metav1.GetControllerOf(r.Object); owner != nil && owner.Kind == "Machine" && owner.UID != w.Machine.UID && owner.Name != w.Machine.Name {
		d.fail(fmt.Errorf("%s belongs to Machine %s; each Machine needs one of its own", accessors.Describe(r.Object.Unstructured), owner.Name))
		return
	}
	d.Actions = append(d.Actions, Adopt{Object: r.Object})
}

// bootstrap takes the name of the data Secret over, once.
func (d *Decision) bootstrap(w World) {
	m, yes := d.Machine, true
	known := m.Spec.Bootstrap.DataSecretName != nil && *m.Spec.Bootstrap.DataSecretName != ""
	if known {
		m.Status.Initialization.BootstrapDataSecretCreated = &yes
	}
	d.adopt(w, w.Bootstrap)
	if w.Bootstrap.Err != nil && !w.deleting() {
		d.fail(w.Bootstrap.Err)
	}
	if w.Bootstrap.Object == nil || known {
		return
	}
	contract := accessors.BootstrapConfig(w.Bootstrap.Object.Contract)
	created, err := contract.DataSecretCreated().GetOr(w.Bootstrap.Object.Unstructured, false)
	if err != nil || !created {
		d.fail(err)
		return
	}
	name, err := contract.DataSecretName().Get(w.Bootstrap.Object.Unstructured)
	if err == nil && name == "" {
		err = fmt.Errorf("%s says that its data Secret exists but names none", accessors.Describe(w.Bootstrap.Object.Unstructured))
	}
	if err != nil {
		d.fail(err)
		return
	}
	m.Spec.Bootstrap.DataSecretName = &name
	m.Status.Initialization.BootstrapDataSecretCreated = &yes
}

// infrastructure takes over what the infrastructure machine reports. The flag sticks; addresses follow.
func (d *Decision) infrastructure(w World) {
	m, yes := d.Machine, true
	d.adopt(w, w.Infrastructure)
	if w.Infrastructure.Err != nil && !w.deleting() {
		d.fail(w.Infrastructure.Err)
	}
	if w.Infrastructure.Missing && !w.deleting() && isTrue(m.Status.Initialization.InfrastructureProvisioned) {
		d.fail(fmt.Errorf("%s %s was deleted after it had been provisioned", m.Spec.InfrastructureRef.Kind, m.Spec.InfrastructureRef.Name))
	}
	if w.Infrastructure.Object == nil {
		return
	}
	contract, obj := accessors.InfrastructureMachine(w.Infrastructure.Object.Contract), w.Infrastructure.Object.Unstructured
	provisioned, err := contract.Provisioned().GetOr(obj, false)
	d.fail(err)
	if !provisioned && !isTrue(m.Status.Initialization.InfrastructureProvisioned) {
		return
	}
	id, err := contract.ProviderID().GetOr(obj, "")
	d.fail(err)
	addresses, err := contract.Addresses().GetOr(obj, nil)
	d.fail(err)
	domain, err := contract.FailureDomain().GetOr(obj, "")
	d.fail(err)
	m.Status.Addresses, m.Status.FailureDomain = addresses, domain
	if old, err := contract.SpecFailureDomain().GetOr(obj, ""); err == nil && old != "" {
		m.Spec.FailureDomain = old
	}
	if id == "" {
		return // provisioned without identity: the watch on the object tells when it has one
	}
	m.Spec.ProviderID = id
	m.Status.Initialization.InfrastructureProvisioned = &yes
}

// certificates shows when the control plane's certificates end, if something has noted it.
func (d *Decision) certificates(w World) {
	m := d.Machine
	if !labels.IsControlPlane(m.Labels) {
		return
	}
	text := m.Annotations[clusterv1.MachineCertificatesExpiryDateAnnotation]
	if text == "" && w.Bootstrap.Object != nil {
		text = w.Bootstrap.Object.GetAnnotations()[clusterv1.MachineCertificatesExpiryDateAnnotation]
	}
	m.Status.CertificatesExpiryDate = metav1.Time{}
	if text == "" {
		return
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.fail(fmt.Errorf("annotation %s: %q is no RFC 3339 time", clusterv1.MachineCertificatesExpiryDateAnnotation, text))
		return
	}
	m.Status.CertificatesExpiryDate = metav1.NewTime(at)
}

// failures shows what provider objects of the older contract call terminal. Nothing acts on it.
func (d *Decision) failures(w World) {
	d.Machine.Status.Deprecated.V1Beta1 = nil
	for _, r := range []Referred{w.Infrastructure, w.Bootstrap} {
		if r.Object == nil {
			continue
		}
		if reason, message := accessors.Failure(r.Object.Unstructured); reason != "" || message != "" {
			d.Machine.Status.Deprecated.V1Beta1 = &clusterv1.MachineDeprecatedV1Beta1Status{FailureReason: reason, FailureMessage: message}
			return
		}
	}
}

// awaitsProvider says that a kind is not installed, or not as the contract wants it. That is no state to try again: the
// watch on CustomResourceDefinitions tells when it changes.
func awaitsProvider(err error) bool {
	return errors.Is(err, contractversion.ErrNoCRD) || errors.Is(err, contractversion.ErrNoContract)
}

func (d *Decision) fail(err error) {
	if err != nil && !awaitsProvider(err) {
		d.Err = errors.Join(d.Err, err)
	}
}

func (d *Decision) look(after time.Duration) {
	if after > 0 && (d.After == 0 || after < d.After) {
		d.After = after
	}
}
