package machine

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
)

var errNoKind = fmt.Errorf("fakemachines: %w", contractversion.ErrNoCRD)

const (
	preDrain     = clusterv1.PreDrainDeleteHookAnnotationPrefix + "/backup"
	preTerminate = clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/etcd"
)

func clusterDeleting(w *World) { at := metav1.NewTime(now); w.Cluster.DeletionTimestamp = &at }

// Conformance: MA-05, MA-51
func TestDeletionSteps(t *testing.T) {
	gone := func(w *World) { w.Infrastructure, w.Bootstrap = none, none }
	nodeGone := nodeIs(NodeView{Connected: true})
	for _, c := range []struct {
		name    string
		changes []change
		reason  string
		deletes string
		done    bool
		err     string
	}{
		{name: "1 a pre-drain hook holds all", changes: []change{annotated(preDrain)}, reason: clusterv1.MachineDeletingWaitingForPreDrainHookReason},
		{name: "1 is skipped when the cluster goes", changes: []change{annotated(preDrain), clusterDeleting}, reason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, deletes: "FakeMachine"},
		{name: "4 a pre-terminate hook holds the infrastructure", changes: []change{annotated(preTerminate)}, reason: clusterv1.MachineDeletingWaitingForPreTerminateHookReason},
		{name: "4 also when the cluster goes", changes: []change{annotated(preTerminate), clusterDeleting}, reason: clusterv1.MachineDeletingWaitingForPreTerminateHookReason},
		{name: "4 also for the last control plane machine", changes: []change{annotated(preTerminate), func(w *World) { w.ControlPlane.OtherMachines = 0 }}, reason: clusterv1.MachineDeletingWaitingForPreTerminateHookReason},
		{name: "5 infrastructure first", reason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, deletes: "FakeMachine"},
		{name: "5 unreadable is not gone", changes: []change{infrastructureIs(Referred{Err: errRead})}, reason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, err: "refused"},
		{name: "5 a kind that was never installed leaves nothing behind", changes: []change{young, infrastructureIs(Referred{Err: errNoKind}), bootstrapIs(none)}, done: true},
		{name: "5 a kind that is gone may leave something behind", changes: []change{infrastructureIs(Referred{Err: errNoKind})}, reason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason},
		{name: "6 then bootstrap", changes: []change{infrastructureIs(none)}, reason: clusterv1.MachineDeletingWaitingForBootstrapDeletionReason, deletes: "FakeBootstrap"},
		{name: "6 unreadable is not gone", changes: []change{infrastructureIs(none), bootstrapIs(Referred{Err: errRead})}, reason: clusterv1.MachineDeletingWaitingForBootstrapDeletionReason, err: "refused"},
		{name: "7 then the Node", changes: []change{gone}, reason: clusterv1.MachineDeletingDeletingNodeReason, deletes: "Node"},
		{name: "7 is skipped when the cluster goes", changes: []change{gone, clusterDeleting}, done: true},
		{name: "7 is skipped when the Cluster is gone", changes: []change{gone, func(w *World) { w.Cluster = nil }}, done: true},
		{name: "7 is skipped when the control plane goes", changes: []change{gone, func(w *World) { w.ControlPlane.Deleting = true }}, done: true},
		{name: "7 is skipped for the last control plane machine", changes: []change{gone, func(w *World) { w.ControlPlane.OtherMachines = 0 }}, done: true},
		{name: "7 is done where nobody knows the control plane's machines", changes: []change{gone, func(w *World) { w.ControlPlane = ControlPlaneView{ExternallyManaged: true} }}, reason: clusterv1.MachineDeletingDeletingNodeReason, deletes: "Node"},
		{name: "7 a control plane that cannot be read is waited for", changes: []change{gone, func(w *World) { w.ControlPlane.Err = errRead }}, reason: clusterv1.InternalErrorReason, err: "refused"},
		{name: "7 a cluster that does not answer is given time", changes: []change{gone, nodeIs(NodeView{})}, reason: clusterv1.MachineDeletingDeletingNodeReason},
		{name: "7 and then no more", changes: []change{gone, nodeIs(NodeView{}), hadCondition(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.MachineDeletingDeletingNodeReason, 10*time.Second)}, done: true},
		{name: "7 no limit by 0", changes: []change{gone, nodeIs(NodeView{}), hadCondition(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.MachineDeletingDeletingNodeReason, time.Hour),
			machineWith(func(m *clusterv1.Machine) { zero := int32(0); m.Spec.Deletion.NodeDeletionTimeoutSeconds = &zero })}, reason: clusterv1.MachineDeletingDeletingNodeReason},
		{name: "8 nothing left", changes: []change{gone, nodeGone}, done: true},
		{name: "8 a machine that never had anything", changes: []change{young, gone}, done: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(append([]change{deletingFor(time.Minute)}, c.changes...)...))
			if c.err == "" {
				require.NoError(t, d.Err)
			} else {
				require.ErrorContains(t, d.Err, c.err)
			}
			assert.Equal(t, c.done, len(d.Machine.Finalizers) == 0)
			if c.done {
				c.reason = clusterv1.DeletionCompletedReason
			}
			assert.Equal(t, c.reason, conditions.Reason(d.Machine, clusterv1.DeletingCondition))
			assert.Equal(t, clusterv1.MachinePhaseDeleting, d.Machine.Status.Phase)
			assert.Equal(t, c.deletes, deleted(d))
		})
	}
}

