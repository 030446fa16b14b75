package machine

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
)

// delete takes the first unfinished step of the deletion. It needs nothing that may have vanished: what is known to be
// gone is done, what cannot be read is waited for.
func (d *Decision) delete(w World) {
	node, err := nodeWork(w)
	if err != nil {
		d.deleting(clusterv1.InternalErrorReason, "Please check the logs of the core manager")
		d.fail(err)
		return
	}
	was := w.Machine.Status.Initialization
	switch {
	case node && d.waitForHooks(w, clusterv1.PreDrainDeleteHookAnnotationPrefix, clusterv1.MachineDeletingWaitingForPreDrainHookReason):
	case node && d.drainNode(w):
	case node && d.detachVolumes(w):
	case d.waitForHooks(w, clusterv1.PreTerminateDeleteHookAnnotationPrefix, clusterv1.MachineDeletingWaitingForPreTerminateHookReason):
	case d.remove(w.Infrastructure, isTrue(was.InfrastructureProvisioned), clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason):
	case d.remove(w.Bootstrap, isTrue(was.BootstrapDataSecretCreated), clusterv1.MachineDeletingWaitingForBootstrapDeletionReason):
	case node && d.removeNode(w):
	default:
		d.deleting(clusterv1.DeletionCompletedReason, "")
		d.Machine.Finalizers = slices.DeleteFunc(d.Machine.Finalizers, func(f string) bool { return f == clusterv1.MachineFinalizer })
	}
}

// nodeWork says whether it makes sense to touch the Node: not when the whole cluster goes, and not for the last control
// plane machine, whose Node goes with it.
func nodeWork(w World) (bool, error) {
	switch {
	case w.Cluster == nil || !w.Cluster.DeletionTimestamp.IsZero(), w.ControlPlane.Deleting:
		return false, nil
	case w.Node.Node == nil && w.Machine.Status.NodeRef.Name == "":
		return false, nil
	case w.ControlPlane.Err != nil:
		return false, fmt.Errorf("finding out whether the control plane stays: %w", w.ControlPlane.Err)
	case w.ControlPlane.ExternallyManaged:
		return true, nil
	}
	return w.ControlPlane.OtherMachines > 0, nil
}

// waitForHooks says whether annotations of users or providers still hold the deletion; no timeout, they know why.
func (d *Decision) waitForHooks(w World, prefix, reason string) bool {
	found := hooks(w, prefix)
	if len(found) == 0 {
		return false
	}
	d.deleting(reason, fmt.Sprintf("Waiting for the hooks %s to be removed", strings.Join(found, ", ")))
	d.begin(w, func(s *clusterv1.MachineDeletionStatus) *metav1.Time {
		if prefix == clusterv1.PreTerminateDeleteHookAnnotationPrefix {
			return &s.WaitForPreTerminateHookStartTime
		}
		return &s.WaitForPreDrainHookStartTime
	})
	return true
}

// hooks lists the annotations that hold the deletion at one point, in order.
func hooks(w World, prefix string) (out []string) {
	for k := range w.Machine.Annotations {
		if strings.HasPrefix(k, prefix+"/") {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out
}

// remove deletes a provider object and says whether it is still there. Unreadable is not gone; was says
// whether it has ever been up.
func (d *Decision) remove(r Referred, was bool, reason string) bool {
	switch {
	case errors.Is(r.Err, contractversion.ErrNoCRD) && !was:
		return false // a kind that was never installed: there is nothing that could be left behind
	case awaitsProvider(r.Err):
		d.deleting(reason, r.Err.Error())
		return true
	case r.Err != nil:
		d.deleting(reason, "The object to delete cannot be read")
		d.fail(r.Err)
		return true
	case r.Object == nil:
		return false
	}
	message := fmt.Sprintf("%s %s is being deleted", r.Object.GetKind(), r.Object.GetName())
	d.deleting(reason, message)
	if r.Object.GetDeletionTimestamp().IsZero() {
		d.Actions = append(d.Actions, DeleteObject{Object: r.Object, Because: "the machine is being deleted"})
	}
	return true
}

// removeNode deletes the Node, for as long as the machine's timeout allows; then the deletion goes on without.
func (d *Decision) removeNode(w World) bool {
	if w.Node.Connected && w.Node.Err == nil && w.Node.Node == nil {
		return false
	}
	limit := int32(defaultNodeDeletionTimeout)
	if t := w.Machine.Spec.Deletion.NodeDeletionTimeoutSeconds; t != nil {
		limit = *t
	}
	end := w.Machine.DeletionTimestamp.Add(time.Duration(limit) * time.Second)
	if started := conditions.Get(w.Machine, clusterv1.DeletingCondition); started != nil && started.Reason == clusterv1.MachineDeletingDeletingNodeReason && limit > 0 {
		// Hooks and infrastructure may have taken longer than the timeout: one full try is always made.
		if w.Now.After(end) {
			d.Events = append(d.Events, Event{"FailedDeleteNode", "The Node could not be deleted within the timeout; going on without"})
			return false
		}
	}
	d.deleting(clusterv1.MachineDeletingDeletingNodeReason, "Deleting the Node")
	if w.Node.Node != nil {
		d.Actions = append(d.Actions, DeleteNode{Name: w.Node.Node.Name, UID: w.Node.Node.UID})
	}
	d.look(2 * time.Second)
	return true
}

func (d *Decision) deleting(reason, message string) {
	conditions.Set(d.Machine, metav1.Condition{Type: clusterv1.DeletingCondition, Status: metav1.ConditionTrue, Reason: reason, Message: message})
}
