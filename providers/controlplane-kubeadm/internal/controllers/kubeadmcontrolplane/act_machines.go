package kubeadmcontrolplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/cloning"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// createMachine creates infrastructure machine, bootstrap configuration and Machine, in this order and complete. What
// was created is deleted again if a later one fails, so that no half of a machine stays behind.
func (r *run) createMachine(ctx context.Context, a CreateMachine) error {
	request := machines.Request{
		ControlPlane: r.world.ControlPlane, Cluster: r.world.Cluster, Name: a.Name, FailureDomain: a.FailureDomain, Init: a.Init,
		RemediationFor: a.RemediationFor,
	}
	template, err := external.Get(ctx, r.Client, r.Resolver, r.world.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef, r.world.ControlPlane.Namespace)
	if err != nil {
		return fmt.Errorf("creating machine %s: %w", a.Name, err)
	}
	owner := machines.OwnerUntilMachine(r.world.ControlPlane)
	infra, err := cloning.FromTemplate(cloning.Request{
		Template: template.Unstructured, Name: a.Name, ClusterName: r.world.Cluster.Name, Owner: &owner,
		Labels: labels.OfControlPlane(r.world.Cluster.Name, r.world.ControlPlane.Name),
	})
	if err != nil {
		return fmt.Errorf("creating machine %s: %w", a.Name, err)
	}
	request.InfrastructureRef = external.Reference(infra)
	machine := machines.Machine(request)
	if err := r.createAll(ctx, infra, machines.KubeadmConfig(request), machine); err != nil {
		return fmt.Errorf("creating machine %s: %w", a.Name, err)
	}
	r.memory.expect(r.world.ControlPlane, a.Name, expectation{})
	return nil
}

func (r *run) createAll(ctx context.Context, infra, config, machine client.Object) error {
	var made []client.Object
	for _, object := range []client.Object{infra, config, machine} {
		err := r.apply(ctx, object, fieldOwner)
		if err == nil {
			made = append(made, object)
			if object != machine {
				err = r.applyTemplateMetadata(ctx, object)
			}
		}
		if err != nil {
			failures := []error{err}
			for _, leftover := range made {
				failures = append(failures, client.IgnoreNotFound(r.Client.Delete(ctx, leftover)))
			}
			return errors.Join(failures...)
		}
	}
	return nil
}

// applyTemplateMetadata gives the template's labels and annotations to an object of a machine under an owner of their
// own: so they can be taken away later without touching what others wrote.
func (r *run) applyTemplateMetadata(ctx context.Context, object client.Object) error {
	metadata := r.world.ControlPlane.Spec.MachineTemplate.Metadata
	if len(metadata.Labels) == 0 && len(metadata.Annotations) == 0 {
		return nil
	}
	gvk, err := apiutil.GVKForObject(object, r.Client.Scheme())
	if err != nil {
		return fmt.Errorf("finding the kind of %s: %w", object.GetName(), err)
	}
	return r.applyMetadata(ctx, gvk, object.GetName())
}

func (r *run) applyMetadata(ctx context.Context, gvk schema.GroupVersionKind, name string) error {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(gvk)
	object.Namespace, object.Name = r.world.ControlPlane.Namespace, name
	object.Labels = machines.Labels(r.world.ControlPlane, r.world.Cluster.Name)
	object.Annotations = machines.Annotations(r.world.ControlPlane)
	return r.apply(ctx, object, metadataFieldOwner)
}

// apply sends an object as this controller wants it by server-side apply.
func (r *run) apply(ctx context.Context, object client.Object, owner string) error {
	gvk, err := apiutil.GVKForObject(object, r.Client.Scheme())
	if err != nil {
		return fmt.Errorf("finding the kind of %s: %w", object.GetName(), err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", gvk.Kind, object.GetName(), err)
	}
	content["apiVersion"], content["kind"] = gvk.ToAPIVersionAndKind()
	delete(content, "status")
	if metadata, ok := content["metadata"].(map[string]any); ok {
		for _, field := range []string{"creationTimestamp", "managedFields", "resourceVersion", "generation", "uid", "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds"} {
			delete(metadata, field)
		}
	}
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", gvk.Kind, object.GetName(), err)
	}
	target := &metav1.PartialObjectMetadata{}
	target.SetGroupVersionKind(gvk)
	target.Namespace, target.Name = object.GetNamespace(), object.GetName()
	err = r.Client.Patch(ctx, target, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(owner), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("applying %s %s: %w", gvk.Kind, object.GetName(), err)
	}
	return nil
}

