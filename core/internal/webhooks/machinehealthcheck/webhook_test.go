package machinehealthcheck_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinehealthcheck"
)

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
}
