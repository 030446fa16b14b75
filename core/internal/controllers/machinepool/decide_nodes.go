package machinepool

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/decision"
)

// uninitialized keeps pods away from a Node until it is known whose it is.
var uninitialized = corev1.Taint{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}

// nodes lists the Nodes of the members, marks them, and deletes those whose member is gone.
func (d *Decision) nodes(w World) {
	if !w.Nodes.Connected {
		return
	}
	if w.Nodes.Err != nil {
		d.fail(w.Nodes.Err)
		return
	}
	var refs []corev1.ObjectReference
	for _, id := range d.Pool.Spec.ProviderIDList {
		found := w.Nodes.ByProviderID[id]
		if len(found) > 1 {
			d.ambiguous = append(d.ambiguous, fmt.Sprintf("Nodes %s have the same provider ID %s", strings.Join(names(found), ", "), id))
			continue
		}
		if len(found) == 1 {
			refs = append(refs, reference(found[0]))
			d.mark(w, found[0])
		}
	}
	current := len(refs)
	refs = append(refs, d.retire(w, refs)...)
	if len(d.ambiguous) > 0 {
		d.fail(fmt.Errorf("%s", strings.Join(d.ambiguous, "; ")))
	}
	d.refer(w, refs, current)
}

// refer stores the references and tells of Nodes that came.
func (d *Decision) refer(w World, refs []corev1.ObjectReference, current int) {
	came := 0
	for _, r := range refs {
		if !slices.Contains(w.Pool.Status.NodeRefs, r) {
			came++
		}
	}
	if came > 0 {
		d.Events = append(d.Events, Event{corev1.EventTypeNormal, "SuccessfulSetNodeRefs", fmt.Sprintf("%d Nodes joined, the pool has %d now", came, current)})
	}
	if len(refs) != len(w.Pool.Status.NodeRefs) || came > 0 {
		d.Pool.Status.NodeRefs = refs
	}
}

func reference(n *corev1.Node) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}
}

func names(nodes []*corev1.Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	slices.Sort(out)
	return out
}

// mark puts on a Node the annotations that lead back to the pool, and lets pods come. The Node of a Machine is left to the
// Machine's controller, which first brings the labels that pods may ask for.
func (d *Decision) mark(w World, node *corev1.Node) {
	if w.machines() || w.Infrastructure.Object == nil || !node.DeletionTimestamp.IsZero() {
		return
	}
	n := node.DeepCopy()
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	n.Annotations[clusterv1.ClusterNameAnnotation] = w.Pool.Spec.ClusterName
	n.Annotations[clusterv1.ClusterNamespaceAnnotation] = w.Pool.Namespace
	n.Annotations[clusterv1.OwnerKindAnnotation], n.Annotations[clusterv1.OwnerNameAnnotation] = poolKind, w.Pool.Name
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&uninitialized) })
	if !equality.Semantic.DeepEqual(n, node) {
		d.Actions = append(d.Actions, SyncNode{Before: node, After: n})
	}
}

// retire deletes the Nodes that were the pool's and have no member any more, and returns the references of those that are
// still there, so that none is forgotten before it is gone. It acts on a list of members that was read just now, only.
func (d *Decision) retire(w World, current []corev1.ObjectReference) []corev1.ObjectReference {
	var left []corev1.ObjectReference
	for _, ref := range w.Pool.Status.NodeRefs {
		node := w.Nodes.Known[ref.Name]
		if slices.Contains(current, ref) || node == nil || !ours(w, ref, node) || slices.Contains(d.Pool.Spec.ProviderIDList, node.Spec.ProviderID) {
			continue
		}
		left = append(left, ref)
		if !d.listed || hasMachine(w, node) || !node.DeletionTimestamp.IsZero() {
			continue
		}
		d.Actions = append(d.Actions, DeleteNode{Name: node.Name, UID: node.UID, Why: decision.Because("RetiredNode", "its machine is no member of the pool any more")})
	}
	return left
}

// ours says whether a Node that the pool once referred to is still that Node, and nobody else's.
func ours(w World, ref corev1.ObjectReference, node *corev1.Node) bool {
	if ref.UID != "" && ref.UID != node.UID {
		return false // another machine has registered under the name
	}
	owner := node.Annotations[clusterv1.OwnerNameAnnotation]
	return owner == "" || (owner == w.Pool.Name && node.Annotations[clusterv1.OwnerKindAnnotation] == poolKind)
}

// hasMachine says whether a Machine of the pool stands for the Node; it deletes the Node at the end of its own deletion.
func hasMachine(w World, node *corev1.Node) bool {
	return slices.ContainsFunc(w.Members.Machines, func(m *clusterv1.Machine) bool {
		return m.Status.NodeRef.Name == node.Name || (m.Spec.ProviderID != "" && m.Spec.ProviderID == node.Spec.ProviderID)
	})
}
