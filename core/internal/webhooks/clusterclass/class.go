package clusterclass

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/topology/naming"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinehealthcheck"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

type templateRef = clusterv1.MachineHealthCheckRemediationTemplateReference

// references demands that everything a class refers to is a template.
func references(spec clusterv1.ClusterClassSpec, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	check := func(ref templateRef, at *field.Path) {
		if ref.Kind != "" && !strings.HasSuffix(ref.Kind, "Template") {
			problems = append(problems, field.Invalid(at.Child("kind"), ref.Kind, "must be the kind of a template; such kinds end in Template"))
		}
	}
	check(spec.Infrastructure.TemplateRef, path.Child("infrastructure", "templateRef"))
	check(spec.ControlPlane.TemplateRef, path.Child("controlPlane", "templateRef"))
	check(spec.ControlPlane.MachineInfrastructure.TemplateRef, path.Child("controlPlane", "machineInfrastructure", "templateRef"))
	for i, c := range spec.Workers.MachineDeployments {
		at := path.Child("workers", "machineDeployments").Index(i)
		check(c.Bootstrap.TemplateRef, at.Child("bootstrap", "templateRef"))
		check(c.Infrastructure.TemplateRef, at.Child("infrastructure", "templateRef"))
	}
	for i, c := range spec.Workers.MachinePools {
		at := path.Child("workers", "machinePools").Index(i)
		check(c.Bootstrap.TemplateRef, at.Child("bootstrap", "templateRef"))
		check(c.Infrastructure.TemplateRef, at.Child("infrastructure", "templateRef"))
	}
	return problems
}

// names demands worker classes that can be told apart, and templates of names that give names.
func names(spec clusterv1.ClusterClassSpec, path *field.Path) field.ErrorList {
	problems := namingTemplate(spec.Infrastructure.Naming, naming.Data{}, path.Child("infrastructure", "naming"))
	problems = append(problems, namingTemplate(spec.ControlPlane.Naming, naming.Data{}, path.Child("controlPlane", "naming"))...)
	seen := map[string]bool{}
	for i, c := range spec.Workers.MachineDeployments {
		at := path.Child("workers", "machineDeployments").Index(i)
		problems = append(problems, className(c.Class, seen, at.Child("class"))...)
		problems = append(problems, namingTemplate(c.Naming, naming.Data{MachineDeployment: "workers"}, at.Child("naming"))...)
	}
	seen = map[string]bool{}
	for i, c := range spec.Workers.MachinePools {
		at := path.Child("workers", "machinePools").Index(i)
		problems = append(problems, className(c.Class, seen, at.Child("class"))...)
		problems = append(problems, namingTemplate(c.Naming, naming.Data{MachinePool: "workers"}, at.Child("naming"))...)
	}
	return problems
}

func className(class string, seen map[string]bool, path *field.Path) field.ErrorList {
	if seen[class] {
		return field.ErrorList{field.Duplicate(path, class)}
	}
	seen[class] = true
	var problems field.ErrorList
	for _, problem := range validation.IsValidLabelValue(class) {
		problems = append(problems, field.Invalid(path, class, "must be a valid label value: "+problem))
	}
	return problems
}

func namingTemplate(n clusterv1.ControlPlaneClassNaming, data naming.Data, path *field.Path) field.ErrorList {
	if n.Template == "" {
		return nil
	}
	data.Cluster, data.Random = "cluster", "abcde"
	if _, err := naming.Render(n.Template, data); err != nil {
		return field.ErrorList{field.Invalid(path.Child("template"), n.Template, err.Error())}
	}
	return nil
}

// machines judges what becomes part of Machines and of their health checks.
func machines(spec clusterv1.ClusterClassSpec, features manager.Features, path *field.Path) field.ErrorList {
	at := path.Child("controlPlane")
	problems := rules.TemplateMetadata(spec.ControlPlane.Metadata, at.Child("metadata"))
	problems = append(problems, rules.Taints(spec.ControlPlane.Taints, true, features, at.Child("taints"))...)
	check := spec.ControlPlane.HealthCheck
	problems = append(problems, healthCheck(check.Checks, check.Remediation.TriggerIf, at.Child("healthCheck"))...)
	for i, c := range spec.Workers.MachineDeployments {
		at := path.Child("workers", "machineDeployments").Index(i)
		problems = append(problems, rules.TemplateMetadata(c.Metadata, at.Child("metadata"))...)
		problems = append(problems, rules.Taints(c.Taints, false, features, at.Child("taints"))...)
		problems = append(problems, healthCheck(c.HealthCheck.Checks, c.HealthCheck.Remediation.TriggerIf, at.Child("healthCheck"))...)
	}
	for i, c := range spec.Workers.MachinePools {
		at := path.Child("workers", "machinePools").Index(i)
		problems = append(problems, rules.TemplateMetadata(c.Metadata, at.Child("metadata"))...)
		problems = append(problems, rules.Taints(c.Taints, false, features, at.Child("taints"))...)
	}
	return problems
}

