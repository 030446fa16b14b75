package machineset

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/core/internal/apply"
)

// nodeDeletionTimeout is what admission gives a Machine that asks for none.
const nodeDeletionTimeout = 10

// sync brings what may change in place to every Machine that differs, and labels and annotations to its objects.
func (d *Decision) sync(w World) {
	for _, m := range w.Machines {
		if !m.DeletionTimestamp.IsZero() && len(m.Finalizers) == 0 {
			continue // as good as gone
		}
		if inplace.Arriving(m) && m.DeletionTimestamp.IsZero() {
			continue // the beginning of its update changes it altogether
		}
		wanted := InPlace(w, m)
		if covered, surplus := covers(m, wanted), surplusOf(m, wanted); !covered || surplus {
			d.Actions = append(d.Actions, Sync{Machine: m, Wanted: wanted, Covered: covered, Surplus: surplus})
		}
		if !m.DeletionTimestamp.IsZero() {
			continue
		}
		for _, o := range w.Objects[m.Name] {
			if o.GetDeletionTimestamp().IsZero() && !(apply.Covers(o.GetLabels(), wanted.Labels) && apply.Covers(o.GetAnnotations(), wanted.Annotations)) {
				d.Actions = append(d.Actions, SyncMetadata{Object: o, Labels: wanted.Labels, Annotations: wanted.Annotations})
			}
		}
	}
}

// intent is a new Machine as the set wants it.
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

// InPlace is the intent for a Machine that exists: what would need a new Machine stays as it is. A Machine that leaves
// gets only what governs its leaving. A finalizer that is gone is not asked for again: that would be refused, and one
// left out while it is there would be taken away, and the Machine with it.
func InPlace(w World, m *clusterv1.Machine) *clusterv1.Machine {
	wanted := intent(w, m.Name)
	if !slices.Contains(m.Finalizers, clusterv1.MachineFinalizer) {
		wanted.Finalizers = nil
	}
	wanted.Spec.Version, wanted.Spec.FailureDomain = m.Spec.Version, m.Spec.FailureDomain
	// The data Secret and the provider ID belong to the Machine's own controller.
	wanted.Spec.ProviderID = w.Set.Spec.Template.Spec.ProviderID
	wanted.Spec.Bootstrap = clusterv1.Bootstrap{ConfigRef: m.Spec.Bootstrap.ConfigRef, DataSecretName: w.Set.Spec.Template.Spec.Bootstrap.DataSecretName}
	wanted.Spec.InfrastructureRef = m.Spec.InfrastructureRef
	if !m.DeletionTimestamp.IsZero() {
		wanted.Labels, wanted.Annotations = m.Labels, m.Annotations
	}
	return wanted
}

// covers says whether a Machine has everything of an intent already.
func covers(have, want *clusterv1.Machine) bool {
	a, b := have.Spec, want.Spec
	return apply.Covers(have.Labels, want.Labels) && apply.Covers(have.Annotations, want.Annotations) && apply.Owned(have, want.OwnerReferences) &&
		asked(a.Deletion.NodeDrainTimeoutSeconds, b.Deletion.NodeDrainTimeoutSeconds) &&
		asked(a.Deletion.NodeVolumeDetachTimeoutSeconds, b.Deletion.NodeVolumeDetachTimeoutSeconds) &&
		asked(a.Deletion.NodeDeletionTimeoutSeconds, b.Deletion.NodeDeletionTimeoutSeconds) && asked(a.MinReadySeconds, b.MinReadySeconds) &&
		equality.Semantic.DeepEqual(a.ReadinessGates, b.ReadinessGates) && equality.Semantic.DeepEqual(a.Taints, b.Taints)
}

func asked(have, want *int32) bool { return want == nil || (have != nil && *have == *want) }

// surplusOf says whether a Machine has something beyond an intent that an earlier one may have brought.
func surplusOf(have, want *clusterv1.Machine) bool {
	a, b := have.Spec, want.Spec
	left := func(have, want *int32, unless int32) bool { return want == nil && have != nil && *have != unless }
	return len(have.Labels) > len(want.Labels) || len(have.Annotations) > len(want.Annotations) ||
		left(a.Deletion.NodeDrainTimeoutSeconds, b.Deletion.NodeDrainTimeoutSeconds, 0) ||
		left(a.Deletion.NodeVolumeDetachTimeoutSeconds, b.Deletion.NodeVolumeDetachTimeoutSeconds, 0) ||
		left(a.Deletion.NodeDeletionTimeoutSeconds, b.Deletion.NodeDeletionTimeoutSeconds, nodeDeletionTimeout) || left(a.MinReadySeconds, b.MinReadySeconds, 0)
}

func (c *Controller) syncMachine(ctx context.Context, w World, a Sync) error {
	_, err := c.applied.Apply(ctx, c.Client, FieldOwnerOfMachines, apply.Update{
		Parent: client.ObjectKeyFromObject(w.Set), Have: a.Machine, Want: a.Wanted, Covered: a.Covered, Surplus: a.Surplus,
	})
	if err != nil {
		return fmt.Errorf("updating Machine %s in place: %w", a.Machine.Name, err)
	}
	return nil
}

// syncMetadata applies labels and annotations under a name of its own, so that it never claims anything of the spec.
func (c *Controller) syncMetadata(ctx context.Context, a SyncMetadata) error {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(a.Object.GroupVersionKind())
	o.SetNamespace(a.Object.GetNamespace())
	o.SetName(a.Object.GetName())
	o.SetUID(a.Object.GetUID())
	o.SetLabels(a.Labels)
	o.SetAnnotations(a.Annotations)
	if err := apply.Send(ctx, c.Client, FieldOwnerOfMetadata, o); err != nil {
		return fmt.Errorf("labelling %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}
