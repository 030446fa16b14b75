package machinepool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

const (
	// defaultNodeDeletionTimeout is how long the Nodes of a deleted pool are tried to be removed, in seconds.
	defaultNodeDeletionTimeout = 10
	// nodeRetry is when to look again for Nodes that are being deleted.
	nodeRetry = 2 * time.Second
)

var poolDeleted = decision.Because("SuccessfulDelete", "the machine pool is being deleted")

// delete takes the first unfinished step of the deletion. It needs nothing that may have vanished: what is known to be gone
// is done, what cannot be read is waited for.
func (d *Decision) delete(w World) {
	was := w.Pool.Status.Initialization
	machines := d.removeMachines(w)
	switch infrastructure := d.remove(w.Infrastructure, isTrue(was.InfrastructureProvisioned), clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason); {
	case machines != "" && infrastructure:
		d.deleting(clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, conditions.Message(d.Pool, clusterv1.DeletingCondition)+"\n"+machines)
	case machines != "":
		d.deleting(clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, machines)
	case infrastructure:
	case d.remove(w.Bootstrap, isTrue(was.BootstrapDataSecretCreated), clusterv1.MachineDeletingWaitingForBootstrapDeletionReason):
	case d.removeNodes(w):
	default:
		d.deleting(clusterv1.DeletionCompletedReason, "")
		d.Pool.Finalizers = slices.DeleteFunc(d.Pool.Finalizers, func(f string) bool { return f == clusterv1.MachinePoolFinalizer })
	}
}

// removeMachines deletes the Machines together with the infrastructure pool: alone, the infrastructure would replace them.
// It returns a line that names those that are left.
func (d *Decision) removeMachines(w World) string {
	if w.Members.Err != nil {
		d.fail(w.Members.Err)
		return "* Machines: they cannot be read"
	}
	var left []string
	for _, m := range w.Members.Machines {
		left = append(left, m.Name)
		if m.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, DeleteMachine{Machine: m, Why: poolDeleted})
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "* Machines: " + enumerate(left)
}

// remove deletes a provider object and says whether it is still there. Unreadable is not gone; was says whether it has ever
// been up.
func (d *Decision) remove(r referred.Object, was bool, reason string) bool {
	switch {
	case errors.Is(r.Err, contractversion.ErrNoCRD) && !was:
		return false // a kind that was never installed: there is nothing that could be left behind
	case referred.AwaitsProvider(r.Err):
		d.deleting(reason, r.Err.Error())
		return true
	case r.Err != nil:
		d.deleting(reason, "The object to delete cannot be read")
		d.fail(r.Err)
		return true
	case r.Object == nil:
		return false
	}
	d.deleting(reason, fmt.Sprintf("* %s: %s", r.Object.GetKind(), r.Object.GetName()))
	if r.Object.GetDeletionTimestamp().IsZero() {
		d.Actions = append(d.Actions, DeleteObject{Object: r.Object, Why: poolDeleted})
	}
	return true
}

// removeNodes deletes the Nodes that are left, for as long as the timeout allows; then the deletion goes on without. Nodes
// of a cluster that goes itself are no work.
func (d *Decision) removeNodes(w World) bool {
	if w.Cluster == nil || !w.Cluster.DeletionTimestamp.IsZero() || len(w.Pool.Status.NodeRefs) == 0 {
		return false
	}
	left := d.nodesLeft(w)
	if len(left) == 0 {
		return false
	}
	// The rest may have taken longer than the timeout: one full try is always made.
	if conditions.Reason(w.Pool, clusterv1.DeletingCondition) == clusterv1.MachineDeletingDeletingNodeReason && overdue(w) {
		d.Events = append(d.Events, Event{corev1.EventTypeWarning, "FailedDeleteNode", "Nodes could not be deleted within the timeout, going on without: " + enumerate(left)})
		return false
	}
	for _, name := range left {
		if node := w.Nodes.Known[name]; node != nil && node.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, DeleteNode{Name: name, UID: node.UID, Why: poolDeleted})
		}
	}
	d.deleting(clusterv1.MachineDeletingDeletingNodeReason, "* Nodes: "+enumerate(left))
	d.look(nodeRetry)
	return true
}

// nodesLeft names the Nodes of the pool that still exist, or may: what cannot be read is not gone.
func (d *Decision) nodesLeft(w World) []string {
	readable := w.Nodes.Connected && w.Nodes.Err == nil
	var left []string
	for _, ref := range w.Pool.Status.NodeRefs {
		if node := w.Nodes.Known[ref.Name]; !readable || (node != nil && ours(w, ref, node)) {
			left = append(left, ref.Name)
		}
	}
	return left
}

func overdue(w World) bool {
	limit := int32(defaultNodeDeletionTimeout)
	if t := w.Pool.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds; t != nil {
		limit = *t
	}
	return limit > 0 && w.Now.After(w.Pool.DeletionTimestamp.Add(time.Duration(limit)*time.Second))
}

func (d *Decision) deleting(reason, message string) {
	conditions.Set(d.Pool, metav1.Condition{Type: clusterv1.DeletingCondition, Status: metav1.ConditionTrue, Reason: reason, Message: message})
}

// enumerate names a few of many, in order.
func enumerate(names []string) string {
	const most = 5
	slices.Sort(names)
	text := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
