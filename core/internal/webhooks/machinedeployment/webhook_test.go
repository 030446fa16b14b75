package machinedeployment_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machineset"
)

func deployment(changes ...func(*clusterv1.MachineDeployment)) *clusterv1.MachineDeployment {
	ref := clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "K", Name: "n"}
	d := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Name: "md"}, Spec: clusterv1.MachineDeploymentSpec{
		ClusterName: "c",
		Template:    clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{ClusterName: "c", Version: "1.37.2", InfrastructureRef: ref, Bootstrap: clusterv1.Bootstrap{ConfigRef: ref}}},
	}}
	for _, f := range changes {
		f(d)
	}
	return d
}

// Conformance: WH-31, WH-32
func TestDefaultIsValidAndStable(t *testing.T) {
	d := deployment()
	machinedeployment.Default(d, nil)
	assert.EqualValues(t, 1, *d.Spec.Replicas)
	assert.Equal(t, "v1.37.2", d.Spec.Template.Spec.Version)
	assert.EqualValues(t, 10, *d.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds)
	assert.Equal(t, map[string]string{clusterv1.MachineDeploymentNameLabel: "md", clusterv1.ClusterNameLabel: "c"}, d.Spec.Selector.MatchLabels)
	assert.Equal(t, "RollingUpdate 1 0", d.Spec.Rollout.Strategy.Type+" "+d.Spec.Rollout.Strategy.RollingUpdate.MaxSurge.String()+" "+d.Spec.Rollout.Strategy.RollingUpdate.MaxUnavailable.String())
	assert.Empty(t, machinedeployment.Validate(d, nil, manager.DefaultFeatures()))
	again := d.DeepCopy()
	machinedeployment.Default(again, d)
	assert.Equal(t, d, again, "defaulting twice changes nothing")
}

func TestDefaultLeavesTheUsersChoice(t *testing.T) {
	zero := intstr.FromInt32(0)
	d := deployment(func(d *clusterv1.MachineDeployment) {
		d.Spec.Selector.MatchLabels = map[string]string{"own": "label"}
		d.Spec.Template.Metadata.Labels = map[string]string{"own": "label"}
		d.Spec.Rollout.Strategy.Type = clusterv1.OnDeleteMachineDeploymentStrategyType
		d.Spec.Rollout.Strategy.RollingUpdate.MaxSurge = &zero
	})
	machinedeployment.Default(d, nil)
	assert.Equal(t, map[string]string{"own": "label", clusterv1.ClusterNameLabel: "c"}, d.Spec.Selector.MatchLabels)
	assert.Equal(t, clusterv1.OnDeleteMachineDeploymentStrategyType, d.Spec.Rollout.Strategy.Type)
	assert.Nil(t, d.Spec.Rollout.Strategy.RollingUpdate.MaxUnavailable)
	assert.Empty(t, machinedeployment.Validate(d, nil, manager.DefaultFeatures()))
}

