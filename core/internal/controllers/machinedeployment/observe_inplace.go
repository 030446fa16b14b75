package machinedeployment

import (
	"context"
	"errors"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/core/internal/outdated"
)

// Ask asks the extension that updates Machines in place how much of a difference it covers. The error is
// [hookcall.ErrNobody] if there is no such extension.
type Ask func(ctx context.Context, namespace string, request *hooks.CanUpdateMachineSetRequest) (*hooks.CanUpdateMachineSetResponse, error)

// AskBy asks through a client of hooks. Without one nobody is asked.
func AskBy(client *hookcall.Client) Ask {
	if client == nil {
		return nil
	}
	return func(ctx context.Context, namespace string, request *hooks.CanUpdateMachineSetRequest) (*hooks.CanUpdateMachineSetResponse, error) {
		response, _, err := hookcall.Sole(ctx, client, hook.CanUpdateMachineSet, namespace, request)
		return response, err
	}
}

var templateSpec = []string{"spec", "template", "spec"}

// inPlace asks about each set whose Machines are not as wanted, unless nothing would follow from the answer.
func (l sight) inPlace(ctx context.Context, w *World) error {
	md := w.Deployment
	if l.ask == nil || inplace.PolicyOf(md) == inplace.Never || isTrue(md.Spec.Paused) || len(w.MissingTemplates) > 0 ||
		md.Spec.Rollout.Strategy.Type == clusterv1.OnDeleteMachineDeploymentStrategyType {
		return nil
	}
	w.InPlace = map[types.UID]inplace.Answer{}
	for _, s := range w.Sets {
		same := len(outdated.Differences(s.Spec.Template.Spec, md.Spec.Template.Spec)) == 0
		if same || !s.DeletionTimestamp.IsZero() || max(want(s), have(s)) == 0 || outdated.Expired(s.CreationTimestamp, md.Spec.Rollout.After, w.Now) {
			continue
		}
		answer, err := l.answer(ctx, md, s)
		if err != nil {
			return err
		}
		w.InPlace[s.UID] = answer
	}
	return nil
}

// answer asks about one set. What is of another kind than before, or was never read from a template, nobody is asked about.
func (l sight) answer(ctx context.Context, md *clusterv1.MachineDeployment, s *clusterv1.MachineSet) (inplace.Answer, error) {
	from, to := s.Spec.Template.Spec, md.Spec.Template.Spec
	var answer inplace.Answer
	for _, d := range outdated.Differences(from, to) {
		kinds := d.Field == "bootstrap.configRef" && kindOf(from.Bootstrap.ConfigRef) != kindOf(to.Bootstrap.ConfigRef) ||
			d.Field == "infrastructureRef" && kindOf(from.InfrastructureRef) != kindOf(to.InfrastructureRef)
		if kinds || d.Field == "bootstrap.dataSecretName" {
			answer.Uncovered = append(answer.Uncovered, "spec.template.spec."+d.Field)
		}
	}
	if len(answer.Uncovered) > 0 {
		return answer, nil
	}
	var templates [4]*unstructured.Unstructured
	for i, ref := range []clusterv1.ContractVersionedObjectReference{from.InfrastructureRef, to.InfrastructureRef, from.Bootstrap.ConfigRef, to.Bootstrap.ConfigRef} {
		if ref.Name == "" {
			continue
		}
		o, err := external.Get(ctx, l.reader, l.resolver, ref, md.Namespace)
		switch {
		case err == nil:
			templates[i] = bare(o.Unstructured)
		case external.IsNotFound(err):
			return inplace.Answer{Uncovered: []string{ref.Kind + " " + ref.Name + ", which does not exist"}}, nil
		default:
			return answer, err
		}
	}
	return l.judged(ctx, question(md, s, templates))
}

