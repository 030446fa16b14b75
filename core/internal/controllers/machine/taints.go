package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/outdated"
)

var (
	// uninitialized keeps pods away from a Node whose labels are not there yet.
	uninitialized = corev1.Taint{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}
	// outdatedRevision makes pods prefer the Nodes that stay after a rollout.
	outdatedRevision = corev1.Taint{Key: "node.cluster.x-k8s.io/outdated-revision", Effect: corev1.TaintEffectPreferNoSchedule}
)

// syncTaints brings the taints of the Machine to the Node and keeps foreign ones.
func syncTaints(w World, n *corev1.Node) error {
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&uninitialized) })
	if w.MachineSet != nil && w.MachineDeployment != nil {
		mark(n, outdatedRevision, len(outdated.Reasons(w.MachineSet, w.MachineDeployment, w.Now)) > 0)
	}
	if !w.Sync.Taints {
		return nil
	}
	tracked, synced, err := trackedTaints(n)
	if err != nil {
		return err
	}
	wanted, always := wantedTaints(w.Machine, synced)
	keep := map[string]bool{}
	for _, t := range w.Machine.Spec.Taints {
		// From Always to OnInitialization: the taint stays, it is only no longer looked after.
		keep[taintID(t.Key, t.Effect)] = true
	}
	var out []corev1.Taint
	for _, t := range n.Spec.Taints {
		id := taintID(t.Key, string(t.Effect))
		if own, ok := wanted[id]; ok {
			t.Value = own.Value
			delete(wanted, id)
		} else if slices.Contains(tracked, id) && !keep[id] {
			continue
		}
		out = append(out, t)
	}
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		out = append(out, wanted[id])
	}
	n.Spec.Taints = out
	n.Annotations[clusterv1.TaintsFromMachineAnnotation] = strings.Join(always, ",")
	return nil
}

func taintID(key, effect string) string { return key + ":" + effect }

// trackedTaints are those that an earlier sync put on the Node, and whether there was one.
func trackedTaints(n *corev1.Node) (tracked []string, synced bool, err error) {
	text, synced := n.Annotations[clusterv1.TaintsFromMachineAnnotation]
	for _, id := range strings.Split(text, ",") {
		id = strings.TrimSpace(id)
		if id == "" {
			continue
		}
		if key, effect, ok := strings.Cut(id, ":"); !ok || key == "" || effect == "" {
			return nil, false, fmt.Errorf("annotation %s of Node %s: %q is not of the form key:effect", clusterv1.TaintsFromMachineAnnotation, n.Name, id)
		}
		tracked = append(tracked, id)
	}
	return tracked, synced, nil
}

// wantedTaints are those that must be on the Node now, and the sorted list of those that are looked after from now on.
func wantedTaints(m *clusterv1.Machine, synced bool) (wanted map[string]corev1.Taint, always []string) {
	wanted = map[string]corev1.Taint{}
	for _, t := range m.Spec.Taints {
		id := taintID(t.Key, t.Effect)
		if t.Propagation == clusterv1.MachineTaintPropagationAlways {
			always = append(always, id)
		} else if synced {
			continue // OnInitialization: only with the first sync
		}
		wanted[id] = corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
	}
	slices.Sort(always)
	return wanted, always
}

// mark adds or removes one taint.
func mark(n *corev1.Node, taint corev1.Taint, on bool) {
	has := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
	switch {
	case on && !has:
		n.Spec.Taints = append(n.Spec.Taints, taint)
	case !on && has:
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
	}
}
