package machineset

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// given is a Machine that a health check has given to its owner.
func given(m *clusterv1.Machine) {
	failedCheck(m)
	conditions.Set(m, remediated(clusterv1.MachineOwnerRemediatedWaitingForRemediationReason, ""))
}

func toRemediate(m *clusterv1.Machine) {
	m.Annotations = map[string]string{clusterv1.RemediateMachineAnnotation: ""}
}

// beingReplaced is a Machine that was deleted to be replaced.
func beingReplaced(m *clusterv1.Machine) {
	leaving(m)
	conditions.Set(m, remediated(clusterv1.MachineSetMachineRemediationMachineDeletingReason, ""))
}

// deployment puts the set under a MachineDeployment of 4 replicas, of the same revision or another.
func deployment(w World, maxInFlight string, revision string) World {
	four := int32(4)
	w.Deployment = &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Name: "md", Annotations: map[string]string{clusterv1.RevisionAnnotation: "2"}}}
	w.Deployment.Spec.Replicas = &four
	if maxInFlight != "" {
		value := intstr.Parse(maxInFlight)
		w.Deployment.Spec.Remediation.MaxInFlight = &value
	}
	w.Set.Annotations = map[string]string{clusterv1.RevisionAnnotation: revision}
	return w
}

// told are the reasons that a decision sets, by Machine; empty for one that is taken away.
func told(d Decision) map[string]string {
	out := map[string]string{}
	for _, a := range d.Actions {
		switch a := a.(type) {
		case Tell:
			out[a.Machine.Name] = ""
			if a.Condition != nil {
				out[a.Machine.Name] = a.Condition.Reason
			}
		case Remediate:
			out[a.Machine.Name] = a.Condition.Reason
		}
	}
	return out
}

// Conformance: MS-40, MS-41, MS-42, MS-43, MS-44, MS-45
func TestRemediation(t *testing.T) {
	const goes, deferred, cannot = clusterv1.MachineSetMachineRemediationMachineDeletingReason, clusterv1.MachineSetMachineRemediationDeferredReason, clusterv1.MachineSetMachineCannotBeRemediatedReason
	type reasons = map[string]string
	for _, c := range []struct {
		name  string
		world World
		want  reasons
	}{
		{"nobody is ill", world(1, machine("a")), reasons{}},
		{"unhealthy, but not given to the set", world(1, machine("a", failedCheck)), reasons{}},
		{"given", world(1, machine("a", given)), reasons{"a": goes}},
		{"going already", world(1, machine("a", given, leaving)), reasons{}},
		{"healthy again", world(1, machine("a", func(m *clusterv1.Machine) { conditions.Set(m, remediated(deferred, "")) })), reasons{"a": ""}},
		{"no limit without a MachineDeployment", world(3, machine("a", given), machine("b", given), machine("c", given)), reasons{"a": goes, "b": goes, "c": goes}},
		{"no limit where none is set", deployment(world(2, machine("a", given), machine("b", given)), "", "2"), reasons{"a": goes, "b": goes}},
		{"the newest first", deployment(world(3, machine("a", given, aged(3*time.Hour)), machine("b", given, aged(time.Minute)), machine("c", given, aged(2*time.Hour))), "1", "2"), reasons{"a": deferred, "b": goes, "c": deferred}},
		{"what a user has marked before", deployment(world(2, machine("a", given, toRemediate, aged(3*time.Hour)), machine("b", given, aged(time.Minute))), "1", "2"), reasons{"a": goes, "b": deferred}},
		{"those under way count", deployment(world(2, machine("a", beingReplaced), machine("b", given)), "1", "2"), reasons{"b": deferred}},
		{"a percentage rounds up", deployment(world(3, machine("a", given, aged(1*time.Hour)), machine("b", given, aged(2*time.Hour)), machine("c", given, aged(3*time.Hour))), "30%", "2"), reasons{"a": goes, "b": goes, "c": deferred}},
		{"none at all", deployment(world(1, machine("a", given)), "0", "2"), reasons{"a": deferred}},
		{"more than there are", deployment(world(1, machine("a", given)), "9", "2"), reasons{"a": goes}},
		{"an earlier revision", deployment(world(2, machine("a", given), machine("b", given)), "", "1"), reasons{"a": cannot, "b": cannot}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(c.world)
			require.NoError(t, d.Err)
			assert.Equal(t, c.want, told(d))
		})
	}
}

// Who goes for being ill is part of the surplus, so that no good Machine goes besides.
//
// Conformance: MS-27
func TestIllMachinesArePartOfTheSurplus(t *testing.T) {
	d := Decide(world(2, machine("a", given), machine("b", marked), machine("c")))
	assert.Equal(t, map[string]string{"a": clusterv1.MachineSetMachineRemediationMachineDeletingReason}, told(d))
	assert.Empty(t, deleted(d))
	d = Decide(world(1, machine("a", given), machine("b", marked), machine("c")))
	assert.Equal(t, []string{"b"}, deleted(d))
}

// Conformance: MS-45
func TestNothingIsToldTwice(t *testing.T) {
	w := deployment(world(1, machine("a", given)), "0", "2")
	d := Decide(w)
	require.Len(t, told(d), 1)
	for _, a := range d.Actions {
		if tell, ok := a.(Tell); ok {
			conditions.Set(w.Machines[0], *tell.Condition)
		}
	}
	assert.Empty(t, told(Decide(w)))
}

// Conformance: MS-46
func TestNoRemediationOnAStaleCache(t *testing.T) {
	w := world(1, machine("a", given))
	w.Unseen = true
	assert.Empty(t, told(Decide(w)))
}
