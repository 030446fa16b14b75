package clusterresourceset

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
)

func set(change func(*addonsv1.ClusterResourceSetSpec)) *addonsv1.ClusterResourceSet {
	s := &addonsv1.ClusterResourceSet{Spec: addonsv1.ClusterResourceSetSpec{
		ClusterSelector: metav1.LabelSelector{MatchLabels: map[string]string{"cni": "x"}}, Strategy: addonsv1.ClusterResourceSetStrategyApplyOnce,
		Resources: []addonsv1.ResourceReference{{Kind: "ConfigMap", Name: "a"}, {Kind: "Secret", Name: "a"}},
	}}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

// Conformance: RS-01, RS-02
func TestValidate(t *testing.T) {
	type spec = addonsv1.ClusterResourceSetSpec
	for _, c := range []struct {
		name   string
		change func(*spec)
		update bool
		want   string
	}{
		{name: "good"},
		{name: "more resources later", update: true, change: func(s *spec) {
			s.Resources = append(s.Resources, addonsv1.ResourceReference{Kind: "Secret", Name: "b"})
		}},
		{name: "no selector", change: func(s *spec) { s.ClusterSelector = metav1.LabelSelector{} }, want: "spec.clusterSelector: Required value: must not be empty"},
		{name: "a selector that is none", change: func(s *spec) {
			s.ClusterSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}
		}, want: "spec.clusterSelector: Invalid value"},
		{name: "a resource twice", change: func(s *spec) { s.Resources = append(s.Resources, s.Resources[0]) }, want: `spec.resources[2]: Duplicate value: "ConfigMap a"`},
		{name: "another strategy later", update: true, change: func(s *spec) { s.Strategy = "Reconcile" }, want: `spec.strategy: Invalid value: "Reconcile": must not change, it was "ApplyOnce"`},
		{name: "another selector later", update: true, change: func(s *spec) { s.ClusterSelector.MatchLabels = map[string]string{"cni": "y"} }, want: `spec.clusterSelector: Invalid value: "cni=y": must not change, it was cni=x`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before *addonsv1.ClusterResourceSet
			if c.update {
				before = set(nil)
			}
			problems := Validate(set(c.change), before)
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			assert.Contains(t, problems.ToAggregate().Error(), c.want)
		})
	}
}

// Conformance: RS-03
func TestDefault(t *testing.T) {
	s := set(func(s *addonsv1.ClusterResourceSetSpec) { s.Strategy = "" })
	Default(s)
	assert.Equal(t, addonsv1.ClusterResourceSetStrategyApplyOnce, s.Spec.Strategy)
}
