package machineset

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/inplace"
)

func handed(m *clusterv1.Machine) { inplace.HandOver(m) }
func templateNamed(name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FakeMachineTemplate", Name: name}
}

func busy(m *clusterv1.Machine) { inplace.Begin(m) }

// giving is a set that hands Machines over to the set "new".
func giving(w World, policy inplace.Policy) World {
	w.Set.Annotations = map[string]string{clusterv1.MachineSetMoveMachinesToMachineSetAnnotation: "new", clusterv1.InPlaceUpdatesAnnotation: string(policy)}
	w.Receiver = &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "new", UID: "new-uid",
		Annotations: map[string]string{clusterv1.MachineSetReceiveMachinesFromMachineSetsAnnotation: "ms"}}}
	return w
}

// told lists what a decision does with Machines.
func toldOf(d Decision) (out []string) {
	for _, a := range d.Actions {
		switch a := a.(type) {
		case Move:
			out = append(out, "move "+a.Machine.Name+" to "+a.To.Name)
		case Delete:
			out = append(out, "delete "+a.Machine.Name)
		case Start:
			out = append(out, "start "+a.Machine.Name)
		case Create:
			out = append(out, "create")
		}
	}
	return out
}

// TestHandingOver: who goes to the new set, who is deleted, and who stays.
//
// Conformance: MS-64
func TestHandingOver(t *testing.T) {
	for _, c := range []struct {
		name     string
		wanted   int32
		policy   inplace.Policy
		machines []*clusterv1.Machine
		want     []string
	}{
		{"nobody", 2, inplace.Prefer, []*clusterv1.Machine{machine("a"), machine("b")}, nil},
		{"one", 1, inplace.Prefer, []*clusterv1.Machine{machine("a"), machine("b")}, []string{"move a to new"}},
		{"those that leave already count", 1, inplace.Prefer, []*clusterv1.Machine{machine("a"), machine("b", leaving)}, nil},
		{"first one that nobody misses", 1, inplace.Prefer, []*clusterv1.Machine{machine("a"), machine("b", busy)}, []string{"move b to new"}},
		{"an ill one is replaced", 1, inplace.Prefer, []*clusterv1.Machine{machine("a"), machine("b", unavailable, sick)}, []string{"delete b"}},
		{"an ill one stays if it must not be replaced", 1, inplace.Require, []*clusterv1.Machine{machine("a"), machine("b", unavailable, sick)}, []string{"move a to new"}},
		{"nobody is well", 0, inplace.Require, []*clusterv1.Machine{machine("a", withoutNode), machine("b", failedCheck)}, nil},
		{"an update makes ill, which is no reason", 1, inplace.Require, []*clusterv1.Machine{machine("a"), machine("b", busy, sick)}, []string{"move b to new"}},
		{"one that has just come goes on later", 1, inplace.Require, []*clusterv1.Machine{machine("a"), machine("b", handed)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := giving(world(c.wanted, c.machines...), c.policy)
			w.Set.Annotations[clusterv1.AcknowledgedMoveAnnotation] = "b"
			w.Infrastructure = Template{}
			assert.Equal(t, c.want, toldOf(Decide(w)))
		})
	}
}

func unavailable(m *clusterv1.Machine) {
	conditions.Set(m, condition(clusterv1.AvailableCondition, metav1.ConditionFalse, "Bad", ""))
}

// TestBothSidesAgree: as long as the other set does not want the Machines, none goes and none is deleted.
//
// Conformance: MS-64
func TestBothSidesAgree(t *testing.T) {
	for _, disagree := range []func(*World){
		func(w *World) { w.Receiver = nil },
		func(w *World) { w.Receiver.Annotations = nil },
		func(w *World) { w.Receiver.DeletionTimestamp = &metav1.Time{Time: epoch} },
	} {
		w := giving(world(0, machine("a")), inplace.Prefer)
		disagree(&w)
		d := Decide(w)
		assert.Empty(t, toldOf(d))
		assert.Positive(t, d.After)
	}
}

// TestMarkedAsHandedOverByHand: a Machine of a set without a deployment has come from nowhere. It stays among the replicas.
//
// Conformance: MS-64
func TestMarkedAsHandedOverByHand(t *testing.T) {
	w := world(2, machine("a"), machine("b", handed))
	delete(w.Machines[1].Labels, clusterv1.MachineDeploymentNameLabel)
	d := Decide(w)
	assert.Empty(t, toldOf(d))
	assert.EqualValues(t, 2, *d.Set.Status.Replicas)
}