// updateMachine brings what may change in place. A machine that vanished meanwhile needs nothing any more.
func (r *run) updateMachine(ctx context.Context, a UpdateMachine) error {
	if current := (&clusterv1.Machine{}); a.Self {
		// Server-side apply would create a machine that was deleted meanwhile anew.
		err := r.Live.Get(ctx, client.ObjectKeyFromObject(a.Machine), current)
		if apierrors.IsNotFound(err) || (err == nil && current.UID != a.Machine.UID) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading machine %s: %w", a.Machine.Name, err)
		}
		if err := r.apply(ctx, owned(machines.InPlace(current, r.world.ControlPlane)), fieldOwner); err != nil {
			return err
		}
	}
	if a.Config {
		gvk := bootstrapv1.GroupVersion.WithKind("KubeadmConfig")
		if err := r.applyMetadata(ctx, gvk, a.Machine.Config.Name); err != nil {
			return err
		}
	}
	if a.Infra {
		return r.applyMetadata(ctx, a.Machine.Infra.GroupVersionKind(), a.Machine.Infra.Name)
	}
	return nil
}

// owned leaves of a Machine only what this controller sets; the rest belongs to the core and to users.
func owned(machine *clusterv1.Machine) *clusterv1.Machine {
	out := &clusterv1.Machine{}
	out.Namespace, out.Name = machine.Namespace, machine.Name
	out.Labels, out.Annotations = machine.Labels, machine.Annotations
	if controller := metav1.GetControllerOf(machine); controller != nil {
		out.OwnerReferences = []metav1.OwnerReference{*controller}
	}
	out.Spec = *machine.Spec.DeepCopy()
	out.Spec.ProviderID = ""
	out.Spec.MinReadySeconds = nil
	if out.Spec.Bootstrap.ConfigRef.Name != "" {
		out.Spec.Bootstrap.DataSecretName = nil
	}
	return out
}

// adoptMachine takes over a machine, after a last live look at the control plane: one that is being deleted adopts
// nothing. Secrets of the machine's configuration, such as certificates, come along; its boot document does not.
func (r *run) adoptMachine(ctx context.Context, a AdoptMachine) error {
	current := &controlplanev1.KubeadmControlPlane{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(r.world.ControlPlane), current); err != nil {
		return fmt.Errorf("reading the control plane: %w", err)
	}
	if !current.DeletionTimestamp.IsZero() || current.UID != r.world.ControlPlane.UID {
		return fmt.Errorf("machine %s cannot be adopted: the control plane is being deleted", a.Machine.Name)
	}
	if err := r.adoptSecrets(ctx, a.Machine); err != nil {
		return err
	}
	helper := patch.Begin(r.Client, fieldOwner, a.Machine.Machine)
	ownership.Ensure(a.Machine, ownership.ControllerReference(r.world.ControlPlane, machines.ControlPlaneGVK))
	if err := helper.Finish(ctx, a.Machine.Machine); err != nil {
		return fmt.Errorf("adopting machine %s: %w", a.Machine.Name, err)
	}
	return nil
}

func (r *run) adoptSecrets(ctx context.Context, m *Machine) error {
	list := &corev1.SecretList{}
	if err := r.Live.List(ctx, list, client.InNamespace(m.Namespace), client.MatchingLabels(labels.OfCluster(r.world.Cluster.Name))); err != nil {
		return fmt.Errorf("listing Secrets: %w", err)
	}
	config := metav1.OwnerReference{APIVersion: bootstrapv1.GroupVersion.String(), Kind: "KubeadmConfig", Name: m.Spec.Bootstrap.ConfigRef.Name}
	for i := range list.Items {
		secret := &list.Items[i]
		isData := m.Spec.Bootstrap.DataSecretName != nil && *m.Spec.Bootstrap.DataSecretName == secret.Name
		if isData || secret.Type != clusterv1.ClusterSecretType || !ownership.Has(secret, config) {
			continue // a Secret of another type is its user's
		}
		helper := patch.Begin(r.Client, fieldOwner, secret)
		ownership.Remove(secret, config)
		ownership.Ensure(secret, ownership.ControllerReference(r.world.ControlPlane, machines.ControlPlaneGVK))
		if err := helper.Finish(ctx, secret); err != nil {
			return fmt.Errorf("adopting Secret %s: %w", secret.Name, err)
		}
	}
	return nil
}

