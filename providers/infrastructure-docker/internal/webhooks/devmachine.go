package webhooks

import (
	"math"
	"regexp"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

// +kubebuilder:webhook:path=/mutate-infrastructure-cluster-x-k8s-io-v1beta2-devmachine,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devmachines,verbs=create;update,versions=v1beta2,name=default.devmachine.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-devmachine,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devmachines,verbs=create;update,versions=v1beta2,name=validation.devmachine.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/mutate-infrastructure-cluster-x-k8s-io-v1beta2-devmachinetemplate,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devmachinetemplates,verbs=create;update,versions=v1beta2,name=default.devmachinetemplate.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-devmachinetemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devmachinetemplates,verbs=create;update,versions=v1beta2,name=validation.devmachinetemplate.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1

// defaultBootstrapTimeout is how long bootstrap may take in a container.
const defaultBootstrapTimeout = 5 * time.Minute

// decimal is how a jitter is written; ParseFloat alone would take hexadecimal numbers and infinity.
var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

func devMachine() rules[*infrav1.DevMachine] {
	return rules[*infrav1.DevMachine]{
		kind: "DevMachine",
		spec: func(m *infrav1.DevMachine) any { return m.Spec },
		fill: func(m *infrav1.DevMachine) { defaultMachine(&m.Spec) },
		judge: func(m, _ *infrav1.DevMachine) field.ErrorList {
			return judgeMachine(m.Spec, field.NewPath("spec"))
		},
		fixed: func(m, before *infrav1.DevMachine) field.ErrorList {
			old, image := customImage(before.Spec), customImage(m.Spec)
			if old == image {
				return nil
			}
			return field.ErrorList{field.Invalid(field.NewPath("spec", "backend", "docker", "customImage"), image, "must not change, it was "+strconv.Quote(old))}
		},
	}
}

func devMachineTemplate() rules[*infrav1.DevMachineTemplate] {
	return rules[*infrav1.DevMachineTemplate]{
		kind: "DevMachineTemplate", template: true,
		spec: func(t *infrav1.DevMachineTemplate) any { return t.Spec },
		fill: func(t *infrav1.DevMachineTemplate) { defaultMachine(&t.Spec.Template.Spec) },
		judge: func(t, _ *infrav1.DevMachineTemplate) field.ErrorList {
			return judgeMachine(t.Spec.Template.Spec, field.NewPath("spec", "template", "spec"))
		},
		fixed: func(t, before *infrav1.DevMachineTemplate) field.ErrorList {
			return unchanged(before.Spec.Template.Spec, t.Spec.Template.Spec)
		},
	}
}

func customImage(spec infrav1.DevMachineSpec) string {
	if spec.Backend.Docker == nil {
		return ""
	}
	return spec.Backend.Docker.CustomImage
}

func defaultMachine(spec *infrav1.DevMachineSpec) {
	backend := &spec.Backend
	if backend.Docker == nil && backend.InMemory == nil {
		backend.Docker = &infrav1.DockerMachineBackend{}
	}
	if backend.Docker != nil && backend.Docker.BootstrapTimeout == nil {
		backend.Docker.BootstrapTimeout = &metav1.Duration{Duration: defaultBootstrapTimeout}
	}
}

func judgeMachine(spec infrav1.DevMachineSpec, path *field.Path) field.ErrorList {
	backend := path.Child("backend")
	problems := exactlyOne(spec.Backend.Docker != nil, spec.Backend.InMemory != nil, backend)
	if docker := spec.Backend.Docker; docker != nil && docker.BootstrapTimeout != nil && docker.BootstrapTimeout.Duration <= 0 {
		problems = append(problems, field.Invalid(backend.Child("docker", "bootstrapTimeout"), docker.BootstrapTimeout.Duration.String(), "must be longer than nothing"))
	}
	if m := spec.Backend.InMemory; m != nil {
		in := backend.Child("inMemory")
		problems = append(problems, judgeComponent(m.VM, in.Child("vm"))...)
		problems = append(problems, judgeComponent(m.Node, in.Child("node"))...)
		problems = append(problems, judgeComponent(m.APIServer, in.Child("apiServer"))...)
		problems = append(problems, judgeComponent(m.Etcd, in.Child("etcd"))...)
	}
	return problems
}

func judgeComponent(c *infrav1.InMemoryComponent, path *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	var problems field.ErrorList
	p, path := c.Provisioning, path.Child("provisioning")
	if p.StartupDuration.Duration < 0 {
		problems = append(problems, field.Invalid(path.Child("startupDuration"), p.StartupDuration.Duration.String(), "must not be negative"))
	}
	if p.StartupJitter == "" {
		return problems
	}
	if n, err := strconv.ParseFloat(p.StartupJitter, 64); !decimal.MatchString(p.StartupJitter) || err != nil || math.IsInf(n, 0) {
		problems = append(problems, field.Invalid(path.Child("startupJitter"), p.StartupJitter, "must be a decimal number that is not negative, such as 0.2"))
	}
	return problems
}
