package kubeadmcontrolplane

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/inplace"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/coredns"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// Options are the feature gates that matter at admission.
type Options struct {
	// TaintPropagation allows taints on machines.
	TaintPropagation bool
	// Ignition allows boot documents in Ignition's format.
	Ignition bool
	// ClusterTopology allows templates.
	ClusterTopology bool
}

// defaultCAValidityDays is how long authorities live if nothing else is said.
const defaultCAValidityDays = 3650

// Validate refuses a control plane that cannot work.
func Validate(controlPlane *controlplanev1.KubeadmControlPlane, options Options) field.ErrorList {
	spec := field.NewPath("spec")
	problems := validateReplicas(controlPlane.Spec.Replicas, machines.ManagedEtcd(controlPlane), spec.Child("replicas"))
	problems = append(problems, validateVersion(controlPlane.Spec.Version, spec.Child("version"))...)
	problems = append(problems, validateTemplate(controlPlane, spec.Child("machineTemplate"), options)...)
	problems = append(problems, validateRollout(controlPlane.Spec.Rollout, controlPlane.Spec.KubeadmConfigSpec, controlPlane.Spec.Replicas, spec.Child("rollout"))...)
	problems = append(problems, validateNaming(controlPlane.Spec.MachineNaming.Template, controlPlane.Name, spec.Child("machineNaming", "template"))...)
	problems = append(problems, validateClusterConfiguration(controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration,
		spec.Child("kubeadmConfigSpec", "clusterConfiguration"))...)
	problems = append(problems, validateInPlaceUpdates(controlPlane.Annotations)...)
	return append(problems, validateConfig(controlPlane.Spec.KubeadmConfigSpec, spec.Child("kubeadmConfigSpec"), options)...)
}

// validateInPlaceUpdates demands a policy that is known.
func validateInPlaceUpdates(annotations map[string]string) field.ErrorList {
	value, ok := annotations[clusterv1.InPlaceUpdatesAnnotation]
	if !ok || slices.Contains(inplace.Policies, inplace.Policy(value)) {
		return nil
	}
	path := field.NewPath("metadata", "annotations").Key(clusterv1.InPlaceUpdatesAnnotation)
	return field.ErrorList{field.NotSupported(path, inplace.Policy(value), inplace.Policies)}
}

// ValidateUpdate refuses a change that cannot work.
func ValidateUpdate(before, after *controlplanev1.KubeadmControlPlane, options Options) field.ErrorList {
	problems := validateChanges(before, after)
	problems = append(problems, validateVersionStep(before, after)...)
	problems = append(problems, validateCoreDNS(before, after)...)
	wasManaged, isManaged := machines.ManagedEtcd(before), machines.ManagedEtcd(after)
	if wasManaged != isManaged {
		problems = append(problems, field.Forbidden(field.NewPath("spec", "kubeadmConfigSpec", "clusterConfiguration", "etcd"),
			"a control plane cannot change between local and external etcd"))
	}
	return append(problems, Validate(after, options)...)
}

func validateReplicas(replicas *int32, managedEtcd bool, path *field.Path) field.ErrorList {
	switch {
	case replicas == nil:
		return field.ErrorList{field.Required(path, "say how many control plane machines are wanted")}
	case *replicas <= 0:
		return field.ErrorList{field.Forbidden(path, "must be at least 1: a control plane cannot be scaled to nothing")}
	case managedEtcd && *replicas%2 == 0:
		return field.ErrorList{field.Forbidden(path,
			"must be odd while etcd runs on the control plane machines: an even number tolerates no more failures than one less")}
	}
	return nil
}

func validateVersion(version string, path *field.Path) field.ErrorList {
	if _, err := semver.Parse(strings.TrimPrefix(version, "v")); err != nil || !strings.HasPrefix(version, "v") {
		return field.ErrorList{field.Invalid(path, version, "must be a semantic version such as v1.37.2")}
	}
	return nil
}

