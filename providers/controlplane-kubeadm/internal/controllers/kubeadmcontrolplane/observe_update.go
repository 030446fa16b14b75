package kubeadmcontrolplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/cloning"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/inplace"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/drift"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// Ask asks the extension that updates machines in place how much of a difference it covers. The error is
// [hookcall.ErrNobody] if there is no such extension.
type Ask func(ctx context.Context, namespace string, request *hooks.CanUpdateMachineRequest) (*hooks.CanUpdateMachineResponse, error)

// askBy asks through a client of hooks.
func askBy(client *hookcall.Client) Ask {
	return func(ctx context.Context, namespace string, request *hooks.CanUpdateMachineRequest) (*hooks.CanUpdateMachineResponse, error) {
		response, _, err := hookcall.Sole(ctx, client, hook.CanUpdateMachine, namespace, request)
		return response, err
	}
}

// observeUpdate asks whether a machine can be updated in place, if the decision depends on that. Which machine that is the
// decision says itself. What belongs to the machine is read past the cache first, and the decision may be another one then.
func (c *Controller) observeUpdate(ctx context.Context, w *World) error {
	if w.InPlace.On = c.Hooks != nil; !w.InPlace.On {
		return nil
	}
	if len(w.outdatedMachines()) == 0 && !slices.ContainsFunc(w.Machines, updating) {
		return nil // nothing is to be updated, which is how it is nearly always
	}
	look := sight{reader: c.Live, resolver: c.Resolver}
	read := map[string]bool{}
	for {
		asked := Decide(*w).ask
		if asked == nil {
			return nil
		}
		m := w.machineNamed(asked.Name)
		if !read[m.Name] {
			read[m.Name] = true
			if err := look.observePartsOf(ctx, m); err != nil {
				return err
			}
			continue
		}
		return c.observeAnswer(ctx, look, w, m)
	}
}

func (c *Controller) observeAnswer(ctx context.Context, look sight, w *World, m *Machine) error {
	update, err := look.canUpdate(ctx, askBy(c.Hooks), *w, m)
	if err != nil {
		return err
	}
	if update.Covered() {
		if err := c.rehearse(ctx, w, m, &update); err != nil {
			return err
		}
	}
	w.InPlace.Answers = map[string]Update{m.Name: update}
	return nil
}

// rehearse finds out whether the API server takes the changed objects: one that it refuses is not changed in place.
func (c *Controller) rehearse(ctx context.Context, w *World, m *Machine, update *Update) error {
	config := m.Config.DeepCopy()
	config.Spec = machines.UpdatedConfig(m.Config.Spec, w.ControlPlane)
	for _, change := range []struct{ before, after client.Object }{{update.Infra.Before, update.Infra.After}, {m.Config, config}} {
		after := change.after.DeepCopyObject().(client.Object)
		err := c.Client.Patch(ctx, after, client.MergeFrom(change.before), client.FieldOwner(fieldOwner), client.DryRunAll)
		switch {
		case apierrors.IsInvalid(err) || apierrors.IsForbidden(err):
			kind := m.Spec.InfrastructureRef.Kind
			if change.after == client.Object(config) {
				kind = "KubeadmConfig"
			}
			update.Uncovered = append(update.Uncovered, kind+" "+after.GetName()+", whose change is refused")
		case err != nil:
			return fmt.Errorf("trying the change of %s: %w", change.after.GetName(), err)
		}
	}
	return nil
}

// canUpdate finds out how a machine can be brought to what is wanted now, and what an extension covers of that.
func (s sight) canUpdate(ctx context.Context, ask Ask, w World, m *Machine) (Update, error) {
	wanted := w.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	if ref := m.Spec.InfrastructureRef; ref.APIGroup != wanted.APIGroup || ref.Kind+"Template" != wanted.Kind {
		return Update{Answer: inplace.Answer{Uncovered: []string{"spec.machineTemplate.spec.infrastructureRef"}}}, nil
	}
	update := Update{}
	infra, err := s.infraChange(ctx, w, m)
	switch {
	case external.IsNotFound(err):
		update.Err = errors.New("its infrastructure machine, or the template " + wanted.Name + ", does not exist")
		return update, nil
	case err != nil:
		return update, err
	}
	update.Infra = infra
	update.Answer, err = judgeAnswer(ctx, ask, question(w, m, infra))
	return update, err
}

