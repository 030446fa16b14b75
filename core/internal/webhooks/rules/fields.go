package rules

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	k8slabels "k8s.io/apimachinery/pkg/labels"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
)

// defaultNodeDeletionTimeoutSeconds is how long the deletion of a Node is tried unless the user says otherwise.
const defaultNodeDeletionTimeoutSeconds = 10

// DefaultClusterLabel labels an object with the cluster of its spec.
func DefaultClusterLabel(obj metav1.Object, clusterName string) {
	if clusterName != "" {
		labels.SetClusterName(obj, clusterName)
	}
}

// DefaultNodeDeletionTimeout limits the time for the deletion of a Node.
func DefaultNodeDeletionTimeout(deletion *clusterv1.MachineDeletionSpec) {
	if deletion.NodeDeletionTimeoutSeconds == nil {
		seconds := int32(defaultNodeDeletionTimeoutSeconds)
		deletion.NodeDeletionTimeoutSeconds = &seconds
	}
}

// Unchanged demands that a string stays as it was; a new object has no before.
func Unchanged(before *string, after string, path *field.Path) field.ErrorList {
	if before == nil || *before == after {
		return nil
	}
	return field.ErrorList{field.Invalid(path, after, fmt.Sprintf("must not change, it was %q", *before))}
}

// SameCluster demands that a template is for the same cluster as the object that holds it.
func SameCluster(clusterName, templateClusterName string, path *field.Path) field.ErrorList {
	if clusterName == templateClusterName {
		return nil
	}
	return field.ErrorList{field.Invalid(path, templateClusterName, fmt.Sprintf("must be equal to spec.clusterName, %q", clusterName))}
}

// Bootstrap demands a way to get bootstrap data.
func Bootstrap(bootstrap clusterv1.Bootstrap, path *field.Path) field.ErrorList {
	if bootstrap.ConfigRef.Name != "" || bootstrap.DataSecretName != nil {
		return nil
	}
	return field.ErrorList{field.Required(path, "configRef or dataSecretName must be set, otherwise no machine can start")}
}

// Selector demands a selector that can be read and, where labels are given, matches them.
func Selector(selector metav1.LabelSelector, templateLabels map[string]string, path *field.Path) field.ErrorList {
	parsed, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return field.ErrorList{field.Invalid(path, metav1.FormatLabelSelector(&selector), err.Error())}
	}
	if !parsed.Matches(k8slabels.Set(templateLabels)) {
		return field.ErrorList{field.Invalid(path, metav1.FormatLabelSelector(&selector), "must match spec.template.metadata.labels")}
	}
	return nil
}

// SelectorSyntax demands a selector that can be read.
func SelectorSyntax(selector metav1.LabelSelector, path *field.Path) field.ErrorList {
	if _, err := metav1.LabelSelectorAsSelector(&selector); err != nil {
		return field.ErrorList{field.Invalid(path, metav1.FormatLabelSelector(&selector), err.Error())}
	}
	return nil
}

// TemplateMetadata demands labels and annotations that objects can have.
func TemplateMetadata(metadata clusterv1.ObjectMeta, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for _, key := range sortedKeys(metadata.Labels) {
		for _, problem := range validation.IsQualifiedName(key) {
			problems = append(problems, field.Invalid(path.Child("labels"), key, problem))
		}
		for _, problem := range validation.IsValidLabelValue(metadata.Labels[key]) {
			problems = append(problems, field.Invalid(path.Child("labels").Key(key), metadata.Labels[key], problem))
		}
	}
	for _, key := range sortedKeys(metadata.Annotations) {
		for _, problem := range validation.IsQualifiedName(strings.ToLower(key)) {
			problems = append(problems, field.Invalid(path.Child("annotations"), key, problem))
		}
	}
	return problems
}

// LabelName demands a name that can be the value of a label.
func LabelName(name string) field.ErrorList {
	var problems field.ErrorList
	for _, problem := range validation.IsValidLabelValue(name) {
		problems = append(problems, field.Invalid(field.NewPath("metadata", "name"), name, "must be a valid label value: "+problem))
	}
	return problems
}

// IntOrPercent demands a whole number that is not negative, or a percentage.
func IntOrPercent(value *intstr.IntOrString, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, 100, true)
	if err != nil || n < 0 {
		return field.ErrorList{field.Invalid(path, value.String(), "must be a whole number that is not negative, or a percentage such as 25%")}
	}
	return nil
}

// PreflightChecks demands that the annotation that skips checks names only checks that exist.
func PreflightChecks(annotations map[string]string, path *field.Path) field.ErrorList {
	value, ok := annotations[clusterv1.MachineSetSkipPreflightChecksAnnotation]
	if !ok || value == "" {
		return nil
	}
	known := []string{
		clusterv1.MachineSetPreflightCheckAll, clusterv1.MachineSetPreflightCheckControlPlaneIsStable,
		clusterv1.MachineSetPreflightCheckControlPlaneVersionSkew, clusterv1.MachineSetPreflightCheckKubeadmVersionSkew,
		clusterv1.MachineSetPreflightCheckKubernetesVersionSkew,
	}
	var problems field.ErrorList
	for check := range strings.SplitSeq(value, ",") {
		if check = strings.TrimSpace(check); !slices.Contains(known, check) {
			problems = append(problems, field.NotSupported(path.Key(clusterv1.MachineSetSkipPreflightChecksAnnotation), check, known))
		}
	}
	return problems
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
