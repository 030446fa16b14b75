// Package machinedrainrule holds the rules of admission for MachineDrainRules.
package machinedrainrule

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// +kubebuilder:webhook:path=/validate-cluster-x-k8s-io-v1beta2-machinedrainrule,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machinedrainrules,verbs=create;update,versions=v1beta2,name=validation.machinedrainrule.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhook to the manager.
func Register(mgr ctrl.Manager) error {
	return admission.Register(mgr, &clusterv1.MachineDrainRule{}, admission.Rules[*clusterv1.MachineDrainRule]{
		Kind:     clusterv1.GroupVersion.WithKind("MachineDrainRule").GroupKind(),
		Validate: func(obj, _ *clusterv1.MachineDrainRule) field.ErrorList { return Validate(obj) },
	})
}

// Validate judges a MachineDrainRule. A selector that cannot be read would stop every drain of the namespace.
func Validate(rule *clusterv1.MachineDrainRule) field.ErrorList {
	path, spec := field.NewPath("spec"), rule.Spec
	var problems field.ErrorList
	if spec.Drain.Order != nil && spec.Drain.Behavior != clusterv1.MachineDrainRuleDrainBehaviorDrain {
		problems = append(problems, field.Forbidden(path.Child("drain", "order"),
			fmt.Sprintf("can be set only with behavior %s, not %s", clusterv1.MachineDrainRuleDrainBehaviorDrain, spec.Drain.Behavior)))
	}
	for i, m := range spec.Machines {
		at := path.Child("machines").Index(i)
		problems = append(problems, rules.SelectorSyntax(m.Selector, at.Child("selector"))...)
		problems = append(problems, rules.SelectorSyntax(m.ClusterSelector, at.Child("clusterSelector"))...)
	}
	for i, p := range spec.Pods {
		at := path.Child("pods").Index(i)
		problems = append(problems, rules.SelectorSyntax(p.Selector, at.Child("selector"))...)
		problems = append(problems, rules.SelectorSyntax(p.NamespaceSelector, at.Child("namespaceSelector"))...)
	}
	return problems
}