// infraChange is the infrastructure machine as the present template wants it, with what others have added to it.
func (s sight) infraChange(ctx context.Context, w World, m *Machine) (Change, error) {
	before, err := external.Get(ctx, s.reader, s.resolver, m.Spec.InfrastructureRef, m.Namespace)
	if err != nil {
		return Change{}, err
	}
	change := Change{Before: before.Unstructured, After: before.DeepCopy()}
	made := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: before.GetAnnotations()}}
	if otherTemplate(w, &Machine{Machine: m.Machine, Infra: made}) == nil {
		return change, nil // a template is not changed: what was made from it is as it should be
	}
	template, err := external.Get(ctx, s.reader, s.resolver, w.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef, m.Namespace)
	if err != nil {
		return change, err
	}
	earlier, err := s.origin(ctx, before.Unstructured)
	if err != nil {
		return change, err
	}
	change.After, err = inplace.ToTemplate(before.Unstructured, earlier, template.Unstructured)
	return change, err
}

// origin is the template from which an object was made; nil if that is gone.
func (s sight) origin(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	template, err := external.Get(ctx, s.reader, s.resolver, cloning.Origin(object), object.GetNamespace())
	if external.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return template.Unstructured, nil
}

// question is about one machine. Both sides differ only in what would need a new machine.
func question(w World, m *Machine, infra Change) *hooks.CanUpdateMachineRequest {
	request := &hooks.CanUpdateMachineRequest{}
	current := bareMachine(machines.InPlace(m.Machine, w.ControlPlane))
	request.Current.Machine, request.Desired.Machine = current, *current.DeepCopy()
	if current.Spec.Version != "" {
		request.Desired.Machine.Spec.Version = w.ControlPlane.Spec.Version
	}
	request.Current.InfrastructureMachine.Object, request.Desired.InfrastructureMachine.Object = bare(infra.Before), bare(infra.After)
	desired := machines.UpdatedConfig(m.Config.Spec, w.ControlPlane)
	request.Current.BootstrapConfig.Object = bareConfig(m.Config, drift.InJoinForm(m.Config.Spec, bothForms(desired, w)))
	request.Desired.BootstrapConfig.Object = bareConfig(m.Config, desired)
	return request
}

// bothForms is a wanted configuration with the init form as well, by which the first machine is understood.
func bothForms(desired bootstrapv1.KubeadmConfigSpec, w World) bootstrapv1.KubeadmConfigSpec {
	desired.InitConfiguration = w.ControlPlane.Spec.KubeadmConfigSpec.InitConfiguration
	return desired
}

// judgeAnswer puts a question and says what the answer leaves open. Nobody is asked about no difference.
func judgeAnswer(ctx context.Context, ask Ask, request *hooks.CanUpdateMachineRequest) (inplace.Answer, error) {
	open, err := uncovered(request, &hooks.CanUpdateMachineResponse{})
	if err != nil || len(open) == 0 {
		return inplace.Answer{Err: err}, nil
	}
	response, err := ask(ctx, request.Current.Machine.Namespace, request)
	switch {
	case ctx.Err() != nil:
		return inplace.Answer{}, ctx.Err()
	case errors.Is(err, hookcall.ErrNobody):
		return inplace.Answer{Uncovered: open}, nil
	case err != nil:
		return inplace.Answer{Err: err}, nil
	}
	open, err = uncovered(request, response)
	return inplace.Answer{Uncovered: open, Err: err}, nil
}

