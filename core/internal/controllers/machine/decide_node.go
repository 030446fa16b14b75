package machine

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/ownership"
)

// UninitializedTaint keeps pods away from a Node whose labels are not there yet.
var UninitializedTaint = corev1.Taint{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}

// node links the Machine to its Node and keeps what comes from the Machine on it.
func (d *Decision) node(w World) {
	m := d.Machine
	if m.Spec.ProviderID == "" || !w.Node.Connected {
		return
	}
	switch {
	case w.Node.Err != nil:
		d.fail(w.Node.Err)
		return
	case len(w.Node.Duplicates) > 1:
		d.fail(fmt.Errorf("nodes %s have the same provider ID %s", strings.Join(w.Node.Duplicates, ", "), m.Spec.ProviderID))
		return
	case w.Node.Node == nil && m.Status.NodeRef.Name != "":
		d.fail(fmt.Errorf("node %s of this machine was deleted", m.Status.NodeRef.Name))
		return
	case w.Node.Node == nil:
		return
	}
	if m.Status.NodeRef.Name == "" {
		m.Status.NodeRef.Name = w.Node.Node.Name
		d.Events = append(d.Events, Event{"SuccessfulSetNodeRef", "Node " + w.Node.Node.Name + " belongs to this machine"})
	}
	m.Status.NodeInfo = w.Node.Node.Status.NodeInfo
	wanted := syncedNode(w, w.Node.Node)
	if !reflect.DeepEqual(wanted, w.Node.Node) {
		d.Actions = append(d.Actions, SyncNode{Before: w.Node.Node, After: wanted})
	}
}

// syncedNode is the Node with what comes from the Machine: labels and annotations of the managed domains, taints, and
// the annotations that lead back to the Machine. Only what an earlier sync put there is taken away.
func syncedNode(w World, node *corev1.Node) *corev1.Node {
	n := node.DeepCopy()
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	wantedLabels := managed(w.Machine.Labels, clusterv1.NodeRoleLabelPrefix, clusterv1.NodeRestrictionLabelDomain, clusterv1.ManagedNodeLabelDomain)
	if interruptible(w) {
		wantedLabels[clusterv1.InterruptibleLabel] = ""
	}
	sync(n.Labels, wantedLabels, n.Annotations, clusterv1.LabelsFromMachineAnnotation)
	sync(n.Annotations, managed(w.Machine.Annotations, clusterv1.ManagedNodeAnnotationDomain), n.Annotations, clusterv1.AnnotationsFromMachineAnnotation)
	maps.Copy(n.Annotations, bookkeeping(w.Machine))
	n.Spec.Taints = syncedTaints(w.Machine, n)
	return n
}

// managed picks the keys of the given domains and their subdomains.
func managed(from map[string]string, domains ...string) map[string]string {
	out := map[string]string{}
	for k, v := range from {
		prefix, _, ok := strings.Cut(k, "/")
		for _, d := range domains {
			if ok && (prefix == d || (d != clusterv1.NodeRoleLabelPrefix && strings.HasSuffix(prefix, "."+d))) {
				out[k] = v
			}
		}
	}
	return out
}

func interruptible(w World) bool {
	if w.Infrastructure.Object == nil {
		return false
	}
	yes, err := accessors.InfrastructureMachine(w.Infrastructure.Object.Contract).Interruptible().GetOr(w.Infrastructure.Object.Unstructured, false)
	return err == nil && yes
}

// sync makes the target hold the wanted keys and drops those that the tracking annotation says were put there before.
func sync(target, wanted, annotations map[string]string, tracking string) {
	for _, k := range strings.Split(annotations[tracking], ",") {
		if _, keep := wanted[k]; k != "" && !keep {
			delete(target, k)
		}
	}
	maps.Copy(target, wanted)
	keys := slices.Sorted(maps.Keys(wanted))
	annotations[tracking] = strings.Join(keys, ",")
}

// bookkeeping are the annotations by which a Node leads back to its Machine and cluster.
func bookkeeping(m *clusterv1.Machine) map[string]string {
	out := map[string]string{
		clusterv1.ClusterNameAnnotation:      m.Spec.ClusterName,
		clusterv1.ClusterNamespaceAnnotation: m.Namespace,
		clusterv1.MachineAnnotation:          m.Name,
	}
	if owner := ownership.ControllerOf(m); owner != nil {
		out[clusterv1.OwnerKindAnnotation], out[clusterv1.OwnerNameAnnotation] = owner.Kind, owner.Name
	}
	return out
}

// syncedTaints keeps foreign taints, removes the uninitialized one, and brings those of the Machine in. Taints of
// propagation OnInitialization come only with the first sync, that is while there is no tracking annotation.
func syncedTaints(m *clusterv1.Machine, n *corev1.Node) []corev1.Taint {
	_, synced := n.Annotations[clusterv1.TaintsFromMachineAnnotation]
	tracked := strings.Split(n.Annotations[clusterv1.TaintsFromMachineAnnotation], ",")
	wanted := map[string]corev1.Taint{}
	var always []string
	for _, t := range m.Spec.Taints {
		id := t.Key + ":" + t.Effect
		if t.Propagation == clusterv1.MachineTaintPropagationAlways {
			always = append(always, id)
		} else if synced {
			tracked = slices.DeleteFunc(tracked, func(s string) bool { return s == id })
			continue
		}
		wanted[id] = corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
	}
	var out []corev1.Taint
	for _, t := range n.Spec.Taints {
		id := t.Key + ":" + string(t.Effect)
		if w, ok := wanted[id]; ok {
			t.Value = w.Value
			delete(wanted, id)
		} else if t.MatchTaint(&UninitializedTaint) || slices.Contains(tracked, id) {
			continue
		}
		out = append(out, t)
	}
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		out = append(out, wanted[id])
	}
	sort.Strings(always)
	n.Annotations[clusterv1.TaintsFromMachineAnnotation] = strings.Join(always, ",")
	return out
}
