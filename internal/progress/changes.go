package progress

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/internal/clustertree"
)

// Change is a condition that an object has got or that has changed.
type Change struct {
	// Time is when it was seen, Elapsed how long after the beginning that was.
	Time    time.Time     `json:"time"`
	Elapsed time.Duration `json:"elapsed"`
	Kind    string        `json:"kind"`
	Name    string        `json:"name"`
	// Gone says that the object is no longer there; the fields below are empty then.
	Gone      bool                   `json:"gone,omitempty"`
	Condition string                 `json:"condition,omitempty"`
	Status    metav1.ConditionStatus `json:"status,omitempty"`
	Reason    string                 `json:"reason,omitempty"`
	Message   string                 `json:"message,omitempty"`
}

type conditionKey struct{ kind, name, condition string }

// quiet are conditions that say nothing when they are first reported as False: nothing is the matter.
var quiet = []string{
	clusterv1.PausedCondition, clusterv1.DeletingCondition, clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition,
	clusterv1.RollingOutCondition, clusterv1.RemediatingCondition, clusterv1.MachineUpdatingCondition,
}

// Changes compares two trees of which either may be nil. A condition of which only the message is new is no change.
func Changes(before, after *clustertree.Node) []Change {
	old := index(before)
	var changes []Change
	for key, now := range index(after) {
		if was, known := old[key]; known && was.Status == now.Status && was.Reason == now.Reason {
			continue
		} else if !known && now.Status == metav1.ConditionFalse && slices.Contains(quiet, now.Type) {
			continue
		}
		changes = append(changes, Change{
			Kind: key.kind, Name: key.name, Condition: now.Type, Status: now.Status, Reason: now.Reason, Message: now.Message,
		})
	}
	changes = append(changes, gone(before, after)...)
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Condition, b.Condition))
	})
	return changes
}

func index(root *clustertree.Node) map[conditionKey]metav1.Condition {
	found := map[conditionKey]metav1.Condition{}
	if root == nil {
		return found
	}
	root.Walk(func(n *clustertree.Node) {
		for _, c := range n.Conditions {
			found[conditionKey{n.Object.GetKind(), n.Object.GetName(), c.Type}] = c
		}
	})
	return found
}

func gone(before, after *clustertree.Node) []Change {
	if before == nil {
		return nil
	}
	there := map[string]bool{}
	if after != nil {
		after.Walk(func(n *clustertree.Node) { there[n.Name()] = true })
	}
	var changes []Change
	before.Walk(func(n *clustertree.Node) {
		if !there[n.Name()] {
			changes = append(changes, Change{Kind: n.Object.GetKind(), Name: n.Object.GetName(), Gone: true})
		}
	})
	return changes
}
