// Package machineset holds the rules of admission for MachineSets.
package machineset

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// +kubebuilder:webhook:path=/mutate-cluster-x-k8s-io-v1beta2-machineset,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machinesets,verbs=create;update,versions=v1beta2,name=default.machineset.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-cluster-x-k8s-io-v1beta2-machineset,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machinesets,verbs=create;update,versions=v1beta2,name=validation.machineset.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager, features manager.Features) error {
	return admission.Register(mgr, &clusterv1.MachineSet{}, admission.Rules[*clusterv1.MachineSet]{
		Kind:    clusterv1.GroupVersion.WithKind("MachineSet").GroupKind(),
		Default: Default,
		Validate: func(obj, before *clusterv1.MachineSet) field.ErrorList {
			return Validate(obj, before, features)
		},
	})
}

// Default fills in what was left out; before is nil when the set is new.
func Default(set, before *clusterv1.MachineSet) {
	var earlier *int32
	if before != nil {
		earlier = before.Spec.Replicas
	}
	spec := &set.Spec
	rules.DefaultClusterLabel(set, spec.ClusterName)
	spec.Replicas = rules.DefaultReplicas(spec.Replicas, earlier, set.Annotations)
	rules.DefaultVersion(&spec.Template.Spec.Version)
	rules.DefaultNodeDeletionTimeout(&spec.Template.Spec.Deletion)
	if len(spec.Selector.MatchLabels) == 0 && len(spec.Selector.MatchExpressions) == 0 && set.Name != "" {
		own := map[string]string{clusterv1.MachineSetNameLabel: labels.Value(set.Name)}
		spec.Selector.MatchLabels = own
		spec.Template.Metadata.Labels = labels.Merge(spec.Template.Metadata.Labels, own)
	}
	if spec.ClusterName != "" {
		cluster := labels.OfCluster(spec.ClusterName)
		spec.Selector.MatchLabels = labels.Merge(spec.Selector.MatchLabels, cluster)
		spec.Template.Metadata.Labels = labels.Merge(spec.Template.Metadata.Labels, cluster)
	}
}

// Validate judges a MachineSet; before is nil when it is new.
func Validate(set, before *clusterv1.MachineSet, features manager.Features) field.ErrorList {
	path := field.NewPath("spec")
	template, spec := path.Child("template"), set.Spec
	problems := rules.NotNegative(spec.Replicas, path.Child("replicas"))
	problems = append(problems, rules.Selector(spec.Selector, spec.Template.Metadata.Labels, path.Child("selector"))...)
	problems = append(problems, rules.SameCluster(spec.ClusterName, spec.Template.Spec.ClusterName, template.Child("spec", "clusterName"))...)
	problems = append(problems, rules.Version(spec.Template.Spec.Version, template.Child("spec", "version"))...)
	problems = append(problems, rules.Bootstrap(spec.Template.Spec.Bootstrap, template.Child("spec", "bootstrap"))...)
	problems = append(problems, rules.Taints(spec.Template.Spec.Taints, false, features, template.Child("spec", "taints"))...)
	problems = append(problems, rules.TemplateMetadata(spec.Template.Metadata, template.Child("metadata"))...)
	problems = append(problems, rules.Naming(spec.MachineNaming, path.Child("machineNaming"))...)
	problems = append(problems, rules.PreflightChecks(set.Annotations, field.NewPath("metadata", "annotations"))...)
	problems = append(problems, rules.AutoscalerLimits(set.Annotations, field.NewPath("metadata", "annotations"))...)
	if before != nil {
		problems = append(problems, rules.Unchanged(&before.Spec.ClusterName, spec.ClusterName, path.Child("clusterName"))...)
	}
	return problems
}
