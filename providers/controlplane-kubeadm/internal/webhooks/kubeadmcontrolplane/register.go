package kubeadmcontrolplane

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/blang/semver/v4"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// +kubebuilder:webhook:path=/mutate-controlplane-cluster-x-k8s-io-v1beta2-kubeadmcontrolplane,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes,verbs=create;update,versions=v1beta2,name=default.kubeadmcontrolplane.controlplane.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-controlplane-cluster-x-k8s-io-v1beta2-kubeadmcontrolplane,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes,verbs=create;update,versions=v1beta2,name=validation.kubeadmcontrolplane.controlplane.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-scale-controlplane-cluster-x-k8s-io-v1beta2-kubeadmcontrolplane,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes/scale,verbs=create;update,versions=v1beta2,name=validation-scale.kubeadmcontrolplane.controlplane.cluster.x-k8s.io,admissionReviewVersions=v1

const scalePath = "/validate-scale-controlplane-cluster-x-k8s-io-v1beta2-kubeadmcontrolplane"

// Webhook admits KubeadmControlPlanes.
type Webhook struct{ Options Options }

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager, options Options) error {
	hook := Webhook{Options: options}
	err := ctrl.NewWebhookManagedBy(mgr, &controlplanev1.KubeadmControlPlane{}).WithDefaulter(hook).WithValidator(hook).Complete()
	if err != nil {
		return fmt.Errorf("registering the webhooks of KubeadmControlPlane: %w", err)
	}
	err = ctrl.NewWebhookManagedBy(mgr, &controlplanev1.KubeadmControlPlaneTemplate{}).WithValidator(TemplateWebhook{Options: options}).Complete()
	if err != nil {
		return fmt.Errorf("registering the webhook of KubeadmControlPlaneTemplate: %w", err)
	}
	mgr.GetWebhookServer().Register(scalePath, &webhook.Admission{Handler: &scaleHandler{
		reader: mgr.GetClient(), decoder: admission.NewDecoder(mgr.GetScheme()),
	}})
	return nil
}

// Default fills in defaults.
func (Webhook) Default(_ context.Context, controlPlane *controlplanev1.KubeadmControlPlane) error {
	SetDefaults(controlPlane)
	return nil
}

// ValidateCreate judges a new control plane.
func (w Webhook) ValidateCreate(_ context.Context, controlPlane *controlplanev1.KubeadmControlPlane) (admission.Warnings, error) {
	return warnings(controlPlane), invalid(controlPlane, Validate(controlPlane, w.Options))
}

// ValidateUpdate judges a change. What leaves the spec alone passes: an object that later rules would refuse must
// still be able to get labels and to lose its finalizer.
func (w Webhook) ValidateUpdate(_ context.Context, before, after *controlplanev1.KubeadmControlPlane) (admission.Warnings, error) {
	if reflect.DeepEqual(before.Spec, after.Spec) {
		if before.Annotations[clusterv1.InPlaceUpdatesAnnotation] == after.Annotations[clusterv1.InPlaceUpdatesAnnotation] {
			return nil, nil
		}
		return nil, invalid(after, validateInPlaceUpdates(after.Annotations))
	}
	return append(warnings(after), staleDNS(before, after)...), invalid(after, ValidateUpdate(before, after, w.Options))
}

// ValidateDelete allows every deletion.
func (Webhook) ValidateDelete(context.Context, *controlplanev1.KubeadmControlPlane) (admission.Warnings, error) {
	return nil, nil
}

// warnings tell what kubeadm of the version will not do; on the machine nobody would look for it.
func warnings(controlPlane *controlplanev1.KubeadmControlPlane) admission.Warnings {
	var out admission.Warnings
	config, version := &controlPlane.Spec.KubeadmConfigSpec, controlPlane.Spec.Version
	for _, name := range config.Ignored(version, true) {
		out = append(out, fmt.Sprintf("spec.kubeadmConfigSpec.%s: kubeadm of Kubernetes %s ignores it", name, version))
	}
	for _, name := range config.Unknown(version) {
		out = append(out, fmt.Sprintf("spec.kubeadmConfigSpec.%s: kubeadm of Kubernetes %s does not know this value, so its machines will not start", name, version))
	}
	return out
}

// staleDNS tells that a new minor version leaves CoreDNS as it is. Users expect of an upgrade that everything moves, and where nodes hold
// their images and reach no registry, the image that stays is missing on the new ones.
func staleDNS(before, after *controlplanev1.KubeadmControlPlane) admission.Warnings {
	from, err := semver.ParseTolerant(before.Spec.Version)
	to, err2 := semver.ParseTolerant(after.Spec.Version)
	if err != nil || err2 != nil || to.Major == from.Major && to.Minor <= from.Minor {
		return nil
	}
	dns := after.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS
	_, skipped := after.Annotations[controlplanev1.SkipCoreDNSAnnotation]
	if skipped || dns.ImageTag != before.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag: CoreDNS stays at its version, Kubernetes %s alone does not move it; "+
		"set the tag that `kubeadm config images list --kubernetes-version %s` prints, or the annotation %s to update it yourself",
		after.Spec.Version, after.Spec.Version, controlplanev1.SkipCoreDNSAnnotation)}
}

func invalid(controlPlane *controlplanev1.KubeadmControlPlane, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return apierrors.NewInvalid(machines.ControlPlaneGVK.GroupKind(), controlPlane.Name, problems)
}

// scaleHandler judges the scale subresource by the rule for spec.replicas.
type scaleHandler struct {
	reader  client.Reader
	decoder admission.Decoder
}

// Handle implements admission.Handler.
func (h *scaleHandler) Handle(ctx context.Context, request admission.Request) admission.Response {
	scale := &autoscalingv1.Scale{}
	if err := h.decoder.Decode(request, scale); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decoding the scale request: %w", err))
	}
	controlPlane := &controlplanev1.KubeadmControlPlane{}
	key := client.ObjectKey{Namespace: request.Namespace, Name: request.Name}
	if err := h.reader.Get(ctx, key, controlPlane); err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("reading KubeadmControlPlane %s: %w", key, err))
	}
	problems := validateReplicas(&scale.Spec.Replicas, machines.ManagedEtcd(controlPlane), field.NewPath("spec", "replicas"))
	if len(problems) > 0 {
		return admission.Denied(problems.ToAggregate().Error())
	}
	return admission.Allowed("")
}