// judged puts a question and says what the answer leaves open.
func (l sight) judged(ctx context.Context, request *hooks.CanUpdateMachineSetRequest) (inplace.Answer, error) {
	response, err := l.ask(ctx, request.Current.MachineSet.Namespace, request)
	switch {
	case ctx.Err() != nil:
		return inplace.Answer{}, ctx.Err()
	case errors.Is(err, hookcall.ErrNobody):
		response = &hooks.CanUpdateMachineSetResponse{}
	case err != nil:
		return inplace.Answer{Err: err}, nil
	}
	// The names of templates follow from what is in them.
	current := request.Current.MachineSet.DeepCopy()
	references(&current.Spec.Template.Spec, request.Desired.MachineSet.Spec.Template.Spec)
	parts := []inplace.Part{{Name: "MachineSet", Root: templateSpec, Current: current, Desired: &request.Desired.MachineSet, Patch: response.MachineSetPatch}}
	for _, p := range []struct {
		from, to runtime.RawExtension
		patch    hooks.Patch
	}{
		{request.Current.InfrastructureMachineTemplate, request.Desired.InfrastructureMachineTemplate, response.InfrastructureMachineTemplatePatch},
		{request.Current.BootstrapConfigTemplate, request.Desired.BootstrapConfigTemplate, response.BootstrapConfigTemplatePatch},
	} {
		if p.from.Object != nil {
			parts = append(parts, inplace.Part{Name: p.from.Object.GetObjectKind().GroupVersionKind().Kind, Root: templateSpec, Current: p.from.Object, Desired: p.to.Object, Patch: p.patch})
		}
	}
	uncovered, err := inplace.Uncovered(parts)
	return inplace.Answer{Uncovered: uncovered, Err: err}, nil
}

// question asks about one set. The templates are those of infrastructure now and then, and those of bootstrap. Both sides
// differ only in what would need new Machines, and the same question is asked in the same words for as long as a rollout lasts.
func question(md *clusterv1.MachineDeployment, s *clusterv1.MachineSet, templates [4]*unstructured.Unstructured) *hooks.CanUpdateMachineSetRequest {
	current := clusterv1.MachineSet{}
	current.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineSet"))
	current.Namespace, current.Name, current.Labels = s.Namespace, s.Name, maps.Clone(s.Labels)
	for key, value := range md.Annotations {
		if !ownAnnotations[key] {
			setAnnotation(&current, key, value)
		}
	}
	current.Spec = *s.Spec.DeepCopy()
	current.Spec.Replicas = md.Spec.Replicas
	wanted := md.Spec.Template.DeepCopy()
	now := &current.Spec.Template
	now.Metadata = wanted.Metadata
	now.Spec.ClusterName, now.Spec.ProviderID = wanted.Spec.ClusterName, wanted.Spec.ProviderID
	now.Spec.Deletion, now.Spec.MinReadySeconds = wanted.Spec.Deletion, wanted.Spec.MinReadySeconds
	now.Spec.ReadinessGates, now.Spec.Taints = wanted.Spec.ReadinessGates, wanted.Spec.Taints
	desired := *current.DeepCopy()
	desired.Spec.Template = *wanted
	request := &hooks.CanUpdateMachineSetRequest{}
	request.Current.MachineSet, request.Desired.MachineSet = current, desired
	for i, into := range []*runtime.RawExtension{&request.Current.InfrastructureMachineTemplate, &request.Desired.InfrastructureMachineTemplate,
		&request.Current.BootstrapConfigTemplate, &request.Desired.BootstrapConfigTemplate} {
		if templates[i] != nil {
			into.Object = templates[i]
		}
	}
	return request
}

func references(to *clusterv1.MachineSpec, from clusterv1.MachineSpec) {
	to.Bootstrap.ConfigRef, to.InfrastructureRef = from.Bootstrap.ConfigRef, from.InfrastructureRef
}

func kindOf(r clusterv1.ContractVersionedObjectReference) string { return groupKind(r).String() }

// bare is a template without what only clients of the API server care about.
func bare(template *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(template.GroupVersionKind())
	out.SetNamespace(template.GetNamespace())
	out.SetName(template.GetName())
	out.SetLabels(template.GetLabels())
	annotations := maps.Clone(template.GetAnnotations())
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	out.SetAnnotations(annotations)
	if spec, ok := template.Object["spec"]; ok {
		out.Object["spec"] = runtime.DeepCopyJSONValue(spec)
	}
	return out
}

// ofExtension finds the deployments that an extension may be able to help, which has come or changed: those whose Machines
// are not all as wanted.
func (c *Controller) ofExtension(ctx context.Context, _ client.Object) []reconcile.Request {
	return c.pick(ctx, "", func(md *clusterv1.MachineDeployment) bool {
		return number(md.Status.UpToDateReplicas) < number(md.Status.Replicas)
	})
}
