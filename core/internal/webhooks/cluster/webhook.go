// Package cluster holds the rules of admission for Clusters.
package cluster

import (
	"context"
	"net/netip"
	"strconv"

	"github.com/blang/semver/v4"
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
	reader := newReader(mgr)
	return admission.Register(mgr, &clusterv1.Cluster{}, admission.Rules[*clusterv1.Cluster]{
		Kind:    clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind).GroupKind(),
		Default: func(obj, _ *clusterv1.Cluster) { Default(obj) },
		Validate: func(obj, before *clusterv1.Cluster) field.ErrorList {
			return Validate(obj, before, features)
		},
		DefaultAmong: func(ctx context.Context, obj, _ *clusterv1.Cluster) error {
			among, err := reader.look(ctx, obj, nil)
			DefaultAmong(obj, among)
			return err
		},
		ValidateAmong: func(ctx context.Context, obj, before *clusterv1.Cluster) ([]string, field.ErrorList, error) {
			among, err := reader.look(ctx, obj, before)
			if err != nil {
				return nil, nil, err
			}
			warnings, problems := ValidateAmong(ctx, obj, before, among)
			return append(NetworkWarnings(obj, before), warnings...), problems, nil
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
	problems = append(problems, replicas(cluster.Spec.Topology, path)...)
	problems = append(problems, autoscaled(cluster.Spec.Topology.Workers, path.Child("workers"))...)
	if before == nil {
		return problems
	}
	_, unsafe := cluster.Annotations[clusterv1.ClusterTopologyUnsafeUpdateClassNameAnnotation]
	if !hasTopology(before) && !unsafe {
		problems = append(problems, field.Forbidden(path, "must not be added to a cluster that was made without it"))
	}
	return append(problems, versionDown(cluster, before, path.Child("version"))...)
}

// replicas refuses numbers below zero: what is made of the topology would be refused, and with it all that follows.
func replicas(topology clusterv1.Topology, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	check := func(n *int32, at *field.Path) {
		if n != nil && *n < 0 {
			problems = append(problems, field.Invalid(at.Child("replicas"), *n, "must not be negative"))
		}
	}
	check(topology.ControlPlane.Replicas, path.Child("controlPlane"))
	for i, d := range topology.Workers.MachineDeployments {
		check(d.Replicas, path.Child("workers", "machineDeployments").Index(i))
	}
	for i, p := range topology.Workers.MachinePools {
		check(p.Replicas, path.Child("workers", "machinePools").Index(i))
	}
	return problems
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

// versionDown refuses what Kubernetes cannot do. How far up a step may go depends on the class.
func versionDown(cluster, before *clusterv1.Cluster, path *field.Path) field.ErrorList {
	from, to, changed := versionChange(cluster, before)
	if !changed || to.GTE(from) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, cluster.Spec.Topology.Version, "must not be lower than "+before.Spec.Topology.Version)}
}

// versionChange reads the versions of a change that is to be judged. Leaving an unreadable version is always right, and an
// unreadable new one is reported elsewhere.
func versionChange(cluster, before *clusterv1.Cluster) (from, to semver.Version, judged bool) {
	if _, unsafe := cluster.Annotations[clusterv1.ClusterTopologyUnsafeUpdateVersionAnnotation]; unsafe || before == nil {
		return from, to, false
	}
	is, was := cluster.Spec.Topology.Version, before.Spec.Topology.Version
	from, err := rules.ParseVersion(was)
	if err != nil || is == was {
		return from, to, false
	}
	to, err = rules.ParseVersion(is)
	return from, to, err == nil
}
