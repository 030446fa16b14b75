package cluster

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

var errNoKind = fmt.Errorf("fakeclusters: %w", contractversion.ErrNoCRD)

func deletedBy(d Decision) []string {
	var out []string
	for _, a := range d.Actions {
		if x, ok := a.(Delete); ok {
			out = append(out, x.Kind+" "+x.Object.GetName())
		}
	}
	return out
}

// Conformance: CL-06, CL-20, CL-21, CL-22, CL-23, CL-24, CL-25, CL-48, SH-22
func TestDeletionSteps(t *testing.T) {
	onlyControlPlane := func(w *World) { w.Descendants = Descendants{Machines: w.Descendants.Machines[:1]} }
	gone := func(w *World) { w.ControlPlane, w.Infrastructure = none, none }
	topology := clusterWith(func(c *clusterv1.Cluster) { c.Spec.Topology.ClassRef.Name = "class" })
	for _, c := range []struct {
		name    string
		changes []change
		reason  string
		message string
		deletes []string
		err     string
	}{
		{name: "1 a topology waits for its hook", changes: []change{topology, func(w *World) { w.BeforeDeleteHook = true }}, reason: clusterv1.ClusterDeletingWaitingForBeforeDeleteHookReason},
		{name: "1 where hooks are off nobody is asked", changes: []change{topology, empty, gone}, reason: clusterv1.DeletionCompletedReason},
		{name: "1 until that agrees", changes: []change{topology, empty, gone, func(w *World) { w.BeforeDeleteHook = true },
			clusterWith(func(c *clusterv1.Cluster) { c.Annotations = map[string]string{runtimev1.OkToDeleteAnnotation: ""} })}, reason: clusterv1.DeletionCompletedReason},
		{name: "2 unreadable descendants stop all", changes: []change{func(w *World) { w.Descendants = Descendants{Err: errRead} }}, reason: clusterv1.InternalErrorReason, err: "refused"},
		{name: "3 workers first", reason: clusterv1.ClusterDeletingWaitingForWorkersDeletionReason,
			message: "* Machines: worker\n* MachineDeployments: md\n* MachineSets: ms", deletes: []string{"MachineDeployment md"}},
		{name: "3 what others own is waited for", changes: []change{func(w *World) { w.Descendants.MachineDeployments = nil }}, reason: clusterv1.ClusterDeletingWaitingForWorkersDeletionReason,
			message: "* Machines: worker\n* MachineSets: ms"},
		{name: "3 a stand-alone set", changes: []change{func(w *World) {
			w.Descendants = Descendants{MachineSets: []*clusterv1.MachineSet{machineSet("alone", "")}}
		}}, reason: clusterv1.ClusterDeletingWaitingForWorkersDeletionReason, deletes: []string{"MachineSet alone"}},
		{name: "3 control plane machines without an object above", changes: []change{standalone, onlyControlPlane, func(w *World) {
			w.Descendants.Machines[0].OwnerReferences = []metav1.OwnerReference{owner()}
		}}, reason: clusterv1.ClusterDeletingWaitingForWorkersDeletionReason, deletes: []string{"Machine cp"}},
		{name: "4 then the control plane", changes: []change{onlyControlPlane}, reason: clusterv1.ClusterDeletingWaitingForControlPlaneDeletionReason, message: "* FakeControlPlane: c", deletes: []string{"FakeControlPlane c"}},
		{name: "4 unreadable is not gone", changes: []change{empty, controlPlaneIs(referred.Object{Err: errRead})}, reason: clusterv1.ClusterDeletingWaitingForControlPlaneDeletionReason, err: "refused"},
		{name: "5 then the infrastructure", changes: []change{empty, controlPlaneIs(none)}, reason: clusterv1.ClusterDeletingWaitingForInfrastructureDeletionReason, deletes: []string{"FakeCluster c"}},
		{name: "5 unreadable is not gone", changes: []change{empty, controlPlaneIs(none), infrastructureIs(referred.Object{Err: errRead})}, reason: clusterv1.ClusterDeletingWaitingForInfrastructureDeletionReason, err: "refused"},
		{name: "5 a kind that was never installed leaves nothing behind", changes: []change{fresh, controlPlaneIs(none), infrastructureIs(referred.Object{Err: errNoKind})}, reason: clusterv1.DeletionCompletedReason},
		{name: "5 a kind that is gone may leave something behind", changes: []change{empty, controlPlaneIs(none), infrastructureIs(referred.Object{Err: errNoKind})},
			reason: clusterv1.ClusterDeletingWaitingForInfrastructureDeletionReason, message: errNoKind.Error()},
		{name: "6 then the cluster", changes: []change{empty, gone}, reason: clusterv1.DeletionCompletedReason},
		{name: "6 a cluster that never had anything", changes: []change{fresh, gone}, reason: clusterv1.DeletionCompletedReason},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(append([]change{deleting}, c.changes...)...))
			assert.Equal(t, c.reason, conditions.Reason(d.Cluster, clusterv1.DeletingCondition))
			assert.Equal(t, c.reason == clusterv1.DeletionCompletedReason, len(d.Cluster.Finalizers) == 0)
			assert.Equal(t, c.deletes, deletedBy(d))
			ended := slices.ContainsFunc(d.Events, func(e Event) bool { return e.Reason == "Deleted" })
			assert.Equal(t, c.reason == clusterv1.DeletionCompletedReason, ended, "the end is an event")
			if c.message != "" {
				assert.Equal(t, c.message, conditions.Message(d.Cluster, clusterv1.DeletingCondition))
			}
			if c.err != "" {
				assert.ErrorContains(t, d.Err, c.err)
			} else {
				assert.NoError(t, d.Err)
			}
			assert.Equal(t, clusterv1.ClusterPhaseDeleting, d.Cluster.Status.Phase)
		})
	}
}

