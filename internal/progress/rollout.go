package progress

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/internal/clustertree"
)

// Rollout says whether everything that a cluster asks for is there.
type Rollout struct {
	// Machines are those asked for by what the Cluster owns directly, Nodes the Machines whose Node is ready.
	Machines, Nodes int
	// Waiting are the reasons why the cluster is not done, in words; none means done.
	Waiting []string
}

// Done says that nothing is missing.
func (r Rollout) Done() bool { return len(r.Waiting) == 0 }

// Of judges a tree.
func Of(root *clustertree.Node) Rollout {
	var r Rollout
	if root == nil {
		r.Waiting = []string{"the Cluster does not exist"}
		return r
	}
	for _, child := range root.Children {
		if replicas, found, err := unstructured.NestedInt64(child.Object.Object, "spec", "replicas"); found && err == nil {
			r.Machines += int(replicas)
		}
	}
	r.Waiting = unobserved(root)
	extra := 0
	root.Walk(func(n *clustertree.Node) {
		if n.Object.GetKind() != "Machine" {
			return
		}
		if isTrue(n, clusterv1.MachineNodeReadyCondition) && n.Object.GetDeletionTimestamp() == nil {
			r.Nodes++
		} else if n.Object.GetDeletionTimestamp() != nil {
			extra++
		}
	})
	if r.Nodes != r.Machines {
		r.Waiting = append(r.Waiting, fmt.Sprintf("%d of %d Nodes are ready", r.Nodes, r.Machines))
	}
	if extra > 0 {
		r.Waiting = append(r.Waiting, fmt.Sprintf("%s being deleted", machines(extra)))
	}
	r.Waiting = append(r.Waiting, underWay(root)...)
	if !isTrue(root, clusterv1.AvailableCondition) {
		r.Waiting = append(r.Waiting, "the Cluster is not Available"+because(root.Condition(clusterv1.AvailableCondition)))
	}
	return r
}

// unobserved lists objects whose controllers have not seen the last change: what they report may be about the state before it.
func unobserved(root *clustertree.Node) []string {
	var out []string
	if _, managed, _ := unstructured.NestedMap(root.Object.Object, "spec", "topology"); managed {
		if c := root.Condition(clusterv1.ClusterTopologyReconciledCondition); c == nil || c.ObservedGeneration < root.Object.GetGeneration() {
			out = append(out, "the topology of the Cluster is not applied yet")
		}
	}
	for _, n := range append([]*clustertree.Node{root}, root.Children...) {
		seen, reported, err := unstructured.NestedInt64(n.Object.Object, "status", "observedGeneration")
		if reported && err == nil && seen < n.Object.GetGeneration() {
			out = append(out, "the last change of "+n.Name()+" is not seen yet")
		}
	}
	return out
}

// busy are conditions that are True while something goes on, and how that is said.
var busy = []struct{ condition, words string }{
	{clusterv1.RollingOutCondition, "is rolling out"},
	{clusterv1.ScalingUpCondition, "is scaling up"},
	{clusterv1.ScalingDownCondition, "is scaling down"},
	{clusterv1.RemediatingCondition, "is replacing unhealthy Machines"},
	{clusterv1.MachineUpdatingCondition, "is being updated"},
}

// underWay lists what goes on although all Nodes that are asked for may be ready: in the middle of a rollout they are at times. The Cluster
// only sums up what the objects below it say.
func underWay(root *clustertree.Node) []string {
	var out []string
	for _, child := range root.Children {
		out = append(out, goesOn(child)...)
	}
	old := 0
	root.Walk(func(n *clustertree.Node) {
		if n.Object.GetKind() != "Machine" {
			return
		}
		out = append(out, goesOn(n)...)
		if c := n.Condition(clusterv1.MachineUpToDateCondition); c != nil && c.Status == metav1.ConditionFalse {
			old++
		}
	})
	if old > 0 {
		out = append(out, machines(old)+" not up to date")
	}
	if len(out) == 0 {
		return goesOn(root)
	}
	return out
}

func machines(n int) string {
	if n == 1 {
		return "1 Machine is"
	}
	return fmt.Sprintf("%d Machines are", n)
}

func goesOn(n *clustertree.Node) []string {
	var out []string
	for _, b := range busy {
		if isTrue(n, b.condition) {
			out = append(out, n.Name()+" "+b.words)
		}
	}
	return out
}

func isTrue(n *clustertree.Node, conditionType string) bool {
	c := n.Condition(conditionType)
	return c != nil && c.Status == metav1.ConditionTrue
}

func because(c *metav1.Condition) string {
	if c == nil || c.Message == "" {
		return ""
	}
	return ": " + strings.TrimPrefix(oneLine(c.Message), "* ")
}

// oneLine joins the lines of a message, as lists of issues have several. Of a sentence with a block below it, such as the
// output of a program, only the sentence is told.
func oneLine(message string) string {
	if strings.Contains(message, "\n  ") && !strings.HasPrefix(message, "* ") {
		message, _, _ = strings.Cut(message, "\n")
	}
	line := strings.Join(strings.Fields(strings.ReplaceAll(message, "\n* ", "; ")), " ")
	// Lists within lists.
	return strings.ReplaceAll(strings.ReplaceAll(line, ": * ", ": "), " * ", "; ")
}
