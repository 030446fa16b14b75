package machineset

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
)

// Decide says what to do about a MachineSet, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Set: w.Set.DeepCopy()}
	if !w.deleting() && !slices.Contains(d.Set.Finalizers, clusterv1.MachineSetFinalizer) {
		d.Set.Finalizers = append(d.Set.Finalizers, clusterv1.MachineSetFinalizer)
	}
	pause := paused.Condition(w.Cluster, w.Set)
	conditions.Set(d.Set, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	if w.deleting() {
		d.delete(w)
	} else {
		d.own(w)
		d.templates(w)
		d.adopt(w)
		d.sync(w)
		d.scale(w)
	}
	d.describe(w)
	if d.Err == nil {
		d.Set.Status.ObservedGeneration = d.Set.Generation
	}
	return d
}

func (d *Decision) delete(w World) {
	if len(w.Machines) == 0 && !w.Unseen {
		d.Set.Finalizers = slices.DeleteFunc(d.Set.Finalizers, func(f string) bool { return f == clusterv1.MachineSetFinalizer })
		return
	}
	for _, m := range w.Machines {
		if m.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Delete{Machine: m, Why: decision.Because("SetDeleted", "MachineSet %s is being deleted", w.Set.Name)})
		}
	}
}

// own labels the set, and makes the Cluster the owner of a stand-alone one.
func (d *Decision) own(w World) {
	s := d.Set
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	s.Labels[clusterv1.ClusterNameLabel] = s.Spec.ClusterName
	if _, ok := s.Labels[clusterv1.MachineDeploymentNameLabel]; !ok && w.Cluster != nil && metav1.GetControllerOf(s) == nil {
		ownership.Ensure(s, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
	}
}

// templates become owned by the Cluster, so that they are moved and deleted with it.
func (d *Decision) templates(w World) {
	for _, t := range []Template{w.Bootstrap, w.Infrastructure} {
		if t.Err != nil {
			d.fail(t.Err)
		}
		if t.Object == nil || w.Cluster == nil || !t.Object.GetDeletionTimestamp().IsZero() {
			continue
		}
		if !ownership.Has(t.Object, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))) {
			d.Actions = append(d.Actions, OwnTemplate{Object: t.Object})
		}
	}
}

func (d *Decision) adopt(w World) {
	for _, m := range w.Orphans {
		if m.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Adopt{Machine: m})
			d.Events = append(d.Events, Event{"SuccessfulAdopt", "Adopted Machine " + m.Name})
		}
	}
}

// sync brings what may change in place to every Machine that differs. A Machine that leaves gets only what governs its leaving.
func (d *Decision) sync(w World) {
	for _, m := range w.Machines {
		wanted := intent(w, m.Name)
		wanted.Spec.Version, wanted.Spec.FailureDomain = m.Spec.Version, m.Spec.FailureDomain
		// The data Secret and the provider ID belong to the Machine's own controller.
		wanted.Spec.Bootstrap = clusterv1.Bootstrap{ConfigRef: m.Spec.Bootstrap.ConfigRef, DataSecretName: w.Set.Spec.Template.Spec.Bootstrap.DataSecretName}
		wanted.Spec.InfrastructureRef = m.Spec.InfrastructureRef
		if !m.DeletionTimestamp.IsZero() {
			wanted.Labels, wanted.Annotations = m.Labels, m.Annotations
		}
		d.Actions = append(d.Actions, Sync{Machine: m, Wanted: wanted})
	}
}

// scale creates what is missing and deletes the surplus; Machines that already leave count towards the surplus.
func (d *Decision) scale(w World) {
	if w.Unseen {
		return // the watch that shows the last writes wakes us
	}
	switch missing := w.wanted() - len(w.Machines) - len(w.Orphans); {
	case missing > 0:
		d.scaleUp(w, missing)
	case missing < 0:
		d.scaleDown(w, -missing)
	}
}

func (d *Decision) scaleUp(w World, n int) {
	if w.Set.Annotations[clusterv1.DisableMachineCreateAnnotation] == "true" {
		d.blocked = append(d.blocked, "creation of Machines is disabled by annotation "+clusterv1.DisableMachineCreateAnnotation)
		return
	}
	for _, t := range []struct {
		Template
		ref clusterv1.ContractVersionedObjectReference
	}{{w.Bootstrap, w.Set.Spec.Template.Spec.Bootstrap.ConfigRef}, {w.Infrastructure, w.Set.Spec.Template.Spec.InfrastructureRef}} {
		if t.ref.Name != "" && t.Object == nil {
			d.blocked = append(d.blocked, fmt.Sprintf("%s %s does not exist", t.ref.Kind, t.ref.Name))
		}
	}
	checks, err := preflight(w)
	d.fail(err)
	d.blocked = append(d.blocked, checks...)
	if len(d.blocked) > 0 || err != nil {
		return
	}
	for i := range n {
		name, err := machineName(w.Set, w.Suffixes[i])
		if err != nil {
			d.fail(err)
			return
		}
		why := decision.Because("ScaleUp", "%d replicas wanted, %d exist", w.wanted(), len(w.Machines))
		d.Actions = append(d.Actions, Create{Machine: intent(w, name), Why: why})
	}
}

func (d *Decision) scaleDown(w World, n int) {
	for _, m := range surplus(w.Machines, n, w.Set.Spec.Deletion.Order, w.Now) {
		if m.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Delete{Machine: m, Why: decision.Because("ScaleDown", "%d replicas wanted, %d exist", w.wanted(), len(w.Machines))})
		}
	}
}

// intent is a Machine as the set wants it, whatever exists.
func intent(w World, name string) *clusterv1.Machine {
	s := w.Set
	m := &clusterv1.Machine{Spec: *s.Spec.Template.Spec.DeepCopy()}
	m.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Machine"))
	m.Namespace, m.Name = s.Namespace, name
	m.Finalizers = []string{clusterv1.MachineFinalizer}
	m.OwnerReferences = []metav1.OwnerReference{ownership.ControllerReference(s, clusterv1.GroupVersion.WithKind("MachineSet"))}
	m.Labels = labels.Merge(s.Spec.Template.Metadata.Labels, labels.OfCluster(s.Spec.ClusterName), map[string]string{clusterv1.MachineSetNameLabel: labels.Value(s.Name)})
	if md, ok := s.Labels[clusterv1.MachineDeploymentNameLabel]; ok {
		m.Labels[clusterv1.MachineDeploymentNameLabel] = md
	}
	m.Annotations = labels.Merge(s.Spec.Template.Metadata.Annotations)
	m.Spec.ClusterName = s.Spec.ClusterName
	return m
}

func (d *Decision) fail(err error) {
	if err != nil {
		d.Err = errors.Join(d.Err, err)
	}
}
