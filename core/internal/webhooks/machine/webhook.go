// Package machine holds the rules of admission for Machines.
package machine

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// +kubebuilder:webhook:path=/mutate-cluster-x-k8s-io-v1beta2-machine,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machines,verbs=create;update,versions=v1beta2,name=default.machine.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-cluster-x-k8s-io-v1beta2-machine,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=machines,verbs=create;update,versions=v1beta2,name=validation.machine.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager, features manager.Features) error {
	return admission.Register(mgr, &clusterv1.Machine{}, admission.Rules[*clusterv1.Machine]{
		Kind:    clusterv1.GroupVersion.WithKind("Machine").GroupKind(),
		Default: func(obj, _ *clusterv1.Machine) { Default(obj) },
		Validate: func(obj, before *clusterv1.Machine) field.ErrorList {
			return Validate(obj, before, features)
		},
	})
}

// Default fills in what was left out.
func Default(machine *clusterv1.Machine) {
	rules.DefaultClusterLabel(machine, machine.Spec.ClusterName)
	rules.DefaultVersion(&machine.Spec.Version)
	rules.DefaultNodeDeletionTimeout(&machine.Spec.Deletion)
}

// Validate judges a Machine; before is nil when it is new.
func Validate(machine, before *clusterv1.Machine, features manager.Features) field.ErrorList {
	spec := field.NewPath("spec")
	problems := rules.Version(machine.Spec.Version, spec.Child("version"))
	// The machines of a pool are made from what the infrastructure reports; their bootstrap data belongs to the pool.
	if _, ofPool := machine.Labels[clusterv1.MachinePoolNameLabel]; !ofPool {
		problems = append(problems, rules.Bootstrap(machine.Spec.Bootstrap, spec.Child("bootstrap"))...)
	}
	problems = append(problems, rules.Taints(machine.Spec.Taints, labels.IsControlPlane(machine.Labels), features, spec.Child("taints"))...)
	if before != nil {
		problems = append(problems, rules.Unchanged(&before.Spec.ClusterName, machine.Spec.ClusterName, spec.Child("clusterName"))...)
	}
	return problems
}
