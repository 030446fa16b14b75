package machinepool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
)

// observe reads all that matters for one MachinePool. It writes nothing.
func (c *Controller) observe(ctx context.Context, p *clusterv1.MachinePool) (World, error) {
	w := World{Now: time.Now(), Pool: p, ConditionsGrace: c.ConditionsGrace}
	cluster := &clusterv1.Cluster{}
	switch err := c.Client.Get(ctx, clusterKey(p), cluster); {
	case err == nil:
		w.Cluster = cluster
	case !apierrors.IsNotFound(err):
		return w, fmt.Errorf("reading Cluster %s: %w", p.Spec.ClusterName, err)
	}
	w.Bootstrap = c.provider.Read(ctx, p.Spec.Template.Spec.Bootstrap.ConfigRef, p.Namespace)
	w.Infrastructure = c.provider.Read(ctx, p.Spec.Template.Spec.InfrastructureRef, p.Namespace)
	w.Members = c.members(ctx, w)
	if w.Cluster != nil {
		w.Health = c.ClusterCache.Health(clusterKey(p))
		w.Nodes = c.nodes(ctx, w)
	}
	return w, nil
}

// members reads the Machines of the pool and, unless it is being deleted, the infrastructure machines behind them.
func (c *Controller) members(ctx context.Context, w World) MembersView {
	var view MembersView
	machines := &clusterv1.MachineList{}
	if err := c.Client.List(ctx, machines, client.InNamespace(w.Pool.Namespace), membersOf(w.Pool)); err != nil {
		view.Err = fmt.Errorf("listing machines: %w", err)
		return view
	}
	visible := map[string]bool{}
	for i := range machines.Items {
		m := &machines.Items[i]
		if owner := metav1.GetControllerOf(m); owner == nil || ownership.Same(*owner, ownerReference(w.Pool)) {
			view.Machines = append(view.Machines, m)
			visible[m.Name] = m.DeletionTimestamp.IsZero()
		}
	}
	slices.SortFunc(view.Machines, func(a, b *clusterv1.Machine) int { return strings.Compare(a.Name, b.Name) })
	view.Unseen = c.created.Left(client.ObjectKeyFromObject(w.Pool), visible, w.Now)
	if w.Infrastructure.Object == nil || w.deleting() {
		return view // Machines that leave need nothing of the kind they stand for
	}
	contract, obj := accessors.InfrastructureMachinePool(w.Infrastructure.Object.Contract), w.Infrastructure.Object.Unstructured
	kind, err := contract.InfrastructureMachineKind().GetOr(obj, "")
	if err != nil || kind == "" {
		view.Err = err
		return view
	}
	view.Kind = schema.GroupKind{Group: obj.GroupVersionKind().Group, Kind: kind}
	view.Infrastructure, view.Err = c.infrastructureMachines(ctx, w, view.Kind)
	if view.Err == nil {
		view.Foreign, view.Err = c.foreign(ctx, view, visible)
	}
	return view
}

// membersOf selects what belongs to a pool, Machines and infrastructure machines alike.
func membersOf(p *clusterv1.MachinePool) client.MatchingLabels {
	return client.MatchingLabels{clusterv1.ClusterNameLabel: p.Spec.ClusterName, clusterv1.MachinePoolNameLabel: labels.Value(p.Name)}
}

// infrastructureMachines lists the members. The objects are those of the cache itself: they must not be changed.
func (c *Controller) infrastructureMachines(ctx context.Context, w World, kind schema.GroupKind) ([]*unstructured.Unstructured, error) {
	gvk, err := c.member.Watch(ctx, kind)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	if err := c.Client.List(ctx, list, client.InNamespace(w.Pool.Namespace), membersOf(w.Pool), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing %s: %w", kind.Kind, err)
	}
	out := make([]*unstructured.Unstructured, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return out, nil
}

// foreign looks whether a member's name is taken by a Machine that is not the pool's: it must not be overwritten.
func (c *Controller) foreign(ctx context.Context, view MembersView, visible map[string]bool) ([]*clusterv1.Machine, error) {
	var out []*clusterv1.Machine
	for _, o := range view.Infrastructure {
		if _, own := visible[o.GetName()]; own {
			continue
		}
		m := &clusterv1.Machine{}
		switch err := c.Client.Get(ctx, client.ObjectKeyFromObject(o), m); {
		case err == nil:
			out = append(out, m)
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("reading Machine %s: %w", o.GetName(), err)
		}
	}
	return out, nil
}

// nodes finds the Nodes of the members, those that are listed now and those that were.
func (c *Controller) nodes(ctx context.Context, w World) NodesView {
	reader, err := c.ClusterCache.Reader(ctx, clusterKey(w.Pool))
	if err != nil {
		return NodesView{}
	}
	view := NodesView{Connected: true, ByProviderID: map[string][]*corev1.Node{}, Known: map[string]*corev1.Node{}}
	if view.Err = c.watchNodes(ctx, clusterKey(w.Pool)); view.Err != nil {
		return view
	}
	for _, id := range providerIDs(w) {
		list := &corev1.NodeList{}
		if err := reader.List(ctx, list, client.MatchingFields{clustercache.NodeProviderIDIndex: id}); err != nil {
			view.Err = fmt.Errorf("looking for the Node with provider ID %s: %w", id, err)
			return view
		}
		for i := range list.Items {
			view.ByProviderID[id] = append(view.ByProviderID[id], &list.Items[i])
		}
	}
	for _, ref := range w.Pool.Status.NodeRefs {
		node := &corev1.Node{}
		switch err := reader.Get(ctx, client.ObjectKey{Name: ref.Name}, node); {
		case err == nil:
			view.Known[ref.Name] = node
		case !apierrors.IsNotFound(err):
			view.Err = fmt.Errorf("reading Node %s: %w", ref.Name, err)
			return view
		}
	}
	return view
}

// providerIDs are those of the pool and those that its infrastructure reports just now.
func providerIDs(w World) []string {
	ids := slices.Clone(w.Pool.Spec.ProviderIDList)
	if o := w.Infrastructure.Object; o != nil {
		reported, err := accessors.InfrastructureMachinePool(o.Contract).ProviderIDList().GetOr(o.Unstructured, nil)
		if err == nil {
			ids = append(ids, reported...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