// Conformance: CL-23
func TestLongListsEnd(t *testing.T) {
	d := Decide(world(deleting, empty, func(w *World) {
		for i := range 12 {
			w.Descendants.Machines = append(w.Descendants.Machines, machine(fmt.Sprintf("m%02d", 11-i), nil))
		}
	}))
	assert.Equal(t, "* Machines: m00, m01, m02, m03, m04 and 7 more", conditions.Message(d.Cluster, clusterv1.DeletingCondition))
}

// TestDeletionOrderAlwaysHolds lives through random deletions: any object may be missing, appear late, be held or be
// unreadable for a while. Workers go before the control plane, that before the infrastructure, and the cluster last.
//
// Conformance: CL-24, CL-25
func TestDeletionOrderAlwaysHolds(t *testing.T) {
	for seed := range int64(2000) {
		random := rand.New(rand.NewSource(seed))
		w := arbitrary(random)
		for step := 0; len(w.Cluster.Finalizers) > 0; step++ {
			require.Less(t, step, 100, "seed %d does not end: %s", seed, conditions.Reason(w.Cluster, clusterv1.DeletingCondition))
			d := Decide(w)
			checkOrder(t, seed, w, d)
			live(random, &w, d, step < 40)
		}
	}
}

func arbitrary(random *rand.Rand) World {
	w := world(deleting)
	for _, c := range []change{infrastructureIs(none), controlPlaneIs(none), empty, fresh, standalone, func(w *World) { w.Descendants.MachineDeployments = nil },
		func(w *World) { w.Descendants.MachineSets = append(w.Descendants.MachineSets, machineSet("alone", "")) }} {
		if random.Intn(4) == 0 {
			c(&w)
		}
	}
	return w
}

func checkOrder(t *testing.T, seed int64, w World, d Decision) {
	t.Helper()
	workers := len(w.Descendants.MachineDeployments) + len(w.Descendants.MachineSets)
	for _, m := range w.Descendants.Machines {
		if !labels.IsControlPlane(m.Labels) {
			workers++
		}
	}
	known := func(r referred.Object) bool { return r.Object == nil && r.Err == nil }
	for _, what := range deletedBy(d) {
		switch what {
		case "FakeControlPlane c":
			require.True(t, workers == 0 && w.Descendants.Err == nil, "seed %d: control plane before workers", seed)
		case "FakeCluster c":
			require.True(t, workers == 0 && w.Descendants.Err == nil && known(w.ControlPlane), "seed %d: infrastructure before control plane", seed)
		}
	}
	if len(d.Cluster.Finalizers) == 0 {
		require.True(t, workers == 0 && w.Descendants.Err == nil && known(w.ControlPlane) && known(w.Infrastructure), "seed %d: cluster before all that it has", seed)
	}
}

// live carries the decision out and lets things happen; troubled says whether reads fail and objects are held.
func live(random *rand.Rand, w *World, d Decision, troubled bool) {
	w.Cluster = d.Cluster
	at := metav1.NewTime(now)
	for _, a := range d.Actions {
		if x, ok := a.(Delete); ok {
			x.Object.SetDeletionTimestamp(&at)
		}
	}
	ends := func(o client.Object) bool {
		return !o.GetDeletionTimestamp().IsZero() && (!troubled || random.Intn(3) == 0)
	}
	for _, r := range []*referred.Object{&w.ControlPlane, &w.Infrastructure} {
		switch {
		case r.Err != nil && (!troubled || random.Intn(2) == 0), r.Object != nil && ends(r.Object):
			*r = none
		case r.Missing && troubled && random.Intn(6) == 0:
			*r = referred.Object{Err: errRead}
		}
	}
	members(w, ends)
	w.Descendants.Err = nil
	if troubled && random.Intn(5) == 0 {
		w.Descendants.Err = errRead
	}
}

// members lets go what is being deleted, and what its owner took with it.
func members(w *World, ends func(client.Object) bool) {
	d := &w.Descendants
	d.MachineDeployments = remaining(d.MachineDeployments, ends)
	ownerless := func(o client.Object) bool { return len(d.MachineDeployments) == 0 && len(o.GetOwnerReferences()) == 0 }
	d.MachineSets = remaining(d.MachineSets, func(ms client.Object) bool { return ends(ms) || ownerless(ms) })
	d.Machines = remaining(d.Machines, func(m client.Object) bool {
		return ends(m) || (len(d.MachineSets) == 0 && !labels.IsControlPlane(m.GetLabels())) || (w.ControlPlane.Object == nil && labels.IsControlPlane(m.GetLabels()))
	})
}

func remaining[T client.Object](list []T, ends func(client.Object) bool) []T {
	var out []T
	for _, o := range list {
		if !ends(o) {
			out = append(out, o)
		}
	}
	return out
}