func (r *run) deleteMachine(ctx context.Context, a DeleteMachine) error {
	if a.Unhook {
		if err := r.unhook(ctx, a.Machine); err != nil {
			return err
		}
	}
	if a.Machine.deleting() {
		return nil
	}
	uid := a.Machine.UID
	err := r.Client.Delete(ctx, a.Machine.Machine, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting machine %s: %w", a.Machine.Name, err)
	}
	r.memory.expect(r.world.ControlPlane, a.Machine.Name, expectation{uid: uid, deleting: true})
	return nil
}

// noteExpiry annotates the machine's configuration; the core carries it on to the Machine's status.
func (r *run) noteExpiry(ctx context.Context, a NoteExpiry) error {
	body := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:%q}}}`, a.Machine.Config.UID, clusterv1.MachineCertificatesExpiryDateAnnotation, a.At)
	target := &bootstrapv1.KubeadmConfig{}
	target.Namespace, target.Name = a.Machine.Config.Namespace, a.Machine.Config.Name
	err := r.Client.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(fieldOwner))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("noting the end of certificates on KubeadmConfig %s: %w", target.Name, err)
	}
	return nil
}

func (r *run) unhook(ctx context.Context, m *Machine) error {
	body := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:null}}}`, m.UID, machines.CleanupHook)
	target := &clusterv1.Machine{}
	target.Namespace, target.Name = m.Namespace, m.Name
	err := r.Client.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(fieldOwner))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("releasing machine %s: %w", m.Name, err)
	}
	return nil
}

// reportOnMachines writes the conditions of those machines whose conditions changed, with one apply each that holds
// nothing but these conditions: the rest of the status is the core's.
func (r *run) reportOnMachines(ctx context.Context, d Decision) error {
	var failures []error
	for _, m := range r.world.Machines {
		wanted := d.MachineConditions[m.Name]
		if len(wanted) == 0 || reported(m.Machine, wanted) {
			continue
		}
		failures = append(failures, r.applyConditions(ctx, m, wanted))
	}
	return errors.Join(failures...)
}

func reported(machine *clusterv1.Machine, wanted []metav1.Condition) bool {
	for _, c := range wanted {
		if have := conditions.Get(machine, c.Type); have == nil || !conditions.Same(*have, c) {
			return false
		}
	}
	return true
}

func (r *run) applyConditions(ctx context.Context, m *Machine, wanted []metav1.Condition) error {
	body, err := json.Marshal(map[string]any{
		"apiVersion": clusterv1.GroupVersion.String(), "kind": "Machine",
		"metadata": map[string]any{"name": m.Name, "namespace": m.Namespace, "uid": m.UID},
		"status":   map[string]any{"conditions": wanted},
	})
	if err != nil {
		return fmt.Errorf("encoding the conditions of machine %s: %w", m.Name, err)
	}
	target := &clusterv1.Machine{}
	target.Namespace, target.Name = m.Namespace, m.Name
	err = r.Client.Status().Patch(ctx, target, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(fieldOwner), client.ForceOwnership)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("applying the conditions of machine %s: %w", m.Name, err)
	}
	return nil
}

// report writes the control plane's status, if it changed.
func (r *run) report(ctx context.Context, status controlplanev1.KubeadmControlPlaneStatus) error {
	if r.released {
		return nil
	}
	helper := patch.Begin(r.Client, fieldOwner, r.world.ControlPlane)
	r.world.ControlPlane.Status = status
	if err := helper.Finish(ctx, r.world.ControlPlane, patch.Owned(ownedConditions...)); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

func validity(days int32) time.Duration {
	if days == 0 {
		return 0 // the default
	}
	return time.Duration(days) * 24 * time.Hour
}
