// Package clusterclass holds the rules of admission for ClusterClasses. A class is checked as a program is: every name that a
// patch uses must exist, every schema and template must compile, so that mistakes show when the class is written, not in the
// clusters that use it.
package clusterclass

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io;bootstrap.cluster.x-k8s.io;controlplane.cluster.x-k8s.io,resources=*,verbs=get

// +kubebuilder:webhook:path=/validate-cluster-x-k8s-io-v1beta2-clusterclass,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=clusterclasses,verbs=create;update;delete,versions=v1beta2,name=validation.clusterclass.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhook to the manager.
func Register(mgr ctrl.Manager, features manager.Features) error {
	reader := newReader(mgr)
	return admission.Register(mgr, &clusterv1.ClusterClass{}, admission.Rules[*clusterv1.ClusterClass]{
		Kind: clusterv1.GroupVersion.WithKind(clusterv1.ClusterClassKind).GroupKind(),
		Validate: func(obj, before *clusterv1.ClusterClass) field.ErrorList {
			return Validate(obj, before, features)
		},
		ValidateAmong: func(ctx context.Context, obj, before *clusterv1.ClusterClass) ([]string, field.ErrorList, error) {
			templates, err := reader.templates(ctx, obj)
			if err != nil {
				return nil, nil, err
			}
			warnings, problems := ValidateTemplates(obj, before, templates)
			warnings = append(warnings, Strangers(obj.Spec)...)
			if before == nil {
				return warnings, problems, nil
			}
			users, err := reader.users(ctx, obj)
			if err != nil {
				return nil, nil, err
			}
			more, found := ValidateAmong(ctx, obj, before, users)
			return append(warnings, more...), append(problems, found...), nil
		},
		Keep: func(ctx context.Context, obj *clusterv1.ClusterClass) (string, error) {
			users, err := reader.users(ctx, obj)
			return keep(users), err
		},
	})
}

// Validate judges a ClusterClass; before is nil when it is new.
func Validate(class, before *clusterv1.ClusterClass, features manager.Features) field.ErrorList {
	path := field.NewPath("spec")
	if !features.Enabled(manager.FeatureClusterTopology) {
		return field.ErrorList{field.Forbidden(path, "can be set only with the feature gate "+manager.FeatureClusterTopology)}
	}
	spec := class.Spec
	problems := references(spec, path)
	problems = append(problems, names(spec, path)...)
	problems = append(problems, machines(spec, features, path)...)
	problems = append(problems, versions(spec, path)...)
	problems = append(problems, variableDefinitions(context.Background(), spec.Variables, path.Child("variables"))...)
	problems = append(problems, patchDefinitions(spec, features, path.Child("patches"))...)
	if before != nil {
		problems = append(problems, Compatible(before.Spec, spec, path)...)
	}
	return problems
}
