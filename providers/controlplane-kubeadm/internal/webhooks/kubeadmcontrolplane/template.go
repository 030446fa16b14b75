package kubeadmcontrolplane

import (
	"context"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/drift"
)

// +kubebuilder:webhook:path=/validate-controlplane-cluster-x-k8s-io-v1beta2-kubeadmcontrolplanetemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanetemplates,verbs=create;update,versions=v1beta2,name=validation.kubeadmcontrolplanetemplate.controlplane.cluster.x-k8s.io,admissionReviewVersions=v1

var templateGK = controlplanev1.GroupVersion.WithKind("KubeadmControlPlaneTemplate").GroupKind()

// TemplateWebhook admits KubeadmControlPlaneTemplates.
type TemplateWebhook struct{ Options Options }

// ValidateCreate judges a new template.
func (w TemplateWebhook) ValidateCreate(_ context.Context, template *controlplanev1.KubeadmControlPlaneTemplate) (admission.Warnings, error) {
	if !w.Options.ClusterTopology {
		return nil, invalidTemplate(template, field.ErrorList{field.Forbidden(field.NewPath("spec"), "needs feature gate ClusterTopology")})
	}
	return nil, invalidTemplate(template, ValidateTemplate(template, w.Options))
}

// ValidateUpdate demands that a template stays as it was. The topology controller may try by a dry run what a change
// would make of it.
func (w TemplateWebhook) ValidateUpdate(ctx context.Context, before, after *controlplanev1.KubeadmControlPlaneTemplate) (admission.Warnings, error) {
	if reflect.DeepEqual(before.Spec, after.Spec) || !after.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	problems := ValidateTemplate(after, w.Options)
	if !topologyTries(ctx, after) && !sameTemplate(before.Spec.Template.Spec, after.Spec.Template.Spec) {
		problems = append(problems, field.Forbidden(field.NewPath("spec", "template", "spec"),
			"must not change; make a new template and refer to that one"))
	}
	return nil, invalidTemplate(after, problems)
}

// ValidateDelete allows every deletion.
func (TemplateWebhook) ValidateDelete(context.Context, *controlplanev1.KubeadmControlPlaneTemplate) (admission.Warnings, error) {
	return nil, nil
}

func invalidTemplate(template *controlplanev1.KubeadmControlPlaneTemplate, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return apierrors.NewInvalid(templateGK, template.Name, problems)
}

// topologyTries: the annotation alone is not enough, since a template with it must not be changed for good.
func topologyTries(ctx context.Context, template *controlplanev1.KubeadmControlPlaneTemplate) bool {
	if _, ok := template.Annotations[clusterv1.TopologyDryRunAnnotation]; !ok {
		return false
	}
	request, err := admission.RequestFromContext(ctx)
	return err == nil && request.DryRun != nil && *request.DryRun
}

// ValidateTemplate refuses a template from which no control plane could be made.
func ValidateTemplate(template *controlplanev1.KubeadmControlPlaneTemplate, options Options) field.ErrorList {
	path, spec := field.NewPath("spec", "template", "spec"), template.Spec.Template.Spec
	machines := path.Child("machineTemplate")
	problems := validateMetadata(template.Spec.Template.Metadata, field.NewPath("spec", "template", "metadata"))
	problems = append(problems, validateMetadata(spec.MachineTemplate.Metadata, machines.Child("metadata"))...)
	problems = append(problems, validateTaints(spec.MachineTemplate.Spec.Taints, machines.Child("spec", "taints"), options)...)
	problems = append(problems, validateRollout(spec.Rollout, spec.KubeadmConfigSpec, nil, path.Child("rollout"))...)
	problems = append(problems, validateNaming(spec.MachineNaming.Template, "name", path.Child("machineNaming", "template"))...)
	problems = append(problems, validateClusterConfiguration(spec.KubeadmConfigSpec.ClusterConfiguration, path.Child("kubeadmConfigSpec", "clusterConfiguration"))...)
	return append(problems, validateConfig(spec.KubeadmConfigSpec, path.Child("kubeadmConfigSpec"), options)...)
}

// sameTemplate: what older versions wrote out as a default and newer ones leave away is no difference.
func sameTemplate(a, b controlplanev1.KubeadmControlPlaneTemplateResourceSpec) bool {
	if !drift.SameMeaning(a.KubeadmConfigSpec, b.KubeadmConfigSpec) {
		return false
	}
	a, b = *a.DeepCopy(), *b.DeepCopy()
	for _, spec := range []*controlplanev1.KubeadmControlPlaneTemplateResourceSpec{&a, &b} {
		spec.KubeadmConfigSpec = bootstrapv1.KubeadmConfigSpec{}
		strategy := &spec.Rollout.Strategy
		if surge := strategy.RollingUpdate.MaxSurge; surge != nil && surge.String() == "1" {
			strategy.RollingUpdate.MaxSurge = nil
		}
		if strategy.Type == controlplanev1.RollingUpdateStrategyType && strategy.RollingUpdate.MaxSurge == nil {
			strategy.Type = ""
		}
	}
	return reflect.DeepEqual(a, b)
}
