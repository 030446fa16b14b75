package inplace

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/pending"
)

// Marked says whether an object carries the mark of an update in place.
func Marked(o metav1.Object) bool {
	_, ok := o.GetAnnotations()[clusterv1.UpdateInProgressAnnotation]
	return ok
}

// Pending says whether a Machine still waits for the end of its extension's work.
func Pending(m metav1.Object) bool {
	return slices.Contains(pending.List(m.GetAnnotations()[runtimev1.PendingHooksAnnotation]), hook.UpdateMachine.Name)
}

// Updating says whether a Machine is being updated in place, from its handing over to the end. It is not available then,
// whatever its conditions still say.
func Updating(m metav1.Object) bool { return Marked(m) || Pending(m) || Arriving(m) }

// Arriving says whether a Machine has been handed to its MachineSet, which has not begun with its update.
func Arriving(m metav1.Object) bool {
	_, ok := m.GetAnnotations()[clusterv1.PendingAcknowledgeMoveAnnotation]
	return ok
}

// Receivable says whether there can be a MachineSet that goes on with the update of an arriving Machine: one of a
// MachineDeployment, which counts it there.
func Receivable(m metav1.Object) bool {
	owner := metav1.GetControllerOf(m)
	return owner != nil && owner.Kind == "MachineSet" && m.GetLabels()[clusterv1.MachineDeploymentNameLabel] != ""
}

// Awaited says whether a MachineSet counts an arriving Machine already.
func Awaited(set, m metav1.Object) bool {
	return slices.Contains(pending.List(set.GetAnnotations()[clusterv1.AcknowledgedMoveAnnotation]), m.GetName())
}

// Agree says whether two MachineSets hand Machines over: the one to the other, and the other wants it.
func Agree(from, to metav1.Object) bool {
	return from.GetAnnotations()[clusterv1.MachineSetMoveMachinesToMachineSetAnnotation] == to.GetName() && to.GetDeletionTimestamp().IsZero() &&
		slices.Contains(pending.List(to.GetAnnotations()[clusterv1.MachineSetReceiveMachinesFromMachineSetsAnnotation]), from.GetName())
}

// Join writes a list of names as an annotation, each once and in order.
func Join(names []string) string { return pending.Join(pending.List(pending.Join(names))) }

// HandOver marks a Machine that is handed to another MachineSet. An update that it is in the middle of comes to no end.
func HandOver(m metav1.Object) {
	End(m)
	set(m, clusterv1.UpdateInProgressAnnotation, "")
	set(m, clusterv1.PendingAcknowledgeMoveAnnotation, "")
}

// Begin marks a Machine whose objects are as they should be: now its extension is to be called.
func Begin(m metav1.Object) {
	hooks := append(pending.List(m.GetAnnotations()[runtimev1.PendingHooksAnnotation]), hook.UpdateMachine.Name)
	set(m, runtimev1.PendingHooksAnnotation, Join(hooks))
	set(m, clusterv1.UpdateInProgressAnnotation, "")
	unset(m, clusterv1.PendingAcknowledgeMoveAnnotation)
}

// Refuse says that nobody waits for a Machine that is marked as handed over.
func Refuse(m metav1.Object) { unset(m, clusterv1.PendingAcknowledgeMoveAnnotation) }

// Mark marks an object that belongs to a Machine in update.
func Mark(o metav1.Object) { set(o, clusterv1.UpdateInProgressAnnotation, "") }

// Unmark takes the mark of an update away.
func Unmark(o metav1.Object) { unset(o, clusterv1.UpdateInProgressAnnotation) }

// End says that nothing of the update of a Machine is left to be done.
func End(m metav1.Object) {
	left := slices.DeleteFunc(pending.List(m.GetAnnotations()[runtimev1.PendingHooksAnnotation]), func(name string) bool { return name == hook.UpdateMachine.Name })
	if len(left) > 0 {
		set(m, runtimev1.PendingHooksAnnotation, pending.Join(left))
		return
	}
	unset(m, runtimev1.PendingHooksAnnotation)
}

func set(o metav1.Object, key, value string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

func unset(o metav1.Object, key string) {
	annotations := maps.Clone(o.GetAnnotations())
	delete(annotations, key)
	o.SetAnnotations(annotations)
}
