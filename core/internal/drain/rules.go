package drain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// rule is a MachineDrainRule for the Machine at hand, ready to be matched with pods.
type rule struct {
	name     string
	behavior string
	order    int32
	pods     []podSelector
}

// podSelector matches a pod if both selectors do.
type podSelector struct {
	pod, namespace labels.Selector
}

// rulesFor picks the rules that count for the Machine, by name. A selector that cannot be read in any rule is an error: the
// rule may be meant to protect what would be evicted without it.
func rulesFor(w World) ([]rule, error) {
	var out []rule
	for i := range w.Rules {
		r := &w.Rules[i]
		matches, err := matchesMachine(r, w)
		if err != nil {
			return nil, err
		}
		compiled, err := compile(r)
		if err != nil {
			return nil, err
		}
		if matches {
			out = append(out, compiled)
		}
	}
	slices.SortFunc(out, func(a, b rule) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// matchesMachine reads all entries even after a match, so that a bad selector is always found.
func matchesMachine(r *clusterv1.MachineDrainRule, w World) (bool, error) {
	matches := len(r.Spec.Machines) == 0
	for i, m := range r.Spec.Machines {
		machine, err := selector(r, m.Selector, "machines[%d].selector", i)
		if err != nil {
			return false, err
		}
		cluster, err := selector(r, m.ClusterSelector, "machines[%d].clusterSelector", i)
		if err != nil {
			return false, err
		}
		matches = matches || machine.Matches(labels.Set(w.Machine.Labels)) && cluster.Matches(labels.Set(w.ClusterLabels))
	}
	return matches, nil
}

func compile(r *clusterv1.MachineDrainRule) (rule, error) {
	out := rule{name: r.Name, behavior: r.Spec.Drain.Behavior}
	if r.Spec.Drain.Order != nil {
		out.order = *r.Spec.Drain.Order
	}
	for i, p := range r.Spec.Pods {
		pod, err := selector(r, p.Selector, "pods[%d].selector", i)
		if err != nil {
			return rule{}, err
		}
		namespace, err := selector(r, p.NamespaceSelector, "pods[%d].namespaceSelector", i)
		if err != nil {
			return rule{}, err
		}
		out.pods = append(out.pods, podSelector{pod, namespace})
	}
	return out, nil
}

// RuleError is a rule that cannot be followed until a user corrects it.
type RuleError struct {
	// Rule is the name of the MachineDrainRule.
	Rule string
	// Problem names the field and what is wrong with it.
	Problem string
}

// Error implements error.
func (e *RuleError) Error() string { return "MachineDrainRule " + e.Rule + ": " + e.Problem }

func selector(r *clusterv1.MachineDrainRule, s metav1.LabelSelector, path string, index int) (labels.Selector, error) {
	compiled, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return nil, &RuleError{Rule: r.Name, Problem: fmt.Sprintf("spec."+path+": %v", index, err)}
	}
	return compiled, nil
}

// matches says whether the rule is for a pod.
func (r rule) matches(pod *corev1.Pod, namespaces map[string]map[string]string) (bool, error) {
	if len(r.pods) == 0 {
		return true, nil
	}
	for _, s := range r.pods {
		if !s.pod.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if s.namespace.Empty() {
			return true, nil
		}
		of, known := namespaces[pod.Namespace]
		if !known {
			return false, fmt.Errorf("namespace %s of pod %s is not known, and MachineDrainRule %s asks for its labels", pod.Namespace, pod.Name, r.name)
		}
		if s.namespace.Matches(labels.Set(of)) {
			return true, nil
		}
	}
	return false, nil
}
