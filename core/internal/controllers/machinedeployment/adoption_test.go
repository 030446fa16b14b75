package machinedeployment_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/adoption"
)

// A set that lost its deployment's reference, and a Machine that lost its set's, are taken back; nothing is made anew.
//
// Conformance: MD-03, MS-03
func TestWhatLostItsOwnerIsAdopted(t *testing.T) {
	p := newPool(t, nil)
	p.running("three Machines", 3, "small")
	set, machines := p.sets()[0], p.machines()
	nobody := map[string]any{"metadata": map[string]any{"ownerReferences": nil}}
	for _, o := range []client.Object{&machines[0], &set} {
		patched(t, o, nobody)
		eventually(t, o.GetName()+" is adopted", func() bool {
			require.NoError(t, env.Client.Get(ctx, client.ObjectKeyFromObject(o), o))
			return metav1.GetControllerOf(o) != nil
		})
	}
	p.running("still three", 3, "small")
	assert.Len(t, p.sets(), 1)
	for _, m := range machines {
		require.NoError(t, env.Client.Get(ctx, client.ObjectKeyFromObject(&m), &m), "the same Machines")
	}
}

// A Machine or set of another controller stays there, although the selector matches.
//
// Conformance: MD-03, MS-03
func TestNothingIsTakenFromOthers(t *testing.T) {
	p := newPool(t, nil)
	p.running("three Machines", 3, "small")
	yes := true
	other := []metav1.OwnerReference{{APIVersion: "example.org/v1", Kind: "Other", Name: "other", UID: "other", Controller: &yes}}
	zero := int32(0)
	foreign := &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "foreign", Labels: p.sets()[0].Labels, OwnerReferences: other}}
	foreign.Spec = *p.sets()[0].Spec.DeepCopy()
	foreign.Spec.Replicas = &zero
	foreign.Spec.Selector.MatchLabels[clusterv1.MachineDeploymentUniqueLabel] = "foreign"
	require.NoError(t, env.Client.Create(ctx, foreign))
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "foreign", Labels: p.machines()[0].Labels, OwnerReferences: other},
		Spec: *p.machines()[0].Spec.DeepCopy()}
	require.NoError(t, env.Client.Create(ctx, machine))
	patched(t, p.load(), map[string]any{"metadata": map[string]any{"labels": map[string]any{"wake": "up"}}})
	p.quiet()
	for _, o := range []client.Object{foreign, machine} {
		require.NoError(t, env.Client.Get(ctx, client.ObjectKeyFromObject(o), o))
		assert.Equal(t, "Other", metav1.GetControllerOf(o).Kind)
	}
	assert.Len(t, p.machines(), 4)
}

// Conformance: MS-04
func TestAnOwnerThatChangedAdoptsNothing(t *testing.T) {
	p := newPool(t, func(md *clusterv1.MachineDeployment) {
		md.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	})
	eventually(t, "the pause is told", func() bool { return len(p.load().Status.Conditions) > 0 })
	seen := p.md.DeepCopy()
	require.NoError(t, adoption.Confirm(ctx, env.Client, seen))
	assert.Equal(t, seen.ResourceVersion, p.load().ResourceVersion, "nothing is written")
	patched(t, p.md, map[string]any{"metadata": map[string]any{"labels": map[string]any{"changed": "meanwhile"}}})
	assert.True(t, apierrors.IsConflict(adoption.Confirm(ctx, env.Client, seen)))
	seen = p.load().DeepCopy()
	require.NoError(t, env.Client.Delete(ctx, p.md))
	assert.True(t, apierrors.IsConflict(adoption.Confirm(ctx, env.Client, seen)), "it is going")
	patched(t, p.load(), map[string]any{"metadata": map[string]any{"finalizers": nil}})
	assert.True(t, apierrors.IsNotFound(adoption.Confirm(ctx, env.Client, seen)))
}
