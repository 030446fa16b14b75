package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
	"github.com/slipway-capi/slipway/core/internal/webhooks/clusterclass"
)

// DefaultAmong fills in the defaults of the variables of the class.
func DefaultAmong(cluster *clusterv1.Cluster, among Among) {
	if among.Variables != nil {
		among.Variables.Default(&cluster.Spec.Topology)
	}
}

// ValidateAmong judges a Cluster by its class and by how far its last upgrade has come. Before is nil when it is new.
func ValidateAmong(ctx context.Context, cluster, before *clusterv1.Cluster, among Among) (warnings []string, problems field.ErrorList) {
	if !hasTopology(cluster) {
		return nil, nil
	}
	path := field.NewPath("spec", "topology")
	if among.Class == nil {
		message := fmt.Sprintf("ClusterClass %s does not exist", classref.Text(cluster))
		if before == nil {
			return []string{message + " yet: nothing is created before it does, and variables are checked only then"}, nil
		}
		return nil, field.ErrorList{field.Invalid(path.Child("classRef"), classref.Text(cluster), message)}
	}
	problems = workerClasses(cluster, among.Class, path.Child("workers"))
	problems = append(problems, healthChecks(cluster.Spec.Topology, among.Class, path)...)
	problems = append(problems, classMove(cluster, among, path.Child("classRef"))...)
	problems = append(problems, versionWay(cluster, before, among, path.Child("version"))...)
	if among.Variables == nil {
		return []string{"variables are not checked: " + among.VariablesProblem}, problems
	}
	var old *clusterv1.Topology
	if before != nil {
		old = &before.Spec.Topology
	}
	found := among.Variables.Validate(ctx, &cluster.Spec.Topology, old, path)
	if waitsForExtensions(among.Class) {
		for _, p := range found {
			warnings = append(warnings, "not all variables of the class are known yet: "+p.Error())
		}
		return warnings, problems
	}
	return nil, append(problems, found...)
}

// waitsForExtensions says that the class takes variables from extensions that have not been asked about its last change.
func waitsForExtensions(class *clusterv1.ClusterClass) bool {
	return class.Status.ObservedGeneration != class.Generation && variables.FromExtensions(class)
}

// workerClasses demands that every worker group is of a class that exists.
func workerClasses(cluster *clusterv1.Cluster, class *clusterv1.ClusterClass, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	var deployments, pools []string
	for _, c := range class.Spec.Workers.MachineDeployments {
		deployments = append(deployments, c.Class)
	}
	for _, c := range class.Spec.Workers.MachinePools {
		pools = append(pools, c.Class)
	}
	check := func(name string, known []string, at *field.Path) {
		if !slices.Contains(known, name) {
			problems = append(problems, field.Invalid(at.Child("class"), name, fmt.Sprintf("class %s has no such worker class; it has %s", class.Name, listed(known))))
		}
	}
	for i, g := range cluster.Spec.Topology.Workers.MachineDeployments {
		check(g.Class, deployments, path.Child("machineDeployments").Index(i))
	}
	for i, g := range cluster.Spec.Topology.Workers.MachinePools {
		check(g.Class, pools, path.Child("machinePools").Index(i))
	}
	return problems
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// healthChecks demands checks where a health check is switched on.
func healthChecks(topology clusterv1.Topology, class *clusterv1.ClusterClass, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	check := func(enabled *bool, own, ofClass clusterv1.MachineHealthCheckChecks, at *field.Path) {
		if enabled != nil && *enabled && !own.Any() && !ofClass.Any() {
			problems = append(problems, field.Required(at.Child("healthCheck", "checks"), "the health check is enabled, but neither the cluster nor the class says what to check"))
		}
	}
	own := topology.ControlPlane.HealthCheck
	check(own.Enabled, own.Checks, class.Spec.ControlPlane.HealthCheck.Checks, path.Child("controlPlane"))
	if own.Enabled != nil && *own.Enabled && class.Spec.ControlPlane.MachineInfrastructure.TemplateRef.Name == "" {
		problems = append(problems, field.Forbidden(path.Child("controlPlane", "healthCheck"), "control planes of this class have no machines to check"))
	}
	for i, g := range topology.Workers.MachineDeployments {
		j := slices.IndexFunc(class.Spec.Workers.MachineDeployments, func(c clusterv1.MachineDeploymentClass) bool { return c.Class == g.Class })
		if j >= 0 {
			check(g.HealthCheck.Enabled, g.HealthCheck.Checks, class.Spec.Workers.MachineDeployments[j].HealthCheck.Checks, path.Child("workers", "machineDeployments").Index(i))
		}
	}
	return problems
}

// classMove demands that objects of the cluster can follow it to another class.
func classMove(cluster *clusterv1.Cluster, among Among, path *field.Path) field.ErrorList {
	_, unsafe := cluster.Annotations[clusterv1.ClusterTopologyUnsafeUpdateClassNameAnnotation]
	if among.ClassBefore == nil || unsafe {
		return nil
	}
	var problems field.ErrorList
	for _, p := range clusterclass.Compatible(among.ClassBefore.Spec, among.Class.Spec, field.NewPath("spec")) {
		detail := fmt.Sprintf("the cluster cannot move to this class: its %s %s", strings.TrimPrefix(p.Field, "spec."), p.Detail)
		problems = append(problems, field.Invalid(path, classref.Text(cluster), detail))
	}
	return problems
}

// versionWay demands that there is a way to a version, and that the one before has been reached.
func versionWay(cluster, before *clusterv1.Cluster, among Among, path *field.Path) field.ErrorList {
	wanted, listed := cluster.Spec.Topology.Version, among.Class.Spec.KubernetesVersions
	_, unsafe := cluster.Annotations[clusterv1.ClusterTopologyUnsafeUpdateVersionAnnotation]
	changed := before == nil || before.Spec.Topology.Version != wanted
	if changed && !unsafe && len(listed) > 0 && !slices.Contains(listed, wanted) {
		return field.ErrorList{field.NotSupported(path, wanted, listed)}
	}
	from, to, judged := versionChange(cluster, before)
	if !judged || to.LTE(from) {
		return nil
	}
	var problems field.ErrorList
	if among.Unfinished != "" {
		problems = append(problems, field.Invalid(path, wanted, fmt.Sprintf("must not change now: %s; the annotation %s lifts this rule",
			among.Unfinished, clusterv1.ClusterTopologyUnsafeUpdateVersionAnnotation)))
	}
	if among.Class.Spec.Upgrade.External.GenerateUpgradePlanExtension != "" {
		return problems // an extension knows the way
	}
	if _, err := upgrade.Plan(before.Spec.Topology.Version, wanted, listed); err != nil {
		problems = append(problems, field.Invalid(path, wanted, err.Error()))
	}
	return problems
}
