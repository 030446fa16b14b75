package drain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Decide says how each pod of the Node is treated now. It is pure: same world, same plan.
func Decide(w World) (Plan, error) {
	rules, err := rulesFor(w)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Node: w.Node.Name, Cordon: !w.Node.Spec.Unschedulable, Unreachable: Unreachable(w.Node)}
	plan.Override = plan.Unreachable && w.Now.Sub(readyOf(w.Node).LastTransitionTime.Time) > unreachablePatience
	for i := range w.Pods {
		pod, err := judge(w, rules, &w.Pods[i])
		if err != nil {
			return Plan{}, err
		}
		plan.Pods = append(plan.Pods, pod)
	}
	slices.SortFunc(plan.Pods, func(a, b Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	plan.postpone()
	return plan, nil
}

// judge gives a pod its treatment, as if no other pod were there.
func judge(w World, rules []rule, pod *corev1.Pod) (Pod, error) {
	out, err := behavior(w, rules, pod)
	if err != nil {
		return Pod{}, err
	}
	switch {
	case !pod.DeletionTimestamp.IsZero():
		out.Treatment, out.InGrace = Leaving, w.Now.Before(pod.DeletionTimestamp.Time)
		if Unreachable(w.Node) && w.Now.Sub(pod.DeletionTimestamp.Time) > unreachableGrace*time.Second {
			out.Treatment, out.By = Ignored, "the Node is unreachable"
		}
	case out.Treatment == Completing && finished(pod):
		out.Treatment = Ignored
	case out.Treatment == Evicted:
		out.Warnings = append(out.Warnings, warnings(pod)...)
		out.Guards = guards(w.Budgets, pod)
		out.Hopeless = hopeless(out)
	}
	return out, nil
}

// behavior is how a pod is treated while nobody has deleted it. The first that fits counts: what runs on every Node or
// cannot be evicted, the pod's own label, the rules by name, and by default eviction.
func behavior(w World, rules []rule, pod *corev1.Pod) (Pod, error) {
	out := Pod{Pod: pod, Treatment: Evicted}
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == daemonSet.Kind && w.DaemonSets[owner.UID] && !finished(pod) {
		out.Treatment, out.By = Ignored, "DaemonSet "+owner.Name
		return out, nil
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		out.Treatment, out.By = Ignored, "static pod"
		return out, nil
	}
	if value, ok := pod.Labels[clusterv1.PodDrainLabel]; ok {
		switch strings.ToLower(value) {
		case "skip":
			out.Treatment, out.By = Ignored, "label "+clusterv1.PodDrainLabel
			return out, nil
		case "wait-completed", "waitcompleted":
			out.Treatment, out.By = Completing, "label "+clusterv1.PodDrainLabel
			return out, nil
		}
		out.Warnings = []string{fmt.Sprintf("label %s has the unknown value %q", clusterv1.PodDrainLabel, value)}
	}
	for _, r := range rules {
		matches, err := r.matches(pod, w.Namespaces)
		if err != nil {
			return Pod{}, err
		}
		if matches {
			out.Treatment, out.By = r.treatment(), "MachineDrainRule "+r.name
			if out.Treatment == Evicted {
				out.Order = r.order
			}
			return out, nil
		}
	}
	return out, nil
}

func (r rule) treatment() Treatment {
	switch r.behavior {
	case clusterv1.MachineDrainRuleDrainBehaviorSkip:
		return Ignored
	case clusterv1.MachineDrainRuleDrainBehaviorWaitCompleted:
		return Completing
	}
	return Evicted
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// warnings are what is lost with a pod. They hold nothing up: the machine goes in any case.
func warnings(pod *corev1.Pod) []string {
	var out []string
	if metav1.GetControllerOf(pod) == nil {
		out = append(out, "it has no controller that would replace it")
	}
	if slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.EmptyDir != nil }) && !finished(pod) {
		out = append(out, "its local storage is lost")
	}
	return out
}

// postpone leaves only the pods of the lowest order that is still there to be evicted now.
func (p *Plan) postpone() {
	present := func(pod Pod) bool { return pod.Treatment != Ignored }
	first := slices.IndexFunc(p.Pods, present)
	if first < 0 {
		return
	}
	lowest := p.Pods[first].Order
	for _, pod := range p.Pods {
		if present(pod) {
			lowest = min(lowest, pod.Order)
		}
	}
	for i := range p.Pods {
		if pod := &p.Pods[i]; pod.Treatment == Evicted && pod.Order > lowest {
			pod.Treatment = Later
		}
	}
}

// ToEvict are the pods to evict now. Those that a budget is known to guard come last, so that no number of refused pods
// takes the time of those that could go.
func (p Plan) ToEvict() []Pod {
	var free, held []Pod
	for _, pod := range p.Pods {
		switch {
		case pod.Treatment != Evicted:
		case slices.ContainsFunc(pod.Guards, exhausted):
			held = append(held, pod)
		default:
			free = append(free, pod)
		}
	}
	return append(free, held...)
}
