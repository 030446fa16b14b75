package machinedrainrule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinedrainrule"
)

// Conformance: WH-40
func TestValidate(t *testing.T) {
	order := int32(5)
	bad := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	for _, c := range []struct {
		name string
		spec clusterv1.MachineDrainRuleSpec
		want string
	}{
		{"in order", clusterv1.MachineDrainRuleSpec{Drain: clusterv1.MachineDrainRuleDrain{Behavior: "Drain", Order: &order}}, ""},
		{"skip", clusterv1.MachineDrainRuleSpec{Drain: clusterv1.MachineDrainRuleDrain{Behavior: "Skip"}}, ""},
		{"skip in order", clusterv1.MachineDrainRuleSpec{Drain: clusterv1.MachineDrainRuleDrain{Behavior: "Skip", Order: &order}}, "spec.drain.order"},
		{"wait in order", clusterv1.MachineDrainRuleSpec{Drain: clusterv1.MachineDrainRuleDrain{Behavior: "WaitCompleted", Order: &order}}, "spec.drain.order"},
		{"machines", clusterv1.MachineDrainRuleSpec{Drain: clusterv1.MachineDrainRuleDrain{Behavior: "Skip"}, Machines: []clusterv1.MachineDrainRuleMachine{{}, {Selector: bad}}}, "spec.machines[1].selector"},
		{"clusters", clusterv1.MachineDrainRuleSpec{Drain: clusterv1.MachineDrainRuleDrain{Behavior: "Skip"}, Machines: []clusterv1.MachineDrainRuleMachine{{ClusterSelector: bad}}}, "spec.machines[0].clusterSelector"},
		{"pods", clusterv1.MachineDrainRuleSpec{Drain: clusterv1.MachineDrainRuleDrain{Behavior: "Skip"}, Pods: []clusterv1.MachineDrainRulePod{{Selector: bad}}}, "spec.pods[0].selector"},
		{"namespaces", clusterv1.MachineDrainRuleSpec{Drain: clusterv1.MachineDrainRuleDrain{Behavior: "Skip"}, Pods: []clusterv1.MachineDrainRulePod{{NamespaceSelector: bad}}}, "spec.pods[0].namespaceSelector"},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := machinedrainrule.Validate(&clusterv1.MachineDrainRule{Spec: c.spec})
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			assert.Len(t, problems, 1)
			assert.ErrorContains(t, problems.ToAggregate(), c.want)
		})
	}
}
