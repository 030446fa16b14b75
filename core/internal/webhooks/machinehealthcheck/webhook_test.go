package machinehealthcheck_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinehealthcheck"
)

// Conformance: HC-29, HC-30, HC-31
func TestValidate(t *testing.T) {
	some := intstr.FromString("some")
	for _, c := range []struct {
		name   string
		change func(*clusterv1.MachineHealthCheckSpec)
		want   string
	}{
		{"good", func(*clusterv1.MachineHealthCheckSpec) {}, ""},
		{"everything", func(s *clusterv1.MachineHealthCheckSpec) { s.Selector = metav1.LabelSelector{} }, "spec.selector"},
		{"start-up in no time", func(s *clusterv1.MachineHealthCheckSpec) { n := int32(29); s.Checks.NodeStartupTimeoutSeconds = &n }, "at least 30"},
		{"start-up not checked", func(s *clusterv1.MachineHealthCheckSpec) { n := int32(0); s.Checks.NodeStartupTimeoutSeconds = &n }, ""},
		{"range", func(s *clusterv1.MachineHealthCheckSpec) { s.Remediation.TriggerIf.UnhealthyInRange = "[1-3]" }, ""},
		{"range of one", func(s *clusterv1.MachineHealthCheckSpec) { s.Remediation.TriggerIf.UnhealthyInRange = "[3-3]" }, ""},
		{"range turned round", func(s *clusterv1.MachineHealthCheckSpec) { s.Remediation.TriggerIf.UnhealthyInRange = "[3-1]" }, "smaller number first"},
		{"range too big", func(s *clusterv1.MachineHealthCheckSpec) {
			s.Remediation.TriggerIf.UnhealthyInRange = "[1-99999999999]"
		}, "unhealthyInRange"},
		{"status that no condition has", func(s *clusterv1.MachineHealthCheckSpec) {
			s.Checks.UnhealthyNodeConditions = []clusterv1.UnhealthyNodeCondition{{Type: "Ready", Status: "False"}, {Type: "Ready", Status: "unknown"}}
		}, `spec.checks.unhealthyNodeConditions[1].status: Unsupported value: "unknown"`},
		{"remediation template", func(s *clusterv1.MachineHealthCheckSpec) { s.Remediation.TemplateRef.Kind = "RebootTemplate" }, ""},
		{"remediation without template", func(s *clusterv1.MachineHealthCheckSpec) { s.Remediation.TemplateRef.Kind = "Reboot" }, "spec.remediation.templateRef.kind"},
		{"negative number", func(s *clusterv1.MachineHealthCheckSpec) {
			n := intstr.FromInt32(-1)
			s.Remediation.TriggerIf.UnhealthyLessThanOrEqualTo = &n
		}, "spec.remediation.triggerIf.unhealthyLessThanOrEqualTo"},
		{"unreadable selector", func(s *clusterv1.MachineHealthCheckSpec) {
			s.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}
		}, "spec.selector"},
		{"neither number nor percentage", func(s *clusterv1.MachineHealthCheckSpec) { s.Remediation.TriggerIf.UnhealthyLessThanOrEqualTo = &some }, "unhealthyLessThanOrEqualTo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := &clusterv1.MachineHealthCheck{Spec: clusterv1.MachineHealthCheckSpec{ClusterName: "c", Selector: metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}
			c.change(&check.Spec)
			machinehealthcheck.Default(check)
			problems := machinehealthcheck.Validate(check, nil)
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			assert.Len(t, problems, 1)
			assert.ErrorContains(t, problems.ToAggregate(), c.want)
		})
	}
	check := &clusterv1.MachineHealthCheck{Spec: clusterv1.MachineHealthCheckSpec{ClusterName: "c"}}
	machinehealthcheck.Default(check)
	assert.EqualValues(t, 600, *check.Spec.Checks.NodeStartupTimeoutSeconds)
	assert.Equal(t, "c", check.Labels[clusterv1.ClusterNameLabel])

	before := check.DeepCopy()
	check.Spec.ClusterName, check.Spec.Selector.MatchLabels = "d", map[string]string{"a": "b"}
	assert.ErrorContains(t, machinehealthcheck.Validate(check, before).ToAggregate(), "spec.clusterName")
}
