package machine

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/paused"
)

// observe reads all that matters for one Machine. It writes nothing.
func (c *Controller) observe(ctx context.Context, m *clusterv1.Machine) (World, error) {
	w := World{Now: time.Now(), Machine: m, ConditionsGrace: c.ConditionsGrace, Sync: c.Node}
	cluster := &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: m.Namespace, Name: m.Spec.ClusterName}
	switch err := c.Client.Get(ctx, key, cluster); {
	case err == nil:
		w.Cluster = cluster
	case apierrors.IsNotFound(err):
	default:
		return w, fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	w.Bootstrap = c.refer(ctx, m.Spec.Bootstrap.ConfigRef, m.Namespace)
	w.Infrastructure = c.refer(ctx, m.Spec.InfrastructureRef, m.Namespace)
	if err := c.owners(ctx, &w); err != nil {
		return w, err
	}
	if w.Cluster != nil {
		w.Health = c.ClusterCache.Health(key)
		w.Node = c.node(ctx, key, providerID(w), m.Status.NodeRef.Name)
		if !m.DeletionTimestamp.IsZero() {
			w.ControlPlane = c.controlPlane(ctx, cluster, m)
			c.drain(ctx, key, &w)
		}
	}
	if stageOf(m) == idle || w.deleting() {
		c.attempts.forget(m.UID)
	} else if callDue(w) && !paused.Is(w.Cluster, m) {
		var err error
		if w.Update, err = c.askExtension(ctx, w); err != nil {
			return w, err
		}
	}
	return w, nil
}

// watch starts the watch on the kind of a reference, also of an object that is missing now: it wakes us when it appears.
func (c *Controller) watch(ctx context.Context, ref clusterv1.ContractVersionedObjectReference) error {
	gvk, _, err := c.Resolver.GVK(ctx, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if err != nil {
		return err
	}
	return c.watcher.Watch(gvk, c.referred)
}

func (c *Controller) refer(ctx context.Context, ref clusterv1.ContractVersionedObjectReference, namespace string) Referred {
	if ref.Name == "" {
		return Referred{}
	}
	if err := c.watch(ctx, ref); err != nil {
		return Referred{Err: err}
	}
	obj, err := external.Get(ctx, c.Client, c.Resolver, ref, namespace)
	switch {
	case err == nil:
		return Referred{Object: obj}
	case external.IsNotFound(err):
		return Referred{Missing: true}
	}
	return Referred{Err: err}
}

// owners reads the MachineSet and MachineDeployment, which decide whether the Machine is up to date.
func (c *Controller) owners(ctx context.Context, w *World) error {
	set, deployment := w.Machine.Labels[clusterv1.MachineSetNameLabel], w.Machine.Labels[clusterv1.MachineDeploymentNameLabel]
	if set == "" || deployment == "" || !w.Machine.DeletionTimestamp.IsZero() {
		return nil
	}
	ms, md := &clusterv1.MachineSet{}, &clusterv1.MachineDeployment{}
	for name, obj := range map[string]client.Object{ownerName(w.Machine, set): ms, deployment: md} {
		err := c.Client.Get(ctx, client.ObjectKey{Namespace: w.Machine.Namespace, Name: name}, obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading owner %s: %w", name, err)
		}
	}
	w.MachineSet, w.MachineDeployment = ms, md
	return nil
}

// ownerName is the MachineSet's real name: labels of long names are hashed.
func ownerName(m *clusterv1.Machine, label string) string {
	for _, r := range m.OwnerReferences {
		if r.Kind == "MachineSet" {
			return r.Name
		}
	}
	return label
}

// providerID is the Machine's, or in deletion that of its infrastructure, since the Machine may never have learned it.
func providerID(w World) string {
	if w.Machine.Spec.ProviderID != "" || w.Infrastructure.Object == nil {
		return w.Machine.Spec.ProviderID
	}
	id, err := accessors.InfrastructureMachine(w.Infrastructure.Object.Contract).ProviderID().GetOr(w.Infrastructure.Object.Unstructured, "")
	if err != nil {
		return ""
	}
	return id
}

func (c *Controller) node(ctx context.Context, cluster client.ObjectKey, providerID, known string) NodeView {
	reader, err := c.ClusterCache.Reader(ctx, cluster)
	if err != nil {
		return NodeView{}
	}
	view := NodeView{Connected: true}
	if providerID == "" {
		return view
	}
	if err := c.watchNodes(ctx, cluster); err != nil {
		view.Err = err
		return view
	}
	list := &corev1.NodeList{}
	if err := reader.List(ctx, list, client.MatchingFields{clustercache.NodeProviderIDIndex: providerID}); err != nil {
		view.Err = fmt.Errorf("looking for the Node with provider ID %s: %w", providerID, err)
		return view
	}
	return identify(view, list.Items, known)
}

// identify picks the Node out of those with the Machine's provider ID. Of several only the one that has been the
// Machine's before is known to be; to take any other would mean to drain and delete a stranger's.
func identify(view NodeView, found []corev1.Node, known string) NodeView {
	for i := range found {
		view.Duplicates = append(view.Duplicates, found[i].Name)
		if len(found) == 1 || found[i].Name == known {
			view.Node = &found[i]
		}
	}
	slices.Sort(view.Duplicates)
	return view
}

func (c *Controller) controlPlane(ctx context.Context, cluster *clusterv1.Cluster, m *clusterv1.Machine) ControlPlaneView {
	var view ControlPlaneView
	if cluster.Spec.ControlPlaneRef.Name != "" {
		obj, err := external.Get(ctx, c.Client, c.Resolver, cluster.Spec.ControlPlaneRef, cluster.Namespace)
		switch {
		case external.IsNotFound(err):
			view.Deleting = true
			return view
		case err != nil:
			view.Err = err
			return view
		}
		view.Deleting = !obj.GetDeletionTimestamp().IsZero()
		view.ExternallyManaged, view.Err = accessors.ControlPlane(obj.Contract).ExternallyManaged().GetOr(obj.Unstructured, false)
	}
	list := &clusterv1.MachineList{}
	if err := c.Client.List(ctx, list, client.InNamespace(m.Namespace), client.MatchingLabels(labels.OfCluster(cluster.Name)), client.HasLabels{clusterv1.MachineControlPlaneLabel}); err != nil {
		view.Err = fmt.Errorf("listing control plane machines: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].UID != m.UID && list.Items[i].DeletionTimestamp.IsZero() {
			view.OtherMachines++
		}
	}
	return view
}