// Conformance: WH-05, WH-32, WH-33, WH-34
func TestValidate(t *testing.T) {
	zero, none, odd := intstr.FromInt32(0), intstr.FromString("0%"), intstr.FromString("some")
	rolling := func(surge, unavailable *intstr.IntOrString) func(*clusterv1.MachineDeployment) {
		return func(d *clusterv1.MachineDeployment) {
			d.Spec.Rollout.Strategy.RollingUpdate.MaxSurge, d.Spec.Rollout.Strategy.RollingUpdate.MaxUnavailable = surge, unavailable
		}
	}
	for _, c := range []struct {
		name   string
		change func(*clusterv1.MachineDeployment)
		want   string
	}{
		{"as defaulted", func(*clusterv1.MachineDeployment) {}, ""},
		{"both zero", rolling(&zero, &zero), "spec.rollout.strategy.rollingUpdate.maxUnavailable"},
		{"both zero per cent is rounded away from zero", rolling(&none, &none), ""},
		{"neither number nor percentage", rolling(&odd, &zero), "spec.rollout.strategy.rollingUpdate.maxSurge"},
		{"remediation of some", func(d *clusterv1.MachineDeployment) { d.Spec.Remediation.MaxInFlight = &odd }, "spec.remediation.maxInFlight"},
		{"name that is no label", func(d *clusterv1.MachineDeployment) { d.Name = "a/b" }, "metadata.name"},
		{"names all the same", func(d *clusterv1.MachineDeployment) { d.Spec.MachineNaming.Template = "x" }, "spec.machineNaming.template"},
		{"unknown check", func(d *clusterv1.MachineDeployment) {
			d.Annotations = map[string]string{clusterv1.MachineSetSkipPreflightChecksAnnotation: "None"}
		}, "skip-preflight-checks"},
		{"updates in place if they can be", func(d *clusterv1.MachineDeployment) {
			d.Annotations = map[string]string{clusterv1.InPlaceUpdatesAnnotation: clusterv1.InPlaceUpdatesRequire}
		}, ""},
		{"unknown policy of updates in place", func(d *clusterv1.MachineDeployment) {
			d.Annotations = map[string]string{clusterv1.InPlaceUpdatesAnnotation: "require"}
		}, `metadata.annotations[slipway.dev/in-place-updates]: Unsupported value: "require": supported values: "Prefer", "Require", "Never"`},
		{"fewer than none", func(d *clusterv1.MachineDeployment) { n := int32(-1); d.Spec.Replicas = &n }, "spec.replicas"},
		{"no bootstrap", func(d *clusterv1.MachineDeployment) { d.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{} }, "spec.template.spec.bootstrap"},
		{"template of another cluster", func(d *clusterv1.MachineDeployment) { d.Spec.Template.Spec.ClusterName = "d" }, "spec.template.spec.clusterName"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := deployment()
			machinedeployment.Default(d, nil)
			c.change(d)
			problems := machinedeployment.Validate(d, nil, manager.DefaultFeatures())
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			assert.Len(t, problems, 1)
			assert.ErrorContains(t, problems.ToAggregate(), c.want)
		})
	}
	before := deployment()
	machinedeployment.Default(before, nil)
	after := before.DeepCopy()
	after.Spec.ClusterName, after.Spec.Template.Spec.ClusterName = "d", "d"
	assert.ErrorContains(t, machinedeployment.Validate(after, before, nil).ToAggregate(), "spec.clusterName")
}

// TestSetsOfADeploymentPass: the MachineSet that a controller makes from a valid deployment is valid, and its defaults agree with those of the
// deployment, otherwise every set would differ from its deployment and roll.
//
// Conformance: SH-18
func TestSetsOfADeploymentPass(t *testing.T) {
	d := deployment()
	machinedeployment.Default(d, nil)
	set := &clusterv1.MachineSet{
		ObjectMeta: metav1.ObjectMeta{Name: "md-abcde"},
		Spec:       clusterv1.MachineSetSpec{ClusterName: "c", Replicas: d.Spec.Replicas, Selector: *d.Spec.Selector.DeepCopy(), Template: *d.Spec.Template.DeepCopy()},
	}
	machineset.Default(set, nil)
	assert.Equal(t, d.Spec.Template, set.Spec.Template)
	assert.Equal(t, d.Spec.Selector, set.Spec.Selector)
	assert.Empty(t, machineset.Validate(set, nil, manager.DefaultFeatures()))
}

// Conformance: WH-05, WH-31
func TestStandAloneSet(t *testing.T) {
	set := &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Name: "ms"}, Spec: clusterv1.MachineSetSpec{ClusterName: "c", Template: deployment().Spec.Template}}
	machineset.Default(set, nil)
	assert.Equal(t, map[string]string{clusterv1.MachineSetNameLabel: "ms", clusterv1.ClusterNameLabel: "c"}, set.Spec.Selector.MatchLabels)
	assert.Empty(t, machineset.Validate(set, nil, manager.DefaultFeatures()))
	strange := set.DeepCopy()
	strange.Spec.Selector.MatchLabels = map[string]string{"another": "set"}
	assert.ErrorContains(t, machineset.Validate(strange, nil, manager.DefaultFeatures()).ToAggregate(), "spec.selector")
	other := set.DeepCopy()
	other.Spec.ClusterName = "d"
	assert.Len(t, machineset.Validate(other, set, nil), 2, "the cluster may not change, and the template is for the old one")
}
