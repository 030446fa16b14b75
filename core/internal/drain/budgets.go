package drain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// guards are the budgets that the API server asks before it evicts a pod, by name.
func guards(budgets []policyv1.PodDisruptionBudget, pod *corev1.Pod) []*policyv1.PodDisruptionBudget {
	if finished(pod) || pod.Status.Phase == corev1.PodPending {
		return nil // these may always go
	}
	var out []*policyv1.PodDisruptionBudget
	for i := range budgets {
		b := &budgets[i]
		if b.Namespace != pod.Namespace {
			continue
		}
		s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err == nil && s.Matches(labels.Set(pod.Labels)) {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b *policyv1.PodDisruptionBudget) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func exhausted(b *policyv1.PodDisruptionBudget) bool { return b.Status.DisruptionsAllowed <= 0 }

// impossible says that a budget allows no disruption even when all of its pods are healthy. Waiting does not help then.
func impossible(b *policyv1.PodDisruptionBudget) bool {
	s := b.Status
	return exhausted(b) && s.ObservedGeneration >= b.Generation && s.ExpectedPods > 0 && s.ExpectedPods <= s.DesiredHealthy
}

// hopeless says why the eviction of a pod will never be allowed unless a user changes something, or nothing.
func hopeless(pod Pod) string {
	switch {
	case len(pod.Guards) > 1:
		var names []string
		for _, b := range pod.Guards {
			names = append(names, b.Namespace+"/"+b.Name)
		}
		return "guarded by the PodDisruptionBudgets " + strings.Join(names, ", ") + ", and Kubernetes evicts no Pod with more than one"
	case len(pod.Guards) == 1 && impossible(pod.Guards[0]) && !exempt(pod.Pod, pod.Guards[0]):
		b := pod.Guards[0]
		return fmt.Sprintf("PodDisruptionBudget %s/%s can never allow it: %d of its %d Pods must be healthy", b.Namespace, b.Name, b.Status.DesiredHealthy, b.Status.ExpectedPods)
	}
	return ""
}

// exempt says that a budget lets a pod go because it is of no use anyway.
func exempt(pod *corev1.Pod, b *policyv1.PodDisruptionBudget) bool {
	always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	return always && !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// refusal explains why a pod was not evicted: by its budget where that is known, else in the words of the API server.
func refusal(pod Pod, told string) string {
	if pod.Hopeless != "" {
		return pod.Hopeless
	}
	for _, b := range pod.Guards {
		if exhausted(b) {
			return fmt.Sprintf("PodDisruptionBudget %s/%s allows no eviction now: it needs %d healthy Pods and has %d", b.Namespace, b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
		}
	}
	return told
}