// validateVersionStep: kubeadm upgrades one minor version at a time. A downgrade is allowed only back to a version
// that machines still have, which undoes an upgrade that is not finished.
func validateVersionStep(before, after *controlplanev1.KubeadmControlPlane) field.ErrorList {
	path := field.NewPath("spec", "version")
	from, errFrom := semver.ParseTolerant(before.Spec.Version)
	to, errTo := semver.ParseTolerant(after.Spec.Version)
	if errFrom != nil || errTo != nil {
		return nil
	}
	for _, v := range before.Status.Versions {
		if oldest, err := semver.ParseTolerant(v.Version); err == nil && to.Major == oldest.Major && to.Minor > oldest.Minor+1 && to.Minor <= from.Minor+1 {
			return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
				"cannot go to %s while machines still run %s: let the upgrade to %s end first", after.Spec.Version, v.Version, before.Spec.Version))}
		}
	}
	switch {
	case to.Major != from.Major || to.Minor > from.Minor+1:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"cannot go from %s to %s: upgrade one minor version at a time", before.Spec.Version, after.Spec.Version))}
	case to.LT(from) && !inUse(before, after.Spec.Version):
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"cannot go back from %s to %s: only an unfinished upgrade can be undone", before.Spec.Version, after.Spec.Version))}
	}
	return nil
}

// validateCoreDNS refuses a change of the tag for which the Corefile could not be migrated, unless CoreDNS is the user's.
func validateCoreDNS(before, after *controlplanev1.KubeadmControlPlane) field.ErrorList {
	from := before.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag
	to := after.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag
	_, skip := after.Annotations[controlplanev1.SkipCoreDNSAnnotation]
	if skip || from == to || from == "" || to == "" {
		return nil
	}
	if err := coredns.CanMigrate(from, to); err != nil {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "kubeadmConfigSpec", "clusterConfiguration", "dns", "imageTag"), err.Error())}
	}
	return nil
}

func inUse(controlPlane *controlplanev1.KubeadmControlPlane, version string) bool {
	for _, v := range controlPlane.Status.Versions {
		if v.Version == version {
			return true
		}
	}
	// Before the first machine reports, nothing runs that could be harmed.
	return len(controlPlane.Status.Versions) == 0
}

func validateTemplate(controlPlane *controlplanev1.KubeadmControlPlane, path *field.Path, options Options) field.ErrorList {
	template := controlPlane.Spec.MachineTemplate
	ref, refPath := template.Spec.InfrastructureRef, path.Child("spec", "infrastructureRef")
	var problems field.ErrorList
	for _, part := range []struct{ name, value string }{{"apiGroup", ref.APIGroup}, {"kind", ref.Kind}, {"name", ref.Name}} {
		if part.value == "" {
			problems = append(problems, field.Invalid(refPath.Child(part.name), "", "must name a template of infrastructure machines"))
		}
	}
	if ref.Kind != "" && !strings.HasSuffix(ref.Kind, clusterv1.TemplateSuffix) {
		problems = append(problems, field.Invalid(refPath.Child("kind"), ref.Kind, "must end in Template"))
	}
	problems = append(problems, validateMetadata(template.Metadata, path.Child("metadata"))...)
	return append(problems, validateTaints(template.Spec.Taints, path.Child("spec", "taints"), options)...)
}

func validateMetadata(metadata clusterv1.ObjectMeta, path *field.Path) field.ErrorList {
	problems := metav1validation.ValidateLabels(metadata.Labels, path.Child("labels"))
	return append(problems, validation.ValidateAnnotations(metadata.Annotations, path.Child("annotations"))...)
}