// TestArrivingMachines: they count once the deployment says so, and then their update begins.
//
// Conformance: MS-64
func TestArrivingMachines(t *testing.T) {
	w := world(1, machine("a"), machine("m", handed))
	w.Objects = map[string][]*unstructured.Unstructured{"m": {infrastructure()}}
	w.Origins = map[clusterv1.ContractVersionedObjectReference]*unstructured.Unstructured{templateNamed("old"): sized("old", map[string]any{"size": "s", "gone": true})}
	w.Infrastructure.Object = &external.Object{Unstructured: sized("x", map[string]any{"size": "l"})}
	assert.Empty(t, toldOf(Decide(w)), "it is not among the replicas, so it is not too many")

	two := int32(2)
	w.Set.Spec.Replicas = &two
	w.Set.Annotations = map[string]string{clusterv1.AcknowledgedMoveAnnotation: "m"}
	w.Set.Spec.Template.Spec.Version = "v1.38.0"
	d := Decide(w)
	require.Equal(t, []string{"start m"}, toldOf(d))
	assert.EqualValues(t, 1, *d.Set.Status.UpToDateReplicas, "who is updated is not counted")
	assert.EqualValues(t, 1, *d.Set.Status.AvailableReplicas)
	var s Start
	for _, a := range d.Actions {
		switch a := a.(type) {
		case Start:
			s = a
		case Sync:
			require.NotEqual(t, "m", a.Machine.Name, "nothing else writes it meanwhile")
		}
	}
	assert.Equal(t, "v1.38.0", s.Wanted.Spec.Version)
	assert.True(t, inplace.Pending(s.Wanted) && !inplace.Arriving(s.Wanted))
	require.Len(t, s.Objects, 1)
	after := s.Objects[0].After
	assert.Equal(t, map[string]any{"size": "l", "providerID": "id"}, after.Object["spec"])
	assert.Equal(t, map[string]string{clusterv1.TemplateClonedFromNameAnnotation: "x", clusterv1.TemplateClonedFromGroupKindAnnotation: "FakeMachineTemplate.infrastructure.cluster.x-k8s.io",
		clusterv1.UpdateInProgressAnnotation: "", "own": "yes"}, after.GetAnnotations())

	// The program ends after the first of its writes: the next one goes on from there, whether the old template is still there or not.
	for _, origins := range []map[clusterv1.ContractVersionedObjectReference]*unstructured.Unstructured{nil, {templateNamed("x"): w.Infrastructure.Object.Unstructured}} {
		again := w
		again.Objects, again.Origins = map[string][]*unstructured.Unstructured{"m": {after}}, origins
		d := Decide(again)
		require.Equal(t, []string{"start m"}, toldOf(d))
		for _, a := range d.Actions {
			if next, ok := a.(Start); ok {
				assert.Equal(t, s.Wanted, next.Wanted)
				assert.Equal(t, after, next.Objects[0].After)
			}
		}
	}

	for name, broken := range map[string]func(*World){
		"FakeMachineTemplate x does not exist": func(w *World) { w.Infrastructure = Template{Missing: true} },
		"FakeMachine x cannot be read":         func(w *World) { w.Objects = nil },
		"no CRD":                               func(w *World) { w.Infrastructure = Template{Err: fmt.Errorf("no CRD")} },
	} {
		v := w
		broken(&v)
		d := Decide(v)
		require.ErrorContains(t, d.Err, name)
		assert.Empty(t, toldOf(d))
	}
}

func sized(name string, spec map[string]any) *unstructured.Unstructured {
	u := templateObject().Unstructured
	u.SetName(name)
	u.Object["spec"] = map[string]any{"template": map[string]any{"spec": spec}}
	return u
}

// infrastructure is what was made for a Machine from the template "old".
func infrastructure() *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": "s", "gone": true, "providerID": "id"}}}
	u.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1")
	u.SetKind("FakeMachine")
	u.SetName("x")
	u.SetAnnotations(map[string]string{clusterv1.TemplateClonedFromNameAnnotation: "old", clusterv1.TemplateClonedFromGroupKindAnnotation: "FakeMachineTemplate.infrastructure.cluster.x-k8s.io", "own": "yes"})

	return u
}
