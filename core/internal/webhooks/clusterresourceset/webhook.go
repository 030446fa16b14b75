// Package clusterresourceset holds the rules of admission for ClusterResourceSets.
package clusterresourceset

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// +kubebuilder:webhook:path=/mutate-addons-cluster-x-k8s-io-v1beta2-clusterresourceset,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=addons.cluster.x-k8s.io,resources=clusterresourcesets,verbs=create;update,versions=v1beta2,name=default.clusterresourceset.addons.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-addons-cluster-x-k8s-io-v1beta2-clusterresourceset,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=addons.cluster.x-k8s.io,resources=clusterresourcesets,verbs=create;update,versions=v1beta2,name=validation.clusterresourceset.addons.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager) error {
	return admission.Register(mgr, &addonsv1.ClusterResourceSet{}, admission.Rules[*addonsv1.ClusterResourceSet]{
		Kind:     addonsv1.GroupVersion.WithKind("ClusterResourceSet").GroupKind(),
		Default:  func(obj, _ *addonsv1.ClusterResourceSet) { Default(obj) },
		Validate: Validate,
	})
}

// Default fills in what was left out.
func Default(set *addonsv1.ClusterResourceSet) {
	if set.Spec.Strategy == "" {
		set.Spec.Strategy = addonsv1.ClusterResourceSetStrategyApplyOnce
	}
}

// Validate judges a ClusterResourceSet; before is nil when it is new.
func Validate(set, before *addonsv1.ClusterResourceSet) field.ErrorList {
	path, spec := field.NewPath("spec"), set.Spec
	problems := rules.SelectorSyntax(spec.ClusterSelector, path.Child("clusterSelector"))
	if len(spec.ClusterSelector.MatchLabels) == 0 && len(spec.ClusterSelector.MatchExpressions) == 0 {
		problems = append(problems, field.Required(path.Child("clusterSelector"), "must not be empty, otherwise it matches no cluster"))
	}
	seen := map[addonsv1.ResourceReference]bool{}
	for i, r := range spec.Resources {
		if seen[r] {
			problems = append(problems, field.Duplicate(path.Child("resources").Index(i), r.Kind+" "+r.Name))
		}
		seen[r] = true
	}
	if before == nil {
		return problems
	}
	problems = append(problems, rules.Unchanged(&before.Spec.Strategy, spec.Strategy, path.Child("strategy"))...)
	if !reflect.DeepEqual(before.Spec.ClusterSelector, spec.ClusterSelector) {
		problems = append(problems, field.Invalid(path.Child("clusterSelector"), metav1.FormatLabelSelector(&spec.ClusterSelector),
			"must not change, it was "+metav1.FormatLabelSelector(&before.Spec.ClusterSelector)))
	}
	return problems
}