func validateTaints(taints []clusterv1.MachineTaint, path *field.Path, options Options) field.ErrorList {
	if len(taints) == 0 {
		return nil
	}
	if !options.TaintPropagation {
		return field.ErrorList{field.Forbidden(path, "needs feature gate MachineTaintPropagation")}
	}
	var problems field.ErrorList
	for i, taint := range taints {
		key := path.Index(i).Child("key")
		switch {
		case taint.Key == clusterv1.ManagedNodeAnnotationDomain+"/uninitialized", taint.Key == clusterv1.ManagedNodeAnnotationDomain+"/outdated-revision",
			taint.Key == "node-role.kubernetes.io/master",
			strings.HasPrefix(taint.Key, "node.cloudprovider.kubernetes.io/"),
			strings.HasPrefix(taint.Key, "node.kubernetes.io/") && taint.Key != "node.kubernetes.io/out-of-service":
			problems = append(problems, field.Invalid(key, taint.Key, "is set and removed by other parts of the system"))
		}
	}
	return problems
}

// validateRollout takes nil for replicas where they are not known.
func validateRollout(rollout controlplanev1.KubeadmControlPlaneRollout, config bootstrapv1.KubeadmConfigSpec, replicas *int32, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	if surge := rollout.Strategy.RollingUpdate.MaxSurge; surge != nil {
		surgePath := path.Child("strategy", "rollingUpdate", "maxSurge")
		switch value := surge.String(); {
		case value != "0" && value != "1":
			problems = append(problems, field.Required(surgePath, "must be 0 or 1"))
		case value == "0" && replicas != nil && *replicas < 3:
			problems = append(problems, field.Required(surgePath, "must be 1 with fewer than 3 replicas: without a surge the cluster would lose its API"))
		}
	}
	validity := config.ClusterConfiguration.CertificateValidityPeriodDays
	if days := rollout.Before.CertificatesExpiryDays; validity > 0 && days >= validity {
		problems = append(problems, field.Invalid(path.Child("before", "certificatesExpiryDays"), days,
			fmt.Sprintf("must be less than certificateValidityPeriodDays (%d), else machines would be replaced for ever", validity)))
	}
	return problems
}

func validateNaming(template, controlPlane string, path *field.Path) field.ErrorList {
	if template == "" {
		return nil
	}
	name, err := machines.Name(template, "cluster", controlPlane, "abcde")
	if err != nil {
		return field.ErrorList{field.Invalid(path, template, err.Error())}
	}
	if wrong := utilvalidation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return field.ErrorList{field.Invalid(path, template, "gives names such as "+name+": "+strings.Join(wrong, ", "))}
	}
	return nil
}

func validateClusterConfiguration(c bootstrapv1.ClusterConfiguration, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	caDays := c.CACertificateValidityPeriodDays
	if caDays == 0 {
		caDays = defaultCAValidityDays
	}
	if c.CertificateValidityPeriodDays > caDays {
		problems = append(problems, field.Invalid(path.Child("certificateValidityPeriodDays"), c.CertificateValidityPeriodDays,
			fmt.Sprintf("must not be more than the %d days of the authorities", caDays)))
	}
	if len(c.Etcd.External.Endpoints) > 0 && !isZero(c.Etcd.Local) {
		problems = append(problems, field.Forbidden(path.Child("etcd", "local"), "cannot be set together with external"))
	}
	for _, image := range []struct {
		tag  string
		path *field.Path
	}{{c.DNS.ImageTag, path.Child("dns", "imageTag")}, {c.Etcd.Local.ImageTag, path.Child("etcd", "local", "imageTag")}} {
		if image.tag != "" && !imageTag.MatchString(image.tag) {
			problems = append(problems, field.Forbidden(image.path, fmt.Sprintf("%q is no valid image tag", image.tag)))
		}
	}
	if tag := c.DNS.ImageTag; tag != "" && imageTag.MatchString(tag) {
		if _, err := semver.ParseTolerant(strings.ReplaceAll(tag, "_", "+")); err != nil {
			problems = append(problems, field.Invalid(path.Child("dns", "imageTag"), tag, "must be a version, a suffix after _ is allowed"))
		}
	}
	return problems
}
