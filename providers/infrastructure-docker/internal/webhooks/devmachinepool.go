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
		judge: func(p, _ *infrav1.DevMachinePool) field.ErrorList { return judgePool(p.Spec, field.NewPath("spec")) },
	}
}

func devMachinePoolTemplate() rules[*infrav1.DevMachinePoolTemplate] {
	return rules[*infrav1.DevMachinePoolTemplate]{
		kind: "DevMachinePoolTemplate", template: true,
		spec: func(t *infrav1.DevMachinePoolTemplate) any { return t.Spec },
		fill: func(t *infrav1.DevMachinePoolTemplate) { defaultPool(&t.Spec.Template.Spec) },
		judge: func(t, _ *infrav1.DevMachinePoolTemplate) field.ErrorList {
			return judgePool(t.Spec.Template.Spec, field.NewPath("spec", "template", "spec"))
		},
		fixed: func(t, before *infrav1.DevMachinePoolTemplate) field.ErrorList {
			return unchanged(before.Spec.Template.Spec, t.Spec.Template.Spec)
		},
	}
}

// defaultPool chooses the docker backend where none is named.
func defaultPool(spec *infrav1.DevMachinePoolSpec) {
	if spec.Backend == nil {
		spec.Backend = &infrav1.DevMachinePoolBackend{}
	}
	if spec.Backend.Docker == nil && spec.Backend.InMemory == nil {
		spec.Backend.Docker = &infrav1.DevMachinePoolBackendDocker{}
	}
}

func judgePool(spec infrav1.DevMachinePoolSpec, path *field.Path) field.ErrorList {
	if spec.Backend == nil {
		return nil
	}
	backend := path.Child("backend")
	problems := exactlyOne(spec.Backend.Docker != nil, spec.Backend.InMemory != nil, backend)
	if m := spec.Backend.InMemory; m != nil {
		problems = append(problems, judgeComponent(m.VM, backend.Child("inMemory", "vm"))...)
		problems = append(problems, judgeComponent(m.Node, backend.Child("inMemory", "node"))...)
	}
	return problems
}
