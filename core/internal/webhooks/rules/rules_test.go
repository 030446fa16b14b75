package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/rules"
)

var at = field.NewPath("here")

func number(n int32) *int32 { return &n }

// judged demands that the problems are exactly those that hold the given texts, one each.
func judged(t *testing.T, problems field.ErrorList, want ...string) {
	t.Helper()
	if assert.Len(t, problems, len(want), "%v", problems) {
		for i, text := range want {
			assert.ErrorContains(t, problems[i], text)
		}
	}
}

// Conformance: WH-04
func TestVersion(t *testing.T) {
	for in, want := range map[string]string{"": "", "1.37.2": "v1.37.2", "v1.37.2": "v1.37.2"} {
		rules.DefaultVersion(&in)
		assert.Equal(t, want, in)
	}
	for _, good := range []string{"", "v1.37.2", "v1.37.2+build.1", "v1.38.0-rc.1"} {
		judged(t, rules.Version(good, at))
	}
	for _, bad := range []string{"v1", "v1.37", "latest", "vv1.37.2", "v1.37.2 "} {
		judged(t, rules.Version(bad, at), "semantic version")
	}
}

// Conformance: WH-30
func TestReplicas(t *testing.T) {
	limits := map[string]string{clusterv1.AutoscalerMinSizeAnnotation: "2", clusterv1.AutoscalerMaxSizeAnnotation: "5"}
	for _, c := range []struct {
		name           string
		wanted, before *int32
		annotations    map[string]string
		want           int32
	}{
		{"as wanted", number(7), number(3), limits, 7},
		{"zero is a number", number(0), number(3), nil, 0},
		{"new", nil, nil, nil, 1},
		{"kept", nil, number(4), nil, 4},
		{"kept at zero", nil, number(0), nil, 0},
		{"new with limits", nil, nil, limits, 2},
		{"below the limits", nil, number(1), limits, 2},
		{"within the limits", nil, number(3), limits, 3},
		{"above the limits", nil, number(9), limits, 5},
		{"one limit alone does not count", nil, nil, map[string]string{clusterv1.AutoscalerMinSizeAnnotation: "2"}, 1},
		{"a limit that is no number does not count", nil, nil, map[string]string{clusterv1.AutoscalerMinSizeAnnotation: "x", clusterv1.AutoscalerMaxSizeAnnotation: "5"}, 1},
	} {
		assert.Equal(t, c.want, *rules.DefaultReplicas(c.wanted, c.before, c.annotations), c.name)
	}
	judged(t, rules.NotNegative(number(-1), at), "zero or more")
	judged(t, rules.NotNegative(number(0), at))
	judged(t, rules.NotNegative(nil, at))
	judged(t, rules.AutoscalerLimits(limits, at))
	judged(t, rules.AutoscalerLimits(map[string]string{clusterv1.AutoscalerMinSizeAnnotation: "-1", clusterv1.AutoscalerMaxSizeAnnotation: "x"}, at), "not negative", "not negative")
	judged(t, rules.AutoscalerLimits(map[string]string{clusterv1.AutoscalerMinSizeAnnotation: "6", clusterv1.AutoscalerMaxSizeAnnotation: "5"}, at), "max size, 5")
}

// Conformance: WH-22
func TestTaints(t *testing.T) {
	on := manager.Features{manager.FeatureMachineTaintPropagation: true}
	taints := func(keys ...string) (out []clusterv1.MachineTaint) {
		for _, k := range keys {
			out = append(out, clusterv1.MachineTaint{Key: k, Effect: "NoSchedule", Propagation: "Always"})
		}
		return out
	}
	judged(t, rules.Taints(nil, false, nil, at))
	judged(t, rules.Taints(taints("a"), false, nil, at), "feature gate MachineTaintPropagation")
	judged(t, rules.Taints(taints("example.org/a", "node.kubernetes.io/out-of-service"), false, on, at))
	judged(t, rules.Taints(taints("node-role.kubernetes.io/control-plane"), true, on, at))
	judged(t, rules.Taints(taints("node-role.kubernetes.io/control-plane"), false, on, at), "here[0].key")
	for _, key := range []string{
		"node.cluster.x-k8s.io/uninitialized", "node.cluster.x-k8s.io/outdated-revision", "node-role.kubernetes.io/master",
		"node.kubernetes.io/not-ready", "node.cloudprovider.kubernetes.io/uninitialized",
	} {
		judged(t, rules.Taints(taints("a", key), true, on, at), "here[1].key")
	}
	judged(t, rules.Taints(taints("a b"), false, on, at), "here[0].key")
}

