// Package machinepool holds the rules of admission for MachinePools.
package machinepool

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// +kubebuilder:webhook:path=/mutate-cluster-x-k8s-io-v1beta2-machinepool,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machinepools,verbs=create;update,versions=v1beta2,name=default.machinepool.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-cluster-x-k8s-io-v1beta2-machinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machinepools,verbs=create;update,versions=v1beta2,name=validation.machinepool.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager, features manager.Features) error {
	return admission.Register(mgr, &clusterv1.MachinePool{}, admission.Rules[*clusterv1.MachinePool]{
		Kind:    clusterv1.GroupVersion.WithKind("MachinePool").GroupKind(),
		Default: Default,
		Validate: func(obj, before *clusterv1.MachinePool) field.ErrorList {
			return Validate(obj, before, features)
		},
	})
}

// Default fills in what was left out; before is nil when the pool is new.
func Default(pool, before *clusterv1.MachinePool) {
	var earlier *int32
	if before != nil {
		earlier = before.Spec.Replicas
	}
	spec := &pool.Spec
	rules.DefaultClusterLabel(pool, spec.ClusterName)
	spec.Replicas = rules.DefaultReplicas(spec.Replicas, earlier, pool.Annotations)
	rules.DefaultVersion(&spec.Template.Spec.Version)
	rules.DefaultNodeDeletionTimeout(&spec.Template.Spec.Deletion)
	if spec.ClusterName != "" {
		spec.Template.Metadata.Labels = labels.Merge(spec.Template.Metadata.Labels, labels.OfCluster(spec.ClusterName))
	}
}

// Validate judges a MachinePool; before is nil when it is new.
func Validate(pool, before *clusterv1.MachinePool, features manager.Features) field.ErrorList {
	path := field.NewPath("spec")
	if before == nil && !features.Enabled(manager.FeatureMachinePool) {
		return field.ErrorList{field.Forbidden(path, "can be used only with the feature gate "+manager.FeatureMachinePool)}
	}
	template, spec := path.Child("template"), pool.Spec
	problems := rules.NotNegative(spec.Replicas, path.Child("replicas"))
	problems = append(problems, rules.SameCluster(spec.ClusterName, spec.Template.Spec.ClusterName, template.Child("spec", "clusterName"))...)
	problems = append(problems, rules.Version(spec.Template.Spec.Version, template.Child("spec", "version"))...)
	problems = append(problems, rules.Bootstrap(spec.Template.Spec.Bootstrap, template.Child("spec", "bootstrap"))...)
	problems = append(problems, rules.TemplateMetadata(spec.Template.Metadata, template.Child("metadata"))...)
	problems = append(problems, rules.AutoscalerLimits(pool.Annotations, field.NewPath("metadata", "annotations"))...)
	if len(spec.Template.Spec.Taints) > 0 {
		problems = append(problems, field.Forbidden(template.Child("spec", "taints"), "taints cannot be set on the machines of a pool"))
	}
	if before != nil {
		problems = append(problems, rules.Unchanged(&before.Spec.ClusterName, spec.ClusterName, path.Child("clusterName"))...)
	}
	return problems
}
