package webhooks

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

// +kubebuilder:webhook:path=/mutate-infrastructure-cluster-x-k8s-io-v1beta2-devmachinepool,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devmachinepools,verbs=create;update,versions=v1beta2,name=default.devmachinepool.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-devmachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devmachinepools,verbs=create;update,versions=v1beta2,name=validation.devmachinepool.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/mutate-infrastructure-cluster-x-k8s-io-v1beta2-devmachinepooltemplate,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devmachinepooltemplates,verbs=create;update,versions=v1beta2,name=default.devmachinepooltemplate.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-devmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devmachinepooltemplates,verbs=create;update,versions=v1beta2,name=validation.devmachinepooltemplate.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1

func devMachinePool() rules[*infrav1.DevMachinePool] {
	return rules[*infrav1.DevMachinePool]{
		kind:  "DevMachinePool",
		spec:  func(p *infrav1.DevMachinePool) any { return p.Spec },
		fill:  func(p *infrav1.DevMachinePool) { defaultPool(&p.Spec) },
		judge: func(_, _ *infrav1.DevMachinePool) field.ErrorList { return nil },
	}
}

func devMachinePoolTemplate() rules[*infrav1.DevMachinePoolTemplate] {
	return rules[*infrav1.DevMachinePoolTemplate]{
		kind: "DevMachinePoolTemplate", template: true,
		spec:  func(t *infrav1.DevMachinePoolTemplate) any { return t.Spec },
		fill:  func(t *infrav1.DevMachinePoolTemplate) { defaultPool(&t.Spec.Template.Spec) },
		judge: func(_, _ *infrav1.DevMachinePoolTemplate) field.ErrorList { return nil },
		fixed: func(t, before *infrav1.DevMachinePoolTemplate) field.ErrorList {
			return unchanged(before.Spec.Template.Spec, t.Spec.Template.Spec)
		},
	}
}

// defaultPool chooses the docker backend, the only one that pools have.
func defaultPool(spec *infrav1.DevMachinePoolSpec) {
	if spec.Backend == nil {
		spec.Backend = &infrav1.DevMachinePoolBackend{}
	}
	if spec.Backend.Docker == nil {
		spec.Backend.Docker = &infrav1.DevMachinePoolBackendDocker{}
	}
}
