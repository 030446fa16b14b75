// Package machinehealthcheck holds the rules of admission for MachineHealthChecks.
package machinehealthcheck

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// +kubebuilder:webhook:path=/mutate-cluster-x-k8s-io-v1beta2-machinehealthcheck,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machinehealthchecks,verbs=create;update,versions=v1beta2,name=default.machinehealthcheck.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-cluster-x-k8s-io-v1beta2-machinehealthcheck,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machinehealthchecks,verbs=create;update,versions=v1beta2,name=validation.machinehealthcheck.cluster.x-k8s.io,admissionReviewVersions=v1

const (
	defaultNodeStartupTimeoutSeconds = 600
	// minNodeStartupTimeoutSeconds is the shortest time in which a machine can be expected to become a Node.
	minNodeStartupTimeoutSeconds = 30
)

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager) error {
	return admission.Register(mgr, &clusterv1.MachineHealthCheck{}, admission.Rules[*clusterv1.MachineHealthCheck]{
		Kind:     clusterv1.GroupVersion.WithKind("MachineHealthCheck").GroupKind(),
		Default:  func(obj, _ *clusterv1.MachineHealthCheck) { Default(obj) },
		Validate: Validate,
	})
}

// Default fills in what was left out.
func Default(check *clusterv1.MachineHealthCheck) {
	rules.DefaultClusterLabel(check, check.Spec.ClusterName)
	if check.Spec.Checks.NodeStartupTimeoutSeconds == nil {
		seconds := int32(defaultNodeStartupTimeoutSeconds)
		check.Spec.Checks.NodeStartupTimeoutSeconds = &seconds
	}
}

// Validate judges a MachineHealthCheck; before is nil when it is new.
func Validate(check, before *clusterv1.MachineHealthCheck) field.ErrorList {
	path, spec := field.NewPath("spec"), check.Spec
	problems := rules.SelectorSyntax(spec.Selector, path.Child("selector"))
	if len(spec.Selector.MatchLabels) == 0 && len(spec.Selector.MatchExpressions) == 0 {
		problems = append(problems, field.Required(path.Child("selector"), "must not be empty, otherwise it would act on every machine of the cluster"))
	}
	if timeout := spec.Checks.NodeStartupTimeoutSeconds; timeout != nil && *timeout != 0 && *timeout < minNodeStartupTimeoutSeconds {
		problems = append(problems, field.Invalid(path.Child("checks", "nodeStartupTimeoutSeconds"), *timeout,
			fmt.Sprintf("must be at least %d, or 0 to switch the check off", minNodeStartupTimeoutSeconds)))
	}
	problems = append(problems, validateStatuses(spec.Checks.UnhealthyNodeConditions, path.Child("checks", "unhealthyNodeConditions"))...)
	if kind := spec.Remediation.TemplateRef.Kind; kind != "" && (kind == "Template" || !strings.HasSuffix(kind, "Template")) {
		problems = append(problems, field.Invalid(path.Child("remediation", "templateRef", "kind"), kind, "must end in Template, such as ExampleRemediationTemplate"))
	}
	trigger, triggerPath := spec.Remediation.TriggerIf, path.Child("remediation", "triggerIf")
	problems = append(problems, rules.IntOrPercent(trigger.UnhealthyLessThanOrEqualTo, triggerPath.Child("unhealthyLessThanOrEqualTo"))...)
	problems = append(problems, validateRange(trigger.UnhealthyInRange, triggerPath.Child("unhealthyInRange"))...)
	if before != nil {
		problems = append(problems, rules.Unchanged(&before.Spec.ClusterName, spec.ClusterName, path.Child("clusterName"))...)
	}
	return problems
}

// validateStatuses demands statuses that a condition can have; with any other the check would never find anything.
func validateStatuses(list []clusterv1.UnhealthyNodeCondition, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	known := []string{string(metav1.ConditionTrue), string(metav1.ConditionFalse), string(metav1.ConditionUnknown)}
	for i, c := range list {
		if !slices.Contains(known, c.Status) {
			problems = append(problems, field.NotSupported(path.Index(i).Child("status"), c.Status, known))
		}
	}
	return problems
}

func validateRange(value string, path *field.Path) field.ErrorList {
	if value == "" {
		return nil
	}
	var low, high int32
	if _, err := fmt.Sscanf(value, "[%d-%d]", &low, &high); err != nil || low > high {
		return field.ErrorList{field.Invalid(path, value, "must be a range such as [1-3], the smaller number first")}
	}
	return nil
}
