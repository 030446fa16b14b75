package outdated_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/outdated"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func ref(kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: "example.org", Kind: kind, Name: name}
}

func template() clusterv1.MachineSpec {
	return clusterv1.MachineSpec{Version: "v1.37.0", FailureDomain: "a", InfrastructureRef: ref("FakeMachineTemplate", "t1"),
		Bootstrap: clusterv1.Bootstrap{ConfigRef: ref("FakeConfigTemplate", "b1")}}
}

func TestDifferences(t *testing.T) {
	empty, secret, seconds := "", "data", int32(9)
	for _, c := range []struct {
		name   string
		change func(*clusterv1.MachineSpec)
		field  string
		line   string
	}{
		{"version", func(s *clusterv1.MachineSpec) { s.Version = "v1.37.1" }, "version", "Version v1.37.0, v1.37.1 required"},
		{"failure domain", func(s *clusterv1.MachineSpec) { s.FailureDomain = "b" }, "failureDomain", "Failure domain a, b required"},
		{"failure domain left out", func(s *clusterv1.MachineSpec) { s.FailureDomain = "" }, "failureDomain", "Failure domain a, unset required"},
		{"bootstrap template", func(s *clusterv1.MachineSpec) { s.Bootstrap.ConfigRef.Name = "b2" }, "bootstrap.configRef", "FakeConfigTemplate b1, b2 required"},
		{"infrastructure template", func(s *clusterv1.MachineSpec) { s.InfrastructureRef.Name = "t2" }, "infrastructureRef", "FakeMachineTemplate t1, t2 required"},
		{"another kind of infrastructure", func(s *clusterv1.MachineSpec) { s.InfrastructureRef.Kind = "Other" }, "infrastructureRef",
			"infrastructureRef FakeMachineTemplate.example.org/t1, Other.example.org/t1 required"},
		{"bootstrap by Secret", func(s *clusterv1.MachineSpec) { s.Bootstrap.DataSecretName = &secret }, "bootstrap.dataSecretName", "Bootstrap data Secret unset, data required"},
		{"an empty name is none", func(s *clusterv1.MachineSpec) { s.Bootstrap.DataSecretName = &empty }, "", ""},
		{"what changes in place", func(s *clusterv1.MachineSpec) {
			s.MinReadySeconds, s.Deletion.NodeDrainTimeoutSeconds = &seconds, &seconds
			s.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "A"}}
			s.Taints = []clusterv1.MachineTaint{{Key: "a"}}
		}, "", ""},
		{"nothing", func(*clusterv1.MachineSpec) {}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := template()
			c.change(&want)
			got := outdated.Differences(template(), want)
			if c.field == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Equal(t, c.field, got[0].Field)
			assert.Equal(t, c.line, got[0].String())
		})
	}
}

func TestBC01TheSecondOfTheRolloutIsItsResult(t *testing.T) {
	after := metav1.NewTime(now)
	for _, c := range []struct {
		created, now time.Duration
		want         bool
	}{
		{-time.Second, -time.Second, false}, {-time.Second, 0, true}, {-time.Second, time.Second, true},
		{0, 0, false}, {0, time.Second, false}, {time.Second, time.Second, false},
	} {
		assert.Equal(t, c.want, outdated.Expired(metav1.NewTime(now.Add(c.created)), after, now.Add(c.now)), "%+v", c)
	}
	assert.False(t, outdated.Expired(metav1.NewTime(now), metav1.Time{}, now.Add(time.Hour)), "nobody asked")
}

func TestReasons(t *testing.T) {
	set := &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}}
	set.Spec.Template.Spec = template()
	md := &clusterv1.MachineDeployment{}
	md.Spec.Template.Spec = template()
	assert.Empty(t, outdated.Reasons(set, md, now))
	md.Spec.Template.Spec.FailureDomain, md.Spec.Template.Spec.Version = "b", "v1.38.0"
	md.Spec.Rollout.After = metav1.NewTime(now)
	assert.Equal(t, []string{"Version v1.37.0, v1.38.0 required", "Failure domain a, b required", "MachineDeployment spec.rollout.after expired"}, outdated.Reasons(set, md, now))
}
