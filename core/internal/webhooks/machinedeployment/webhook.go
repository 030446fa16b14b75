// Package machinedeployment holds the rules of admission for MachineDeployments.
package machinedeployment

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// +kubebuilder:webhook:path=/mutate-cluster-x-k8s-io-v1beta2-machinedeployment,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machinedeployments,verbs=create;update,versions=v1beta2,name=default.machinedeployment.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-cluster-x-k8s-io-v1beta2-machinedeployment,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machinedeployments,verbs=create;update,versions=v1beta2,name=validation.machinedeployment.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager, features manager.Features) error {
	return admission.Register(mgr, &clusterv1.MachineDeployment{}, admission.Rules[*clusterv1.MachineDeployment]{
		Kind:    clusterv1.GroupVersion.WithKind("MachineDeployment").GroupKind(),
		Default: Default,
		Validate: func(obj, before *clusterv1.MachineDeployment) field.ErrorList {
			return Validate(obj, before, features)
		},
	})
}

// Default fills in what was left out; before is nil when the deployment is new.
func Default(deployment, before *clusterv1.MachineDeployment) {
	var earlier *int32
	if before != nil {
		earlier = before.Spec.Replicas
	}
	spec := &deployment.Spec
	rules.DefaultClusterLabel(deployment, spec.ClusterName)
	spec.Replicas = rules.DefaultReplicas(spec.Replicas, earlier, deployment.Annotations)
	rules.DefaultVersion(&spec.Template.Spec.Version)
	rules.DefaultNodeDeletionTimeout(&spec.Template.Spec.Deletion)
	if len(spec.Selector.MatchLabels) == 0 && len(spec.Selector.MatchExpressions) == 0 && deployment.Name != "" {
		own := map[string]string{clusterv1.MachineDeploymentNameLabel: deployment.Name}
		spec.Selector.MatchLabels = own
		spec.Template.Metadata.Labels = labels.Merge(spec.Template.Metadata.Labels, own)
	}
	if spec.ClusterName != "" {
		cluster := labels.OfCluster(spec.ClusterName)
		spec.Selector.MatchLabels = labels.Merge(spec.Selector.MatchLabels, cluster)
		spec.Template.Metadata.Labels = labels.Merge(spec.Template.Metadata.Labels, cluster)
	}
	defaultStrategy(&spec.Rollout.Strategy)
}

func defaultStrategy(strategy *clusterv1.MachineDeploymentRolloutStrategy) {
	if strategy.Type == "" {
		strategy.Type = clusterv1.RollingUpdateMachineDeploymentStrategyType
	}
	if strategy.Type != clusterv1.RollingUpdateMachineDeploymentStrategyType {
		return
	}
	if strategy.RollingUpdate.MaxSurge == nil {
		one := intstr.FromInt32(1)
		strategy.RollingUpdate.MaxSurge = &one
	}
	if strategy.RollingUpdate.MaxUnavailable == nil {
		none := intstr.FromInt32(0)
		strategy.RollingUpdate.MaxUnavailable = &none
	}
}

// Validate judges a MachineDeployment; before is nil when it is new.
func Validate(deployment, before *clusterv1.MachineDeployment, features manager.Features) field.ErrorList {
	path := field.NewPath("spec")
	template, spec := path.Child("template"), deployment.Spec
	problems := rules.LabelName(deployment.Name)
	problems = append(problems, rules.NotNegative(spec.Replicas, path.Child("replicas"))...)
	problems = append(problems, rules.Selector(spec.Selector, spec.Template.Metadata.Labels, path.Child("selector"))...)
	problems = append(problems, rules.SameCluster(spec.ClusterName, spec.Template.Spec.ClusterName, template.Child("spec", "clusterName"))...)
	problems = append(problems, rules.Version(spec.Template.Spec.Version, template.Child("spec", "version"))...)
	problems = append(problems, rules.Bootstrap(spec.Template.Spec.Bootstrap, template.Child("spec", "bootstrap"))...)
	problems = append(problems, rules.Taints(spec.Template.Spec.Taints, false, features, template.Child("spec", "taints"))...)
	problems = append(problems, rules.TemplateMetadata(spec.Template.Metadata, template.Child("metadata"))...)
	problems = append(problems, rules.Naming(spec.MachineNaming, path.Child("machineNaming"))...)
	problems = append(problems, rules.IntOrPercent(spec.Remediation.MaxInFlight, path.Child("remediation", "maxInFlight"))...)
	problems = append(problems, validateStrategy(spec.Rollout.Strategy, path.Child("rollout", "strategy", "rollingUpdate"))...)
	problems = append(problems, rules.PreflightChecks(deployment.Annotations, field.NewPath("metadata", "annotations"))...)
	problems = append(problems, rules.AutoscalerLimits(deployment.Annotations, field.NewPath("metadata", "annotations"))...)
	problems = append(problems, rules.InPlaceUpdates(deployment.Annotations, field.NewPath("metadata", "annotations"))...)
	if before != nil {
		problems = append(problems, rules.Unchanged(&before.Spec.ClusterName, spec.ClusterName, path.Child("clusterName"))...)
	}
	return problems
}

// validateStrategy refuses a rolling update that could never move: no machine more and no machine less than wanted.
func validateStrategy(strategy clusterv1.MachineDeploymentRolloutStrategy, path *field.Path) field.ErrorList {
	surge, unavailable := strategy.RollingUpdate.MaxSurge, strategy.RollingUpdate.MaxUnavailable
	problems := rules.IntOrPercent(surge, path.Child("maxSurge"))
	problems = append(problems, rules.IntOrPercent(unavailable, path.Child("maxUnavailable"))...)
	if len(problems) == 0 && isZero(surge) && isZero(unavailable) {
		problems = append(problems, field.Invalid(path.Child("maxUnavailable"), unavailable.String(), "must not be 0 while maxSurge is 0, otherwise no machine can be replaced"))
	}
	return problems
}

func isZero(v *intstr.IntOrString) bool {
	return v != nil && v.Type == intstr.Int && v.IntVal == 0
}
