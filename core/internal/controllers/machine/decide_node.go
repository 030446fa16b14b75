package machine

import (
	"fmt"
	"maps"

	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/ownership"
)

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
	wanted, err := syncedNode(w, w.Node.Node)
	if err != nil {
		d.fail(err)
		return
	}
	if _, before := w.Node.Node.Labels[clusterv1.InterruptibleLabel]; !before && interruptible(w, w.Node.Node) {
		d.Events = append(d.Events, Event{"SuccessfulSetInterruptibleNodeLabel", "Node " + wanted.Name + " is marked as interruptible"})
	}
	if !equality.Semantic.DeepEqual(wanted, w.Node.Node) {
		d.Actions = append(d.Actions, SyncNode{Before: w.Node.Node, After: wanted})
	}
}

// syncedNode is the Node with what comes from the Machine: labels and annotations of the managed domains, taints, and
// the annotations that lead back to the Machine. Only what an earlier sync put there is taken away.
func syncedNode(w World, node *corev1.Node) (*corev1.Node, error) {
	n := node.DeepCopy()
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	wantedLabels := managed(w.Machine.Labels, w.Sync.Labels, clusterv1.NodeRoleLabelPrefix, clusterv1.NodeRestrictionLabelDomain, clusterv1.ManagedNodeLabelDomain)
	if interruptible(w, node) {
		wantedLabels[clusterv1.InterruptibleLabel] = ""
	}
	sync(n.Labels, wantedLabels, n.Annotations, clusterv1.LabelsFromMachineAnnotation)
	sync(n.Annotations, managed(w.Machine.Annotations, w.Sync.Annotations, clusterv1.ManagedNodeAnnotationDomain), n.Annotations, clusterv1.AnnotationsFromMachineAnnotation)
	maps.Copy(n.Annotations, bookkeeping(w.Machine))
	return n, syncTaints(w, n)
}

// managed picks the keys of the given domains and their subdomains, and those that match a rule.
func managed(from map[string]string, rules []*regexp.Regexp, domains ...string) map[string]string {
	out := map[string]string{}
	for k, v := range from {
		if slices.ContainsFunc(rules, func(r *regexp.Regexp) bool { return r.MatchString(k) }) {
			out[k] = v
		}
		prefix, _, ok := strings.Cut(k, "/")
		for _, d := range domains {
			if ok && (prefix == d || (d != clusterv1.NodeRoleLabelPrefix && strings.HasSuffix(prefix, "."+d))) {
				out[k] = v
			}
		}
	}
	return out
}

// interruptible stays as it was while the infrastructure cannot be read, so that the label does not come and go.
func interruptible(w World, node *corev1.Node) bool {
	if w.Infrastructure.Object == nil {
		_, was := node.Labels[clusterv1.InterruptibleLabel]
		return was && w.Infrastructure.Err != nil
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