// Conformance: WH-33
func TestNaming(t *testing.T) {
	for template, want := range map[string]string{
		"":                                     "",
		"{{ .machineSet.name }}-{{ .random }}": "",
		"{{ .cluster.name }}-x-{{ .random }}":  "",
		"{{ .machineSet.name }}":               "must use {{ .random }}",
		"{{ .machineDeployment.name }}{{ .random }": "must be a Go template",
		"{{ .other.name }}-{{ .random }}":           "must use only",
		"UPPER-{{ .random }}":                       "must give valid names",
	} {
		problems := rules.Naming(clusterv1.MachineNamingSpec{Template: template}, at)
		if want == "" {
			judged(t, problems)
			continue
		}
		judged(t, problems, want)
	}
}

// Conformance: WH-31
func TestSelectors(t *testing.T) {
	selector := metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	judged(t, rules.Selector(selector, map[string]string{"a": "b", "c": "d"}, at))
	judged(t, rules.Selector(selector, map[string]string{"c": "d"}, at), "must match spec.template.metadata.labels")
	broken := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	judged(t, rules.Selector(broken, nil, at), "Near")
	judged(t, rules.SelectorSyntax(broken, at), "Near")
	judged(t, rules.SelectorSyntax(selector, at))
}

func TestSmallRules(t *testing.T) {
	before := "a"
	judged(t, rules.Unchanged(nil, "b", at))
	judged(t, rules.Unchanged(&before, "a", at))
	judged(t, rules.Unchanged(&before, "b", at), `it was "a"`)
	judged(t, rules.SameCluster("a", "a", at))
	judged(t, rules.SameCluster("a", "b", at), `spec.clusterName, "a"`)
	secret := "s"
	judged(t, rules.Bootstrap(clusterv1.Bootstrap{DataSecretName: &secret}, at))
	judged(t, rules.Bootstrap(clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{Name: "c"}}, at))
	judged(t, rules.Bootstrap(clusterv1.Bootstrap{}, at), "configRef or dataSecretName")
	judged(t, rules.LabelName(strings.Repeat("a", 63)))
	judged(t, rules.LabelName(strings.Repeat("a", 64)), "metadata.name")
}

// Conformance: WH-34
func TestIntOrPercent(t *testing.T) {
	for value, ok := range map[string]bool{"25%": true, "0%": true, "100%": true, "-1%": false, "many": false, "5": false} {
		v := intstr.FromString(value)
		assert.Equal(t, ok, len(rules.IntOrPercent(&v, at)) == 0, value)
	}
	minus, two := intstr.FromInt32(-1), intstr.FromInt32(2)
	judged(t, rules.IntOrPercent(&minus, at), "not negative")
	judged(t, rules.IntOrPercent(&two, at))
	judged(t, rules.IntOrPercent(nil, at))
}

// Conformance: WH-34
func TestPreflightChecks(t *testing.T) {
	check := func(value string) field.ErrorList {
		return rules.PreflightChecks(map[string]string{clusterv1.MachineSetSkipPreflightChecksAnnotation: value}, at)
	}
	judged(t, rules.PreflightChecks(nil, at))
	judged(t, check(""))
	judged(t, check("All"))
	judged(t, check("KubeadmVersionSkew, ControlPlaneIsStable"))
	judged(t, check("KubeadmVersionSkew,Everything"), `"Everything"`)
}

func TestTemplateMetadata(t *testing.T) {
	judged(t, rules.TemplateMetadata(clusterv1.ObjectMeta{Labels: map[string]string{"a/b": "c"}, Annotations: map[string]string{"Example.org/x": "any text at all"}}, at))
	judged(t, rules.TemplateMetadata(clusterv1.ObjectMeta{Labels: map[string]string{"a b": "c", "d": "e f"}, Annotations: map[string]string{"a/b/c": ""}}, at),
		"here.labels", "here.labels[d]", "here.annotations")
}

func TestDefaultsOfMetadata(t *testing.T) {
	m := &clusterv1.Machine{}
	rules.DefaultClusterLabel(m, "")
	assert.Empty(t, m.Labels)
	rules.DefaultClusterLabel(m, "c")
	assert.Equal(t, "c", m.Labels[clusterv1.ClusterNameLabel])
	rules.DefaultNodeDeletionTimeout(&m.Spec.Deletion)
	assert.EqualValues(t, 10, *m.Spec.Deletion.NodeDeletionTimeoutSeconds)
	m.Spec.Deletion.NodeDeletionTimeoutSeconds = number(0)
	rules.DefaultNodeDeletionTimeout(&m.Spec.Deletion)
	assert.Zero(t, *m.Spec.Deletion.NodeDeletionTimeoutSeconds, "zero means for ever")
}
