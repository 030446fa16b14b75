package machine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machine"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinepool"
)

func spec(changes ...func(*clusterv1.MachineSpec)) clusterv1.MachineSpec {
	ref := clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "K", Name: "n"}
	s := clusterv1.MachineSpec{ClusterName: "c", Version: "v1.37.2", InfrastructureRef: ref, Bootstrap: clusterv1.Bootstrap{ConfigRef: ref}}
	for _, f := range changes {
		f(&s)
	}
	return s
}

func noBootstrap(s *clusterv1.MachineSpec) { s.Bootstrap = clusterv1.Bootstrap{} }

func noVersion(s *clusterv1.MachineSpec) { s.Version = "" }

func taint(key string) func(*clusterv1.MachineSpec) {
	return func(s *clusterv1.MachineSpec) { s.Taints = []clusterv1.MachineTaint{{Key: key}} }
}

// Conformance: WH-21, WH-22
func TestValidate(t *testing.T) {
	on := manager.Features{manager.FeatureMachineTaintPropagation: true}
	for _, c := range []struct {
		name     string
		label    string
		spec     clusterv1.MachineSpec
		features manager.Features
		want     string
	}{
		{name: "good", spec: spec()},
		{name: "without version", spec: spec(noVersion)},
		{name: "without bootstrap", spec: spec(noBootstrap), want: "spec.bootstrap"},
		{name: "without bootstrap in a pool", label: clusterv1.MachinePoolNameLabel, spec: spec(noBootstrap)},
		{name: "taint without the feature", spec: spec(taint("a")), want: "spec.taints"},
		{name: "taint", spec: spec(taint("a")), features: on},
		{name: "control plane taint on a worker", spec: spec(taint("node-role.kubernetes.io/control-plane")), features: on, want: "spec.taints[0].key"},
		{name: "control plane taint", label: clusterv1.MachineControlPlaneLabel, spec: spec(taint("node-role.kubernetes.io/control-plane")), features: on},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{c.label: ""}}, Spec: c.spec}
			problems := machine.Validate(m, nil, c.features)
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			assert.Len(t, problems, 1)
			assert.ErrorContains(t, problems.ToAggregate(), c.want)
		})
	}
}

// Conformance: WH-50
func TestPools(t *testing.T) {
	pool := func(changes ...func(*clusterv1.MachineSpec)) *clusterv1.MachinePool {
		return &clusterv1.MachinePool{Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Template: clusterv1.MachineTemplateSpec{Spec: spec(changes...)}}}
	}
	on := manager.DefaultFeatures()
	good := pool()
	machinepool.Default(good, nil)
	assert.EqualValues(t, 1, *good.Spec.Replicas)
	assert.Empty(t, machinepool.Validate(good, nil, on))
	assert.ErrorContains(t, machinepool.Validate(good, nil, nil).ToAggregate(), "feature gate MachinePool")
	assert.Empty(t, machinepool.Validate(good, good, nil), "pools that exist stay usable when the feature is switched off")
	assert.ErrorContains(t, machinepool.Validate(pool(noBootstrap), nil, on).ToAggregate(), "spec.template.spec.bootstrap")
	assert.ErrorContains(t, machinepool.Validate(pool(taint("a")), nil, on).ToAggregate(), "spec.template.spec.taints")
	three := int32(3)
	good.Spec.Replicas = &three
	open := pool()
	machinepool.Default(open, good)
	assert.Equal(t, three, *open.Spec.Replicas)
}