// deleted names what a decision deletes; there is never more than one thing.
func deleted(d Decision) string {
	name := ""
	for _, a := range d.Actions {
		switch a := a.(type) {
		case DeleteObject:
			name += a.Object.GetKind()
		case DeleteNode:
			name += "Node"
		}
	}
	return name
}

func TestHooksAreNamedAndTimed(t *testing.T) {
	w := world(deletingFor(time.Minute), machineWith(func(m *clusterv1.Machine) {
		m.Annotations = map[string]string{preTerminate: "", clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/another": ""}
	}))
	d := Decide(w)
	assert.Equal(t, "Waiting for the hooks "+clusterv1.PreTerminateDeleteHookAnnotationPrefix+"/another, "+preTerminate+" to be removed",
		conditions.Message(d.Machine, clusterv1.DeletingCondition))
	assert.Equal(t, slowDeletion-time.Minute, d.After, "who set the hook removes it, and that wakes us; until then it is only told that it takes long")
	require.NotNil(t, d.Machine.Status.Deletion)
	start := d.Machine.Status.Deletion.WaitForPreTerminateHookStartTime
	assert.Equal(t, now, start.UTC())
	w.Machine, w.Now = d.Machine, now.Add(time.Hour)
	assert.Equal(t, start, Decide(w).Machine.Status.Deletion.WaitForPreTerminateHookStartTime, "the start stays")
}

func TestNothingIsDeletedTwice(t *testing.T) {
	at := metav1.NewTime(now)
	infra := found("FakeMachine", nil, nil)
	infra.Object.SetDeletionTimestamp(&at)
	d := Decide(world(deletingFor(time.Minute), infrastructureIs(infra)))
	assert.Empty(t, deleted(d))
	assert.Equal(t, "FakeMachine m is being deleted", conditions.Message(d.Machine, clusterv1.DeletingCondition))
}

// TestDeletionOrderAlwaysHolds lives through random deletions: objects may be missing from the start, vanish, be held, be
// unreadable for a while; hooks, connection and control plane come and go. The order holds in all of them, and when the
// world calms down the machine goes.
func TestDeletionOrderAlwaysHolds(t *testing.T) {
	for seed := range int64(3000) {
		random := rand.New(rand.NewSource(seed))
		w := arbitrary(random)
		for step := 0; len(w.Machine.Finalizers) > 0; step++ {
			require.Less(t, step, 80, "seed %d does not end: %s", seed, conditions.Reason(w.Machine, clusterv1.DeletingCondition))
			d := Decide(w)
			checkOrder(t, seed, w, d)
			live(random, &w, d, step < 40)
		}
	}
}

func arbitrary(random *rand.Rand) World {
	w := world(deletingFor(time.Duration(random.Intn(30)) * time.Second))
	for _, c := range []change{infrastructureIs(none), bootstrapIs(none), nodeIs(NodeView{Connected: true}), nodeIs(NodeView{}), young, clusterDeleting,
		func(w *World) { w.Cluster = nil }, func(w *World) { w.ControlPlane.OtherMachines = 0 }, func(w *World) { w.ControlPlane.Deleting = true },
		annotated(preDrain), annotated(preTerminate)} {
		if random.Intn(5) == 0 {
			c(&w)
		}
	}
	return w
}

func checkOrder(t *testing.T, seed int64, w World, d Decision) {
	t.Helper()
	what := deleted(d)
	_, held := w.Machine.Annotations[preTerminate]
	switch what {
	case "":
	case "FakeMachine":
		require.False(t, held, "seed %d: infrastructure deleted though a hook holds it", seed)
	case "FakeBootstrap":
		require.True(t, w.Infrastructure.Missing || w.Infrastructure == (Referred{}), "seed %d: bootstrap before infrastructure", seed)
	case "Node":
		require.False(t, w.Infrastructure.Object != nil || w.Bootstrap.Object != nil, "seed %d: Node before its machine", seed)
		require.True(t, w.Cluster != nil && w.Cluster.DeletionTimestamp.IsZero(), "seed %d: Node of a cluster that goes", seed)
	default:
		require.Fail(t, "two deletions in one decision", "seed %d: %s", seed, what)
	}
	if len(d.Machine.Finalizers) == 0 {
		for _, r := range []Referred{w.Infrastructure, w.Bootstrap} {
			require.True(t, r.Object == nil && r.Err == nil, "seed %d: finalizer removed though something may be left", seed)
		}
	}
}

// live carries the decision out and lets things happen; troubled says whether reads fail and hooks stay.
func live(random *rand.Rand, w *World, d Decision, troubled bool) {
	w.Machine, w.Now = d.Machine, w.Now.Add(2*time.Second)
	for _, r := range []*Referred{&w.Infrastructure, &w.Bootstrap} {
		if r.Err != nil && (!troubled || random.Intn(2) == 0) {
			*r = none
		}
		if r.Object != nil && deleted(d) == r.Object.GetKind() && r.Object.GetDeletionTimestamp().IsZero() {
			at := metav1.NewTime(w.Now)
			r.Object.SetDeletionTimestamp(&at)
		}
		if r.Object != nil && !r.Object.GetDeletionTimestamp().IsZero() && (!troubled || random.Intn(3) == 0) {
			*r = none
			if troubled && random.Intn(3) == 0 {
				*r = Referred{Err: errRead}
			}
		}
	}
	if deleted(d) == "Node" || !troubled && !w.Node.Connected {
		w.Node = NodeView{Connected: true}
	}
	if !troubled || random.Intn(4) == 0 {
		w.Machine.Annotations = nil
	}
	w.ControlPlane.Err = nil
	if troubled && random.Intn(4) == 0 {
		w.ControlPlane.Err = errRead
	}
}
