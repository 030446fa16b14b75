// Package cluster holds the rules of admission for Clusters.
package cluster

import (
	"fmt"
	"net/netip"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

// +kubebuilder:webhook:path=/mutate-cluster-x-k8s-io-v1beta2-cluster,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=clusters,verbs=create;update,versions=v1beta2,name=default.cluster.cluster.x-k8s.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-cluster-x-k8s-io-v1beta2-cluster,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=cluster.x-k8s.io,resources=clusters,verbs=create;update,versions=v1beta2,name=validation.cluster.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager, features manager.Features) error {
	return admission.Register(mgr, &clusterv1.Cluster{}, admission.Rules[*clusterv1.Cluster]{
		Kind:    clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind).GroupKind(),
		Default: func(obj, _ *clusterv1.Cluster) { Default(obj) },
		Validate: func(obj, before *clusterv1.Cluster) field.ErrorList {
			return Validate(obj, before, features)
		},
	})
}

// Default fills in what was left out.
func Default(cluster *clusterv1.Cluster) {
	rules.DefaultVersion(&cluster.Spec.Topology.Version)
}

// Validate judges a Cluster; before is nil when it is new.
func Validate(cluster, before *clusterv1.Cluster, features manager.Features) field.ErrorList {
	path := field.NewPath("spec")
	problems := rules.LabelName(cluster.Name)
	problems = append(problems, validateReferences(cluster, before, path)...)
	network := path.Child("clusterNetwork")
	problems = append(problems, ranges(cluster.Spec.ClusterNetwork.Pods.CIDRBlocks, network.Child("pods", "cidrBlocks"))...)
	problems = append(problems, ranges(cluster.Spec.ClusterNetwork.Services.CIDRBlocks, network.Child("services", "cidrBlocks"))...)
	problems = append(problems, upgradeConcurrency(cluster.Annotations)...)
	return append(problems, validateTopology(cluster, before, features, path.Child("topology"))...)
}

func hasTopology(cluster *clusterv1.Cluster) bool {
	return cluster.Spec.Topology.ClassRef.Name != "" || cluster.Spec.Topology.Version != ""
}

// validateReferences demands something to build the cluster from, and that what was named stays named.
func validateReferences(cluster, before *clusterv1.Cluster, path *field.Path) field.ErrorList {
	infrastructure, controlPlane := cluster.Spec.InfrastructureRef, cluster.Spec.ControlPlaneRef
	var problems field.ErrorList
	if infrastructure.Name == "" && controlPlane.Name == "" && !hasTopology(cluster) {
		problems = append(problems, field.Required(path, "set infrastructureRef, controlPlaneRef or topology: without one of them there is nothing to create"))
	}
	if before == nil {
		return problems
	}
	if before.Spec.InfrastructureRef.Name != "" && infrastructure.Name == "" {
		problems = append(problems, field.Forbidden(path.Child("infrastructureRef"), "must not be removed once it is set"))
	}
	if before.Spec.ControlPlaneRef.Name != "" && controlPlane.Name == "" {
		problems = append(problems, field.Forbidden(path.Child("controlPlaneRef"), "must not be removed once it is set"))
	}
	return problems
}

func ranges(blocks []string, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for i, block := range blocks {
		if _, err := netip.ParsePrefix(block); err != nil {
			problems = append(problems, field.Invalid(path.Index(i), block, "must be a CIDR block such as 10.128.0.0/16 or fd00:10::/64"))
		}
	}
	return problems
}

func upgradeConcurrency(annotations map[string]string) field.ErrorList {
	value, ok := annotations[clusterv1.ClusterTopologyUpgradeConcurrencyAnnotation]
	if n, err := strconv.Atoi(value); !ok || (err == nil && n >= 1) {
		return nil
	}
	path := field.NewPath("metadata", "annotations").Key(clusterv1.ClusterTopologyUpgradeConcurrencyAnnotation)
	return field.ErrorList{field.Invalid(path, value, "must be a whole number of at least 1")}
}

func validateTopology(cluster, before *clusterv1.Cluster, features manager.Features, path *field.Path) field.ErrorList {
	if !hasTopology(cluster) {
		if before != nil && hasTopology(before) {
			return field.ErrorList{field.Forbidden(path, "must not be removed once it is set")}
		}
		return nil
	}
	if !features.Enabled(manager.FeatureClusterTopology) {
		return field.ErrorList{field.Forbidden(path, "can be set only with the feature gate "+manager.FeatureClusterTopology)}
	}
	problems := rules.Version(cluster.Spec.Topology.Version, path.Child("version"))
	problems = append(problems, autoscaled(cluster.Spec.Topology.Workers, path.Child("workers"))...)
	if before == nil {
		return problems
	}
	_, unsafe := cluster.Annotations[clusterv1.ClusterTopologyUnsafeUpdateClassNameAnnotation]
	if !hasTopology(before) && !unsafe {
		problems = append(problems, field.Forbidden(path, "must not be added to a cluster that was made without it"))
	}
	return append(problems, versionStep(cluster, before, path.Child("version"))...)
}

// autoscaled refuses a number of replicas where the cluster autoscaler is to choose it.
func autoscaled(workers clusterv1.WorkersTopology, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	check := func(replicas *int32, annotations map[string]string, at *field.Path) {
		_, lowest := annotations[clusterv1.AutoscalerMinSizeAnnotation]
		_, highest := annotations[clusterv1.AutoscalerMaxSizeAnnotation]
		if replicas != nil && (lowest || highest) {
			problems = append(problems, field.Forbidden(at.Child("replicas"), "must not be set together with the cluster autoscaler's annotations for size"))
		}
	}
	for i, d := range workers.MachineDeployments {
		check(d.Replicas, d.Metadata.Annotations, path.Child("machineDeployments").Index(i))
	}
	for i, p := range workers.MachinePools {
		check(p.Replicas, p.Metadata.Annotations, path.Child("machinePools").Index(i))
	}
	return problems
}

// versionStep allows only steps that Kubernetes supports: never down, and at most one minor version up.
func versionStep(cluster, before *clusterv1.Cluster, path *field.Path) field.ErrorList {
	if _, unsafe := cluster.Annotations[clusterv1.ClusterTopologyUnsafeUpdateVersionAnnotation]; unsafe {
		return nil
	}
	to, err := rules.ParseVersion(cluster.Spec.Topology.Version)
	if err != nil || before.Spec.Topology.Version == "" {
		return nil // an unreadable version is reported elsewhere
	}
	from, err := rules.ParseVersion(before.Spec.Topology.Version)
	if err != nil {
		return nil // leaving an unreadable version is always right
	}
	switch {
	case to.LT(from):
		return field.ErrorList{field.Invalid(path, cluster.Spec.Topology.Version, "must not be lower than "+before.Spec.Topology.Version)}
	case to.Major != from.Major || to.Minor > from.Minor+1:
		return field.ErrorList{field.Invalid(path, cluster.Spec.Topology.Version, fmt.Sprintf("must be at most one minor version above %s", before.Spec.Topology.Version))}
	}
	return nil
}
