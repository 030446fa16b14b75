// Package extensionconfig holds the rules of admission for ExtensionConfigs.
package extensionconfig

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/extension/endpoint"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// +kubebuilder:webhook:path=/mutate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=runtime.cluster.x-k8s.io,resources=extensionconfigs,verbs=create;update,versions=v1beta2,name=default.extensionconfig.runtime.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=runtime.cluster.x-k8s.io,resources=extensionconfigs,verbs=create;update,versions=v1beta2,name=validation.extensionconfig.runtime.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager, features manager.Features) error {
	return admission.Register(mgr, &runtimev1.ExtensionConfig{}, admission.Rules[*runtimev1.ExtensionConfig]{
		Kind:    runtimev1.GroupVersion.WithKind("ExtensionConfig").GroupKind(),
		Default: func(obj, _ *runtimev1.ExtensionConfig) { Default(obj) },
		Validate: func(obj, _ *runtimev1.ExtensionConfig) field.ErrorList {
			return Validate(obj, features)
		},
	})
}

// Default fills in what was left out.
func Default(config *runtimev1.ExtensionConfig) {
	service := &config.Spec.ClientConfig.Service
	if service.Name != "" && service.Port == nil {
		port := int32(443)
		service.Port = &port
	}
}

// Validate judges an ExtensionConfig.
func Validate(config *runtimev1.ExtensionConfig, features manager.Features) field.ErrorList {
	path := field.NewPath("spec")
	if !features.Enabled(manager.FeatureRuntimeSDK) {
		return field.ErrorList{field.Forbidden(path, "can be set only with the feature gate "+manager.FeatureRuntimeSDK)}
	}
	problems := clientConfig(config.Spec.ClientConfig, path.Child("clientConfig"))
	problems = append(problems, rules.SelectorSyntax(config.Spec.NamespaceSelector, path.Child("namespaceSelector"))...)
	for _, key := range slices.Sorted(maps.Keys(config.Spec.Settings)) {
		if strings.TrimSpace(key) != key || key == "" {
			problems = append(problems, field.Invalid(path.Child("settings"), key, "names of settings must not be empty, nor begin or end with blanks"))
		}
	}
	return append(problems, authorities(config.Annotations)...)
}

func clientConfig(c runtimev1.ExtensionConfigClientConfig, path *field.Path) (problems field.ErrorList) {
	service := c.Service.Name != "" || c.Service.Namespace != ""
	switch {
	case service && c.URL != "":
		problems = append(problems, field.Invalid(path, "url, service", "only one of url and service can be set"))
	case service:
		problems = append(problems, serviceProblems(c.Service, path.Child("service"))...)
	case c.URL != "":
		if _, err := endpoint.ParseURL(c.URL); err != nil {
			problems = append(problems, field.Invalid(path.Child("url"), c.URL, err.Error()))
		}
	default:
		problems = append(problems, field.Required(path, "one of url and service must be set"))
	}
	if len(c.CABundle) > 0 {
		if _, err := certificates.ParseCertificates(c.CABundle); err != nil {
			problems = append(problems, field.Invalid(path.Child("caBundle"), "…", "must hold certificates in PEM: "+err.Error()))
		}
	}
	return problems
}

func serviceProblems(s runtimev1.ExtensionConfigClientConfigService, path *field.Path) (problems field.ErrorList) {
	for _, part := range []struct{ name, value string }{{"name", s.Name}, {"namespace", s.Namespace}} {
		for _, p := range validation.IsDNS1123Label(part.value) {
			problems = append(problems, field.Invalid(path.Child(part.name), part.value, p))
		}
	}
	if s.Port != nil && len(validation.IsValidPortNum(int(*s.Port))) > 0 {
		problems = append(problems, field.Invalid(path.Child("port"), *s.Port, "must be from 1 to 65535"))
	}
	if slices.Contains(strings.Split(s.Path, "/"), "..") || strings.ContainsAny(s.Path, "?#") {
		problems = append(problems, field.Invalid(path.Child("path"), s.Path, "must be a path without .., query and fragment"))
	}
	return problems
}

// authorities judges the annotation that names a Secret.
func authorities(annotations map[string]string) (problems field.ErrorList) {
	value, given := annotations[runtimev1.InjectCAFromSecretAnnotation]
	if !given {
		return nil
	}
	namespace, name, ok := strings.Cut(value, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		path := field.NewPath("metadata", "annotations").Key(runtimev1.InjectCAFromSecretAnnotation)
		problems = append(problems, field.Invalid(path, value, "must be of the form namespace/name and name a Secret"))
	}
	return problems
}
