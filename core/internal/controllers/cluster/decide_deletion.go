package cluster

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

// named is one object that must go before the deletion can go on.
type named struct {
	kind  string
	obj   client.Object
	owned bool
}

// delete takes the first unfinished step: workers, control plane, infrastructure, finalizer.
func (d *Decision) delete(w World) {
	if _, agreed := w.Cluster.Annotations[runtimev1.OkToDeleteAnnotation]; w.BeforeDeleteHook && w.hasTopology() && !agreed {
		d.deleting(clusterv1.ClusterDeletingWaitingForBeforeDeleteHookReason, "Waiting for the hook BeforeClusterDelete to agree")
		return
	}
	if w.Descendants.Err != nil {
		d.deleting(clusterv1.InternalErrorReason, "Please check the logs of the core manager")
		d.fail(w.Descendants.Err)
		return
	}
	workers, was := workersOf(w), w.Cluster.Status.Initialization
	switch {
	case len(workers) > 0:
		d.deleting(clusterv1.ClusterDeletingWaitingForWorkersDeletionReason, tell(workers))
		d.removeOwned(workers)
	case d.remove(w.ControlPlane, isTrue(was.ControlPlaneInitialized), clusterv1.ClusterDeletingWaitingForControlPlaneDeletionReason):
	case d.remove(w.Infrastructure, isTrue(was.InfrastructureProvisioned), clusterv1.ClusterDeletingWaitingForInfrastructureDeletionReason):
	default:
		d.deleting(clusterv1.DeletionCompletedReason, "")
		d.Cluster.Finalizers = slices.DeleteFunc(d.Cluster.Finalizers, func(f string) bool { return f == clusterv1.ClusterFinalizer })
		d.Events = append(d.Events, Event{"Deleted", "Cluster " + w.Cluster.Name + " has been deleted"})
	}
}

// aboutToPassWorkers says that the deletion of what workers depend on would begin now, as no worker is to be seen.
func (w World) aboutToPassWorkers() bool {
	stands := func(r referred.Object) bool { return r.Object != nil && r.Object.GetDeletionTimestamp().IsZero() }
	return w.deleting() && w.Descendants.Err == nil && len(workersOf(w)) == 0 && (stands(w.ControlPlane) || stands(w.Infrastructure))
}

// workersOf is all that must go before the control plane; the control plane's Machines count only if no object owns them.
func workersOf(w World) []named {
	ref := ownerReference(w.Cluster)
	var out []named
	add := func(kind string, o client.Object) {
		out = append(out, named{kind: kind, obj: o, owned: ownership.Has(o, ref)})
	}
	for _, p := range w.Descendants.MachinePools {
		add("MachinePool", p)
	}
	for _, md := range w.Descendants.MachineDeployments {
		add("MachineDeployment", md)
	}
	for _, ms := range w.Descendants.MachineSets {
		add("MachineSet", ms)
	}
	for _, m := range w.Descendants.Machines {
		if !labels.IsControlPlane(m.Labels) || w.Cluster.Spec.ControlPlaneRef.Name == "" {
			add("Machine", m)
		}
	}
	return out
}

// removeOwned deletes what the Cluster owns itself; the rest goes with its own owners.
func (d *Decision) removeOwned(workers []named) {
	for _, n := range workers {
		if n.owned && n.obj.GetDeletionTimestamp().IsZero() {
			d.Actions = append(d.Actions, Delete{Object: n.obj, Kind: n.kind, Because: "the cluster is being deleted"})
		}
	}
}

// tell names what is left, by kind, a few of each.
func tell(list []named) string {
	byKind := map[string][]string{}
	var kinds []string
	for _, n := range list {
		if byKind[n.kind] == nil {
			kinds = append(kinds, n.kind)
		}
		byKind[n.kind] = append(byKind[n.kind], n.obj.GetName())
	}
	sort.Strings(kinds)
	var lines []string
	for _, k := range kinds {
		names := byKind[k]
		sort.Strings(names)
		text := strings.Join(names[:min(len(names), 5)], ", ")
		if len(names) > 5 {
			text += fmt.Sprintf(" and %d more", len(names)-5)
		}
		lines = append(lines, fmt.Sprintf("* %ss: %s", k, text))
	}
	return strings.Join(lines, "\n")
}

// remove deletes a referred object and says whether it is still there. Unreadable is not gone; was says
// whether it has ever been up.
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
		d.Actions = append(d.Actions, Delete{Object: r.Object.Unstructured, Kind: r.Object.GetKind(), Because: "the cluster is being deleted"})
	}
	return true
}

func (d *Decision) deleting(reason, message string) {
	conditions.Set(d.Cluster, metav1.Condition{Type: clusterv1.DeletingCondition, Status: metav1.ConditionTrue, Reason: reason, Message: message})
}