// uncovered lists the fields that a response leaves as they are. Configurations are compared as they are for a rollout.
func uncovered(request *hooks.CanUpdateMachineRequest, response *hooks.CanUpdateMachineResponse) ([]string, error) {
	spec := []string{"spec"}
	before, after := request.Current.InfrastructureMachine.Object, request.Desired.InfrastructureMachine.Object
	open, err := inplace.Uncovered([]inplace.Part{
		{Name: "Machine", Root: spec, Current: &request.Current.Machine, Desired: &request.Desired.Machine, Patch: response.MachinePatch},
		{Name: before.GetObjectKind().GroupVersionKind().Kind, Root: spec, Current: before, Desired: after, Patch: response.InfrastructureMachinePatch},
	})
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(request.Current.BootstrapConfig.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding KubeadmConfig: %w", err)
	}
	patched, err := inplace.Patched(document, response.BootstrapConfigPatch)
	if err != nil {
		return nil, fmt.Errorf("the patch of KubeadmConfig: %w", err)
	}
	config := &bootstrapv1.KubeadmConfig{}
	if err := json.Unmarshal(patched, config); err != nil {
		return nil, errors.New("the patch of KubeadmConfig: the result is no KubeadmConfig")
	}
	for _, d := range drift.Joined(config.Spec, request.Desired.BootstrapConfig.Object.(*bootstrapv1.KubeadmConfig).Spec) {
		open = append(open, "KubeadmConfig spec."+d.Path)
	}
	return open, nil
}

// bareMachine is a Machine without what only clients of the API server care about, and without the marks of controllers.
func bareMachine(m *clusterv1.Machine) clusterv1.Machine {
	out := clusterv1.Machine{}
	out.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Machine"))
	out.Namespace, out.Name, out.Labels, out.Annotations = m.Namespace, m.Name, m.Labels, told(m.Annotations)
	out.Spec = *m.Spec.DeepCopy()
	return out
}

func bareConfig(c *bootstrapv1.KubeadmConfig, spec bootstrapv1.KubeadmConfigSpec) *bootstrapv1.KubeadmConfig {
	out := &bootstrapv1.KubeadmConfig{Spec: *spec.DeepCopy()}
	out.SetGroupVersionKind(bootstrapv1.GroupVersion.WithKind("KubeadmConfig"))
	out.Namespace, out.Name, out.Labels, out.Annotations = c.Namespace, c.Name, c.Labels, told(c.Annotations)
	out.Spec.InitConfiguration = bootstrapv1.InitConfiguration{}
	out.Spec.JoinConfiguration.Discovery = bootstrapv1.Discovery{} // it holds a token
	return out
}

func bare(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(o.GroupVersionKind())
	out.SetNamespace(o.GetNamespace())
	out.SetName(o.GetName())
	out.SetLabels(o.GetLabels())
	out.SetAnnotations(told(o.GetAnnotations()))
	if spec, ok := o.Object["spec"]; ok {
		out.Object["spec"] = runtime.DeepCopyJSONValue(spec)
	}
	return out
}

// told are the annotations that an extension sees: the same question is asked in the same words for as long as it lasts.
func told(annotations map[string]string) map[string]string {
	out := maps.Clone(annotations)
	for _, key := range []string{corev1.LastAppliedConfigAnnotation, clusterv1.UpdateInProgressAnnotation, runtimev1.PendingHooksAnnotation} {
		delete(out, key)
	}
	return out
}

// extensionToControlPlanes finds the control planes that an extension may be able to help, which has come or changed.
func (c *Controller) extensionToControlPlanes(ctx context.Context, _ client.Object) []reconcile.Request {
	list := &controlplanev1.KubeadmControlPlaneList{}
	if err := c.Client.List(ctx, list); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		status := list.Items[i].Status
		if number(status.UpToDateReplicas) < number(status.Replicas) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

func number(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
