package progress

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/internal/clustertree"
)

// Steps compares two trees of which either may be nil and says what people want to know who do not watch a terminal: of the Cluster, of
// what is directly below it, and of Machines, that they come up, go down and go away. All else is the way there, which Changes tells.
func Steps(before, after *clustertree.Node) []string {
	old := told(before)
	var out []string
	for _, n := range principal(after) {
		out = append(out, step(old[n.Name()], n, before == nil)...)
		delete(old, n.Name())
	}
	for _, n := range principal(before) {
		if old[n.Name()] != nil {
			out = append(out, n.Name()+" is gone")
		}
	}
	return out
}

// principal are the objects that steps are about, owners first.
func principal(root *clustertree.Node) []*clustertree.Node {
	if root == nil {
		return nil
	}
	out := []*clustertree.Node{root}
	for _, child := range root.Children {
		child.Walk(func(n *clustertree.Node) {
			if n == child || n.Object.GetKind() == "Machine" {
				out = append(out, n)
			}
		})
	}
	return out
}

func told(root *clustertree.Node) map[string]*clustertree.Node {
	found := map[string]*clustertree.Node{}
	for _, n := range principal(root) {
		found[n.Name()] = n
	}
	return found
}

// step is what is new about an object; before is nil if it was not there, and at the first look.
func step(before, now *clustertree.Node, firstLook bool) []string {
	name := now.Name()
	if now.Object.GetDeletionTimestamp() != nil {
		if before != nil && before.Object.GetDeletionTimestamp() != nil {
			return nil
		}
		return []string{name + " is being deleted"}
	}
	var out []string
	switch was, is := before != nil && good(before), good(now); {
	case is && !was:
		out = append(out, name+" is "+strings.ToLower(now.Headline().Type))
	case was && !is:
		out = append(out, name+" is no longer "+adjective(before)+why(now))
	case before == nil && firstLook && now.Headline() != nil:
		out = append(out, name+" is not "+adjective(now)+why(now))
	case before == nil && !firstLook:
		out = append(out, name+" is made")
	}
	if failed := now.Condition(bootstrapreport.ConditionType); isFailure(failed) && (before == nil || !isFailure(before.Condition(bootstrapreport.ConditionType))) {
		out = append(out, name+" failed to boot: "+failed.Reason+": "+indented(failed.Message))
	}
	// What begins anew; at first all is scaled up.
	if before != nil && good(before) && now.Object.GetKind() != "Cluster" {
		for _, b := range busy {
			if isTrue(now, b.condition) && !isTrue(before, b.condition) {
				out = append(out, name+" "+b.words)
			}
		}
	}
	return out
}

func isFailure(c *metav1.Condition) bool { return c != nil && c.Status == metav1.ConditionTrue }

func good(n *clustertree.Node) bool {
	c := n.Headline()
	return c != nil && c.Status == metav1.ConditionTrue
}

func adjective(n *clustertree.Node) string {
	if c := n.Headline(); c != nil {
		return strings.ToLower(c.Type)
	}
	return "ready"
}

// longest is how much of a reason is told.
const longest = 240

// why is the reason why an object is not good: in the message of its headline, or of Ready where Available only says that it is not.
func why(n *clustertree.Node) string {
	if text := because(n.Headline()); text != "" {
		return cut(text, longest)
	}
	return cut(because(n.Condition("Ready")), longest)
}

// indented puts the further lines of a report below the text of the first.
func indented(text string) string {
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len("1234.5s  ")))
}
