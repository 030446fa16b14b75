// Package clustertree arranges the objects of a cluster by who owns whom, so that people can see what waits for what.
// It knows no kinds but the Cluster: whatever a provider brings finds its place by its owner references. It is pure.
package clustertree

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// Node is an object with those that it owns.
type Node struct {
	Object     *unstructured.Unstructured
	Conditions []metav1.Condition
	Children   []*Node
}

// Name is the kind and the name of the object, as kubectl takes it.
func (n *Node) Name() string { return n.Object.GetKind() + "/" + n.Object.GetName() }

// Condition returns a condition, or nil.
func (n *Node) Condition(conditionType string) *metav1.Condition {
	for i := range n.Conditions {
		if n.Conditions[i].Type == conditionType {
			return &n.Conditions[i]
		}
	}
	return nil
}

// Headline is the condition that sums the object up: Available where there is one, else Ready, else nil.
func (n *Node) Headline() *metav1.Condition {
	for _, conditionType := range []string{clusterv1.AvailableCondition, clusterv1.ReadyCondition} {
		if c := n.Condition(conditionType); c != nil {
			return c
		}
	}
	return nil
}

// Walk calls visit for the node and all below it, owners first.
func (n *Node) Walk(visit func(*Node)) {
	visit(n)
	for _, child := range n.Children {
		child.Walk(visit)
	}
}

// Build arranges objects below the Cluster of a name. It returns nil while there is no such Cluster. Objects that nothing
// in the tree owns are left out, and so are templates, which say nothing about how the cluster is.
func Build(objects []*unstructured.Unstructured, cluster types.NamespacedName) *Node {
	nodes := map[types.UID]*Node{}
	var root *Node
	for _, o := range objects {
		if o.GetNamespace() != cluster.Namespace || strings.HasSuffix(o.GetKind(), "Template") {
			continue
		}
		node := &Node{Object: o}
		// What is no list of conditions is somebody else's defect; the object is shown without them.
		node.Conditions, _ = conditions.FromUnstructured(o)
		nodes[o.GetUID()] = node
		if o.GetKind() == "Cluster" && o.GroupVersionKind().Group == clusterv1.GroupVersion.Group && o.GetName() == cluster.Name {
			root = node
		}
	}
	if root == nil {
		return nil
	}
	for _, node := range nodes {
		if parent := parent(node, nodes); parent != nil && node != root {
			parent.Children = append(parent.Children, node)
		}
	}
	root.Walk(func(n *Node) { slices.SortFunc(n.Children, compare) })
	return root
}

// parent is the controlling owner that is among the nodes, else the last owner that is: owners that come later are nearer,
// as a Machine is added to a bootstrap config that a control plane has created.
func parent(node *Node, nodes map[types.UID]*Node) *Node {
	var found *Node
	for _, ref := range node.Object.GetOwnerReferences() {
		owner := nodes[ref.UID]
		if owner == nil || owner == node {
			continue
		}
		if ref.Controller != nil && *ref.Controller {
			return owner
		}
		found = owner
	}
	return found
}

// compare puts infrastructure and control plane, the parts that others wait for, first.
func compare(a, b *Node) int {
	if x, y := rank(a), rank(b); x != y {
		return x - y
	}
	return strings.Compare(a.Name(), b.Name())
}

func rank(n *Node) int {
	switch group := n.Object.GroupVersionKind().Group; {
	case strings.HasPrefix(group, "infrastructure."):
		return 0
	case strings.HasPrefix(group, "controlplane."):
		return 1
	case strings.HasPrefix(group, "bootstrap."):
		return 2
	default:
		return 3
	}
}
