package webhooks

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/slipway-capi/slipway/contract/manager"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
)

// +kubebuilder:webhook:path=/mutate-infrastructure-cluster-x-k8s-io-v1beta2-devcluster,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devclusters,verbs=create;update,versions=v1beta2,name=default.devcluster.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-devcluster,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devclusters,verbs=create;update,versions=v1beta2,name=validation.devcluster.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/mutate-infrastructure-cluster-x-k8s-io-v1beta2-devclustertemplate,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devclustertemplates,verbs=create;update,versions=v1beta2,name=default.devclustertemplate.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-devclustertemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=infrastructure.cluster.x-k8s.io,resources=devclustertemplates,verbs=create;update,versions=v1beta2,name=validation.devclustertemplate.infrastructure.cluster.x-k8s.io,admissionReviewVersions=v1

// defaultPort is where load balancers of the docker backend listen.
const defaultPort = 6443

func devCluster() rules[*infrav1.DevCluster] {
	return rules[*infrav1.DevCluster]{
		kind: "DevCluster",
		spec: func(c *infrav1.DevCluster) any { return []any{c.Spec, c.Annotations[infrav1.FaultsAnnotation]} },
		fill: func(c *infrav1.DevCluster) { defaultCluster(&c.Spec) },
		judge: func(c, _ *infrav1.DevCluster) field.ErrorList {
			return append(judgeCluster(c.Spec, field.NewPath("spec")), judgeFaults(c)...)
		},
	}
}

func devClusterTemplate(features manager.Features) rules[*infrav1.DevClusterTemplate] {
	return rules[*infrav1.DevClusterTemplate]{
		kind: "DevClusterTemplate", template: true,
		spec: func(t *infrav1.DevClusterTemplate) any { return t.Spec },
		fill: func(t *infrav1.DevClusterTemplate) { defaultCluster(&t.Spec.Template.Spec) },
		judge: func(t, before *infrav1.DevClusterTemplate) field.ErrorList {
			problems := judgeCluster(t.Spec.Template.Spec, field.NewPath("spec", "template", "spec"))
			if before == nil && !features.Enabled(manager.FeatureClusterTopology) {
				problems = append(problems, field.Forbidden(field.NewPath("spec"), "needs the feature gate "+manager.FeatureClusterTopology))
			}
			return problems
		},
		fixed: func(t, before *infrav1.DevClusterTemplate) field.ErrorList {
			return unchanged(before.Spec.Template.Spec, t.Spec.Template.Spec)
		},
	}
}

func judgeFaults(c *infrav1.DevCluster) field.ErrorList {
	text, set := c.Annotations[infrav1.FaultsAnnotation]
	if !set {
		return nil
	}
	path := field.NewPath("metadata", "annotations").Key(infrav1.FaultsAnnotation)
	if c.Spec.Backend.InMemory == nil {
		return field.ErrorList{field.Forbidden(path, "only simulated clusters have faults on demand: set spec.backend.inMemory or remove the annotation")}
	}
	if _, err := faults.Parse(text); err != nil {
		return field.ErrorList{field.Invalid(path, text, err.Error())}
	}
	return nil
}

func defaultCluster(spec *infrav1.DevClusterSpec) {
	backend := &spec.Backend
	if backend.Docker == nil && backend.InMemory == nil {
		backend.Docker = &infrav1.DockerClusterBackend{}
	}
	if backend.Docker == nil {
		return
	}
	if spec.ControlPlaneEndpoint.Port == 0 {
		spec.ControlPlaneEndpoint.Port = defaultPort
	}
	for i := range backend.Docker.FailureDomains {
		if fd := &backend.Docker.FailureDomains[i]; fd.ControlPlane == nil {
			no := false
			fd.ControlPlane = &no
		}
	}
}

func judgeCluster(spec infrav1.DevClusterSpec, path *field.Path) field.ErrorList {
	backend := path.Child("backend")
	problems := exactlyOne(spec.Backend.Docker != nil, spec.Backend.InMemory != nil, backend)
	if spec.Backend.Docker == nil {
		return problems
	}
	before := ""
	for i, fd := range spec.Backend.Docker.FailureDomains {
		if fd.Name <= before {
			problems = append(problems, field.Invalid(backend.Child("docker", "failureDomains").Index(i).Child("name"), fd.Name,
				fmt.Sprintf("failure domains must be sorted by name without duplicates, but this one follows %q", before)))
		}
		before = fd.Name
	}
	return problems
}
