package machinepool

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

var errNoKind = fmt.Errorf("fakepools: %w", contractversion.ErrNoCRD)

// leaves is a pool in deletion whose members have no Machines any more.
func leaves(w *World) { deletingFor(time.Second)(w) }

// Conformance: MP-29, MP-31
func TestDeletionSteps(t *testing.T) {
	noMachines := func(w *World) { w.Members = MembersView{} }
	noNodes := func(w *World) { w.Nodes.Known = nil }
	infraGone, allGone := infrastructureIs(missing), []change{noMachines, infrastructureIs(missing), bootstrapIs(missing)}
	trying := poolWith(func(p *clusterv1.MachinePool) {
		conditions.Set(p, condition(clusterv1.DeletingCondition, "True", clusterv1.MachineDeletingDeletingNodeReason, "* Nodes: a, b"))
	})
	timeout := func(n int32) change {
		return poolWith(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds = &n })
	}
	waitsForInfrastructure, deletesNodes := clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, clusterv1.MachineDeletingDeletingNodeReason
	done := clusterv1.DeletionCompletedReason
	for _, tt := range []struct {
		name    string
		changes []change
		reason  string
		message string
		want    []string
		err     string
	}{
		{name: "1 Machines and infrastructure together", changes: []change{shown}, reason: waitsForInfrastructure, message: "* FakePool: p\n* Machines: a, b",
			want: []string{"delete Machine a", "delete Machine b", "delete FakePool"}},
		{name: "1 once", changes: []change{shown, machineWith("a", leaving)}, reason: waitsForInfrastructure, want: []string{"delete Machine b", "delete FakePool"}},
		{name: "1 Machines that drain are waited for", changes: []change{shown, infraGone}, reason: waitsForInfrastructure, message: "* Machines: a, b", want: []string{"delete Machine a", "delete Machine b"}},
		{name: "1 Machines that cannot be read are not gone", changes: []change{infraGone, func(w *World) { w.Members.Err = errRead }}, reason: waitsForInfrastructure, err: "refused"},
		{name: "1 without Machines", reason: waitsForInfrastructure, message: "* FakePool: p", want: []string{"delete FakePool"}},
		{name: "1 unreadable is not gone", changes: []change{infrastructureIs(referred.Object{Err: errRead})}, reason: waitsForInfrastructure, err: "refused"},
		{name: "1 a kind that is gone may leave something behind", changes: []change{infrastructureIs(referred.Object{Err: errNoKind})}, reason: waitsForInfrastructure, message: errNoKind.Error()},
		{name: "2 then the bootstrap config", changes: []change{infraGone}, reason: clusterv1.MachineDeletingWaitingForBootstrapDeletionReason, message: "* FakeBootstrap: p", want: []string{"delete FakeBootstrap"}},
		{name: "3 then the Nodes", changes: allGone, reason: deletesNodes, message: "* Nodes: a, b", want: []string{"delete Node a", "delete Node b"}},
		{name: "3 without connection they are waited for", changes: append([]change{disconnected}, allGone...), reason: deletesNodes},
		{name: "3 for as long as the timeout", changes: append([]change{trying, deletingFor(9 * time.Second)}, allGone...), reason: deletesNodes, want: []string{"delete Node a", "delete Node b"}},
		{name: "3 then without them", changes: append([]change{trying, deletingFor(11 * time.Second)}, allGone...), reason: done},
		{name: "3 a longer timeout", changes: append([]change{trying, timeout(60), deletingFor(11 * time.Second)}, allGone...), reason: deletesNodes, want: []string{"delete Node a", "delete Node b"}},
		{name: "3 no timeout", changes: append([]change{trying, timeout(0), deletingFor(time.Hour)}, allGone...), reason: deletesNodes, want: []string{"delete Node a", "delete Node b"}},
		{name: "3 one full try, however long the rest took", changes: append([]change{deletingFor(time.Hour)}, allGone...), reason: deletesNodes, want: []string{"delete Node a", "delete Node b"}},
		{name: "3 not when the whole cluster goes", changes: append([]change{func(w *World) {
			w.Cluster.DeletionTimestamp = w.Pool.DeletionTimestamp
		}}, allGone...), reason: done},
		{name: "3 nor when it is gone", changes: append([]change{func(w *World) { w.Cluster = nil }}, allGone...), reason: done},
		{name: "3 nor other Nodes of those names", changes: append([]change{func(w *World) {
			for _, n := range w.Nodes.Known {
				n.UID = "other"
			}
		}}, allGone...), reason: done},
		{name: "4 then the pool", changes: append([]change{noNodes}, allGone...), reason: done},
		{name: "4 one that never had anything", changes: []change{young, leaves, infrastructureIs(referred.Object{Err: errNoKind}), bootstrapIs(missing)}, reason: done},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(append([]change{leaves}, tt.changes...)...))
			assert.Equal(t, tt.reason, conditions.Reason(d.Pool, clusterv1.DeletingCondition))
			assert.Equal(t, tt.reason == done, len(d.Pool.Finalizers) == 0)
			assert.Equal(t, tt.want, told(d))
			assert.Equal(t, phaseDeleting, d.Pool.Status.Phase)
			if tt.message != "" {
				assert.Equal(t, tt.message, conditions.Message(d.Pool, clusterv1.DeletingCondition))
			}
			if tt.err != "" {
				assert.ErrorContains(t, d.Err, tt.err)
			} else {
				assert.NoError(t, d.Err)
			}
			if tt.reason == deletesNodes {
				assert.Equal(t, nodeRetry, d.After)
			}
		})
	}
}

func TestGivingUpOnNodesIsTold(t *testing.T) {
	d := Decide(world(deletingFor(time.Minute), infrastructureIs(missing), bootstrapIs(missing), poolWith(func(p *clusterv1.MachinePool) {
		conditions.Set(p, condition(clusterv1.DeletingCondition, "True", clusterv1.MachineDeletingDeletingNodeReason, ""))
	})))
	assert.Equal(t, []string{"FailedDeleteNode: Nodes could not be deleted within the timeout, going on without: a, b"}, eventsOf(d))
	assert.Equal(t, corev1.EventTypeWarning, d.Events[0].Type)
}

func TestEnumerate(t *testing.T) {
	assert.Equal(t, "a, b", enumerate([]string{"b", "a"}))
	assert.Equal(t, "a, b, c, d, e and 2 more", enumerate([]string{"g", "f", "e", "d", "c", "b", "a"}))
}
