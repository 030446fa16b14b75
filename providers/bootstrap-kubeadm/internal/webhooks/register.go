package webhooks

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// +kubebuilder:webhook:path=/validate-bootstrap-cluster-x-k8s-io-v1beta2-kubeadmconfig,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=bootstrap.cluster.x-k8s.io,resources=kubeadmconfigs,verbs=create;update,versions=v1beta2,name=validation.kubeadmconfig.bootstrap.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/mutate-bootstrap-cluster-x-k8s-io-v1beta2-kubeadmconfigtemplate,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=bootstrap.cluster.x-k8s.io,resources=kubeadmconfigtemplates,verbs=create;update,versions=v1beta2,name=default.kubeadmconfigtemplate.bootstrap.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-bootstrap-cluster-x-k8s-io-v1beta2-kubeadmconfigtemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=bootstrap.cluster.x-k8s.io,resources=kubeadmconfigtemplates,verbs=create;update,versions=v1beta2,name=validation.kubeadmconfigtemplate.bootstrap.cluster.x-k8s.io,admissionReviewVersions=v1

// Options are the feature gates that decide what is admitted.
type Options struct {
	// Ignition admits format ignition; see the gate KubeadmBootstrapFormatIgnition.
	Ignition bool
}

// Register adds the webhooks of this provider to the manager.
func Register(mgr ctrl.Manager, options Options) error {
	if err := ctrl.NewWebhookManagedBy(mgr, &bootstrapv1.KubeadmConfig{}).WithValidator(configs(options)).Complete(); err != nil {
		return fmt.Errorf("registering the webhook of KubeadmConfig: %w", err)
	}
	if err := ctrl.NewWebhookManagedBy(mgr, &bootstrapv1.KubeadmConfigTemplate{}).WithDefaulter(templateDefaults{}).WithValidator(templates(options)).Complete(); err != nil {
		return fmt.Errorf("registering the webhooks of KubeadmConfigTemplate: %w", err)
	}
	return nil
}

// judge validates one kind.
type judge[T client.Object] struct {
	kind string
	// spec is what is judged; a change that leaves it alone passes, so that an object that later rules would refuse can
	// still get labels and lose its finalizers.
	spec     func(T) any
	validate func(T) field.ErrorList
}

func configs(options Options) judge[*bootstrapv1.KubeadmConfig] {
	return judge[*bootstrapv1.KubeadmConfig]{
		kind: "KubeadmConfig",
		spec: func(c *bootstrapv1.KubeadmConfig) any { return c.Spec },
		validate: func(c *bootstrapv1.KubeadmConfig) field.ErrorList {
			return validateSpec(&c.Spec, field.NewPath("spec"), options)
		},
	}
}

func templates(options Options) judge[*bootstrapv1.KubeadmConfigTemplate] {
	return judge[*bootstrapv1.KubeadmConfigTemplate]{
		kind: "KubeadmConfigTemplate",
		spec: func(t *bootstrapv1.KubeadmConfigTemplate) any { return t.Spec },
		validate: func(t *bootstrapv1.KubeadmConfigTemplate) field.ErrorList {
			path := field.NewPath("spec", "template")
			return append(validateSpec(&t.Spec.Template.Spec, path.Child("spec"), options), validateMetadata(t.Spec.Template.Metadata, path.Child("metadata"))...)
		},
	}
}

// ValidateCreate judges a new object.
func (j judge[T]) ValidateCreate(_ context.Context, obj T) (admission.Warnings, error) {
	return nil, j.refuse(obj, j.validate(obj))
}

// ValidateUpdate judges a change.
func (j judge[T]) ValidateUpdate(_ context.Context, before, after T) (admission.Warnings, error) {
	if after.GetDeletionTimestamp() != nil || equality.Semantic.DeepEqual(j.spec(before), j.spec(after)) {
		return nil, nil
	}
	return nil, j.refuse(after, j.validate(after))
}

// ValidateDelete allows every deletion.
func (judge[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }

func (j judge[T]) refuse(obj T, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return apierrors.NewInvalid(bootstrapv1.GroupVersion.WithKind(j.kind).GroupKind(), obj.GetName(), problems)
}

// templateDefaults writes out old defaults, but only where the topology controller tries what a change would make of a
// template: objects that older versions stored have them, and without them the trial would see a change.
type templateDefaults struct{}

// Default implements the defaulting webhook.
func (templateDefaults) Default(ctx context.Context, template *bootstrapv1.KubeadmConfigTemplate) error {
	if topologyTries(ctx, template) {
		setOldDefaults(&template.Spec.Template.Spec)
	}
	return nil
}

// topologyTries: the annotation alone is not enough, since an object with it could be stored for good.
func topologyTries(ctx context.Context, obj client.Object) bool {
	if _, ok := obj.GetAnnotations()[clusterv1.TopologyDryRunAnnotation]; !ok {
		return false
	}
	request, err := admission.RequestFromContext(ctx)
	return err == nil && request.DryRun != nil && *request.DryRun
}

func setOldDefaults(spec *bootstrapv1.KubeadmConfigSpec) {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&spec.Format, bootstrapv1.CloudConfig)
	set(&spec.InitConfiguration.NodeRegistration.ImagePullPolicy, "IfNotPresent")
	set(&spec.JoinConfiguration.NodeRegistration.ImagePullPolicy, "IfNotPresent")
	if exec := &spec.JoinConfiguration.Discovery.File.KubeConfig.User.Exec; exec.Command != "" {
		set(&exec.APIVersion, "client.authentication.k8s.io/v1")
	}
}
