package ownership

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// ErrNoOwner says that an object names no owner of the kind asked for, yet: wait quietly until it does.
var ErrNoOwner = errors.New("the object has no such owner yet")

// ControllerOf returns the reference of the owner that controls the object, or nil.
func ControllerOf(obj metav1.Object) *metav1.OwnerReference { return metav1.GetControllerOf(obj) }

// ClusterOf reads the Cluster that an object belongs to, by its label or, failing that, by an owner reference. ErrNoOwner means that the object
// names none; a NotFound error means that the Cluster is gone.
func ClusterOf(ctx context.Context, c client.Reader, obj metav1.Object) (*clusterv1.Cluster, error) {
	name := obj.GetLabels()[clusterv1.ClusterNameLabel]
	if name == "" {
		if ref := Of(obj, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind).GroupKind()); ref != nil {
			name = ref.Name
		}
	}
	if name == "" {
		return nil, fmt.Errorf("cluster of %s: %w", obj.GetName(), ErrNoOwner)
	}
	cluster := &clusterv1.Cluster{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}, cluster); err != nil {
		return nil, fmt.Errorf("reading cluster %s of %s: %w", name, obj.GetName(), err)
	}
	return cluster, nil
}

// MachineOf reads the Machine that owns an object, a bootstrap config or an infrastructure machine. ErrNoOwner means that none does yet.
func MachineOf(ctx context.Context, c client.Reader, obj metav1.Object) (*clusterv1.Machine, error) {
	ref := Of(obj, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: "Machine"})
	if ref == nil {
		return nil, fmt.Errorf("machine of %s: %w", obj.GetName(), ErrNoOwner)
	}
	machine := &clusterv1.Machine{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: ref.Name}, machine); err != nil {
		return nil, fmt.Errorf("reading machine %s of %s: %w", ref.Name, obj.GetName(), err)
	}
	return machine, nil
}