// healthCheck judges a health check by the rules for MachineHealthChecks, but for the selector, which the cluster gives.
func healthCheck(checks clusterv1.MachineHealthCheckChecks, trigger clusterv1.MachineHealthCheckRemediationTriggerIf, path *field.Path) field.ErrorList {
	mhc := &clusterv1.MachineHealthCheck{}
	mhc.Spec.Selector.MatchLabels = map[string]string{"a": "b"}
	mhc.Spec.Checks, mhc.Spec.Remediation.TriggerIf = checks, trigger
	var problems field.ErrorList
	for _, problem := range machinehealthcheck.Validate(mhc, nil) {
		problem.Field = path.String() + strings.TrimPrefix(problem.Field, "spec")
		problems = append(problems, problem)
	}
	return problems
}

// versions demands a list that an upgrade can walk: each version above the one before, and no minor left out.
func versions(spec clusterv1.ClusterClassSpec, path *field.Path) field.ErrorList {
	at := path.Child("kubernetesVersions")
	if len(spec.KubernetesVersions) > 0 && spec.Upgrade.External.GenerateUpgradePlanExtension != "" {
		return field.ErrorList{field.Forbidden(at, "must not be set together with upgrade.external, which plans upgrades")}
	}
	var problems field.ErrorList
	for i, text := range spec.KubernetesVersions {
		version, err := rules.ParseVersion(text)
		if err != nil || !strings.HasPrefix(text, "v") {
			problems = append(problems, field.Invalid(at.Index(i), text, "must be a semantic version such as v1.37.2"))
			continue
		}
		if i == 0 {
			continue
		}
		before, err := rules.ParseVersion(spec.KubernetesVersions[i-1])
		switch {
		case err != nil:
		case !version.GT(before):
			problems = append(problems, field.Invalid(at.Index(i), text, "must be above the version before it, "+spec.KubernetesVersions[i-1]))
		case version.Major != before.Major || version.Minor > before.Minor+1:
			problems = append(problems, field.Invalid(at.Index(i), text, fmt.Sprintf("must be at most one minor above the version before it, %s", spec.KubernetesVersions[i-1])))
		}
	}
	return problems
}

// Compatible demands of a change, or of a move to another class, that objects of existing clusters can follow it: a kind cannot change into another.
func Compatible(before, after clusterv1.ClusterClassSpec, path *field.Path) field.ErrorList {
	problems := sameKind(before.Infrastructure.TemplateRef, after.Infrastructure.TemplateRef, path.Child("infrastructure", "templateRef"))
	problems = append(problems, sameKind(before.ControlPlane.TemplateRef, after.ControlPlane.TemplateRef, path.Child("controlPlane", "templateRef"))...)
	problems = append(problems, sameKind(before.ControlPlane.MachineInfrastructure.TemplateRef, after.ControlPlane.MachineInfrastructure.TemplateRef,
		path.Child("controlPlane", "machineInfrastructure", "templateRef"))...)
	for i, c := range after.Workers.MachineDeployments {
		for _, b := range before.Workers.MachineDeployments {
			if b.Class == c.Class {
				at := path.Child("workers", "machineDeployments").Index(i)
				problems = append(problems, sameKind(b.Infrastructure.TemplateRef, c.Infrastructure.TemplateRef, at.Child("infrastructure", "templateRef"))...)
			}
		}
	}
	for i, c := range after.Workers.MachinePools {
		for _, b := range before.Workers.MachinePools {
			if b.Class == c.Class {
				at := path.Child("workers", "machinePools").Index(i)
				problems = append(problems, sameKind(b.Infrastructure.TemplateRef, c.Infrastructure.TemplateRef, at.Child("infrastructure", "templateRef"))...)
				problems = append(problems, sameKind(b.Bootstrap.TemplateRef, c.Bootstrap.TemplateRef, at.Child("bootstrap", "templateRef"))...)
			}
		}
	}
	return problems
}

func sameKind(before, after templateRef, path *field.Path) field.ErrorList {
	was, is := groupKind(before), groupKind(after)
	if was == is {
		return nil
	}
	if is.Kind == "" {
		return field.ErrorList{field.Forbidden(path, "must not be removed, it was "+was.String())}
	}
	if was.Kind == "" {
		return field.ErrorList{field.Forbidden(path, "must not be added to a class that was made without it")}
	}
	return field.ErrorList{field.Invalid(path, is.String(), "must stay of the same group and kind, "+was.String())}
}

func groupKind(ref templateRef) schema.GroupKind {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
}
