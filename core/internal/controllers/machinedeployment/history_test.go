package machinedeployment_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
	webhooks "github.com/slipway-capi/slipway/core/internal/webhooks/machinedeployment"
	"github.com/slipway-capi/slipway/core/plan"
	"github.com/slipway-capi/slipway/core/plan/revisions"
)

// useTemplate changes the infrastructure template and waits until all Machines are of it.
func (p *pool) useTemplate(name string) {
	p.Helper()
	fake(p.T, machineTemplate, p.namespace, name)
	patched(p.T, p.md, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"name": name}}}}})
	p.running("all rolled to "+name, 3, name)
}

// undo puts the template of an earlier revision back.
func (p *pool) undo(to int, template string) {
	p.Helper()
	wanted, err := revisions.Undo(p.load(), p.sets(), to)
	require.NoError(p, err)
	p.md.Spec.Template = wanted
	require.NoError(p, env.Client.Update(ctx, p.md))
	p.running("all back to "+template, 3, template)
}

// history tells for each set what its template is and its revision.
func (p *pool) history() map[string]string {
	out := map[string]string{}
	for _, s := range p.sets() {
		out[s.Spec.Template.Spec.InfrastructureRef.Name] = s.Annotations[clusterv1.RevisionAnnotation]
	}
	return out
}

// Conformance: MD-11, MD-12, MD-13
func TestUndoReusesTheSetOfTheTemplate(t *testing.T) {
	p := newPool(t, nil)
	p.running("three Machines", 3, "small")
	first := p.sets()[0].Name
	p.useTemplate("large")
	assert.Equal(t, map[string]string{"small": "1", "large": "2"}, p.history(), "the set of the earlier template stays, empty")

	p.undo(0, "small")
	assert.Equal(t, first, p.setOf(p.machines()[0]).Name, "no third set")
	assert.Equal(t, map[string]string{"small": "3", "large": "2"}, p.history(), "the set has become the latest")
	assert.Equal(t, "3", p.load().Annotations[clusterv1.RevisionAnnotation])
	for _, m := range p.machines() {
		assert.Equal(t, "web", m.Labels["tier"])
	}

	p.useTemplate("huge")
	eventually(t, "only the last other template stays", func() bool { return len(p.sets()) == 2 })
	assert.Equal(t, map[string]string{"small": "3", "huge": "4"}, p.history())
	_, err := revisions.Undo(p.load(), p.sets(), 2)
	require.ErrorIs(t, err, revisions.ErrUnknown)
	p.undo(3, "small")
	assert.Equal(t, map[string]string{"small": "5", "huge": "4"}, p.history())
	p.quiet()
}

// What a plan says is what happens.
//
// Conformance: MD-60
func TestPlansComeTrue(t *testing.T) {
	p := newPool(t, func(md *clusterv1.MachineDeployment) { webhooks.Default(md, nil) }) // as admission stores it
	p.running("three Machines", 3, "small")
	resolver := external.NewResolver(env.Client)
	make := func() *plan.Plan {
		out, err := plan.Make(ctx, plan.Request{Reader: env.Client, Resolver: resolver, Proposed: p.md})
		require.NoError(t, err)
		return out
	}
	names := func() []string {
		var out []string
		for _, m := range p.machines() {
			out = append(out, m.Name)
		}
		return out
	}
	fates := func(all *plan.Plan) map[plan.Fate][]string {
		out := map[plan.Fate][]string{}
		for _, m := range all.Machines {
			out[m.Fate] = append(out[m.Fate], m.Name)
		}
		return out
	}
	before := names()
	assert.ElementsMatch(t, before, fates(make())[plan.Untouched], "nothing is going on")

	p.load().Spec.Template.Metadata.Labels["tier"] = "db"
	assert.ElementsMatch(t, before, fates(make())[plan.InPlace])
	require.NoError(t, env.Client.Update(ctx, p.md))
	eventually(t, "changed in place", func() bool { return p.machines()[0].Labels["tier"] == "db" })
	p.running("still three", 3, "small")
	assert.Equal(t, before, names())

	two := int32(2)
	p.load().Spec.Replicas = &two
	expected := fates(make())
	require.Len(t, expected[plan.Removed], 1)
	require.NoError(t, env.Client.Update(ctx, p.md))
	p.running("two", 2, "small")
	assert.ElementsMatch(t, expected[plan.Untouched], names())

	p.load().Spec.Template.Spec.InfrastructureRef.Name = "large"
	expected = fates(make())
	assert.ElementsMatch(t, names(), expected[plan.Replaced])
	assert.Equal(t, []string{"FakeMachineTemplate large does not exist"}, make().Blocked)
	require.NoError(t, env.Client.Update(ctx, p.md))
	fake(t, machineTemplate, p.namespace, "large")
	p.running("replaced", 2, "large")
	for _, name := range expected[plan.Replaced] {
		assert.NotContains(t, names(), name)
	}
}
