package machineset

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
)

// objects finds the bootstrap configs and infrastructure machines of the set: those of its Machines, and those that
// have no Machine because this program ended, or an answer got lost, between their creation and its.
func (l sight) objects(ctx context.Context, w *World) error {
	byName := map[string]*clusterv1.Machine{}
	for _, m := range w.Machines {
		byName[m.Name] = m
	}
	w.Objects = map[string][]*unstructured.Unstructured{}
	for _, t := range []Template{w.Bootstrap, w.Infrastructure} {
		if t.Object == nil {
			continue
		}
		list, err := l.madeFrom(ctx, t.Object, w.Set)
		if err != nil {
			return err
		}
		for i := range list.Items {
			o := &list.Items[i]
			if byName[o.GetName()] != nil {
				w.Objects[o.GetName()] = append(w.Objects[o.GetName()], o)
			} else if owners := o.GetOwnerReferences(); len(owners) == 1 && owners[0].UID == w.Set.UID {
				w.Strays = append(w.Strays, o)
			}
		}
	}
	l.complete(ctx, w)
	return nil
}

// madeFrom lists what the set made from a template. The objects are those of the cache itself: they must not be changed.
func (l sight) madeFrom(ctx context.Context, template *external.Object, s *clusterv1.MachineSet) (*unstructured.UnstructuredList, error) {
	gk := template.GroupVersionKind().GroupKind()
	gvk, _, err := l.resolver.GVK(ctx, schema.GroupKind{Group: gk.Group, Kind: strings.TrimSuffix(gk.Kind, "Template")})
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	err = l.reader.List(ctx, list, client.InNamespace(s.Namespace), client.UnsafeDisableDeepCopy,
		client.MatchingLabels(labels.Merge(labels.OfCluster(s.Spec.ClusterName), map[string]string{clusterv1.MachineSetNameLabel: labels.Value(s.Name)})))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", gvk.Kind, err)
	}
	return list, nil
}

// complete reads the objects that do not carry the set's label yet, as those of an adopted Machine. One that cannot be
// read is left out: it must not stop the others, and its Machine reports it.
func (l sight) complete(ctx context.Context, w *World) {
	for _, m := range w.Machines {
		if !m.DeletionTimestamp.IsZero() {
			continue
		}
		for _, ref := range []clusterv1.ContractVersionedObjectReference{m.Spec.Bootstrap.ConfigRef, m.Spec.InfrastructureRef} {
			if ref.Name == "" || known(w.Objects[m.Name], ref) {
				continue
			}
			if o, err := external.Get(ctx, l.reader, l.resolver, ref, m.Namespace); err == nil {
				w.Objects[m.Name] = append(w.Objects[m.Name], o.Unstructured)
			}
		}
	}
}

func known(objects []*unstructured.Unstructured, ref clusterv1.ContractVersionedObjectReference) bool {
	for _, o := range objects {
		if gk := o.GroupVersionKind().GroupKind(); o.GetName() == ref.Name && gk.Kind == ref.Kind && gk.Group == ref.APIGroup {
			return true
		}
	}
	return false
}

// removeStray deletes an object that no Machine will ever use, provided that nobody has touched it since it was read.
func (c *Controller) removeStray(ctx context.Context, a DeleteStray) error {
	uid, version := a.Object.GetUID(), a.Object.GetResourceVersion()
	err := c.Client.Delete(ctx, a.Object.DeepCopy(), client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %s %s, which has no Machine: %w", a.Object.GetKind(), a.Object.GetName(), err)
	}
	return nil
}
