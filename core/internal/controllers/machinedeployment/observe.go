package machinedeployment

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
)

// observe reads all that matters for one MachineDeployment. It writes nothing.
func (c *Controller) observe(ctx context.Context, md *clusterv1.MachineDeployment) (World, error) {
	w := World{Now: time.Now(), Deployment: md, Suffix: rand.String(5)}
	cluster := &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: md.Namespace, Name: md.Spec.ClusterName}
	switch err := c.Client.Get(ctx, key, cluster); {
	case err == nil:
		w.Cluster = cluster
	case apierrors.IsNotFound(err) && !md.DeletionTimestamp.IsZero():
	default:
		return w, fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	if err := c.sets(ctx, &w); err != nil {
		return w, err
	}
	machines := &clusterv1.MachineList{}
	if err := c.Client.List(ctx, machines, client.InNamespace(md.Namespace), client.MatchingLabels(labels.OfCluster(md.Spec.ClusterName)),
		client.MatchingLabels{clusterv1.MachineDeploymentNameLabel: labels.Value(md.Name)}); err != nil {
		return w, fmt.Errorf("listing machines: %w", err)
	}
	for i := range machines.Items {
		w.Machines = append(w.Machines, &machines.Items[i])
	}
	refresh(&w)
	if md.DeletionTimestamp.IsZero() {
		return w, c.templates(ctx, &w)
	}
	return w, nil
}

func (c *Controller) sets(ctx context.Context, w *World) error {
	selector, err := metav1.LabelSelectorAsSelector(&w.Deployment.Spec.Selector)
	if err != nil {
		return fmt.Errorf("spec.selector: %w", err)
	}
	list := &clusterv1.MachineSetList{}
	if err := c.Client.List(ctx, list, client.InNamespace(w.Deployment.Namespace), client.MatchingLabels(labels.OfCluster(w.Deployment.Spec.ClusterName))); err != nil {
		return fmt.Errorf("listing machine sets: %w", err)
	}
	seen := map[string]string{}
	for i := range list.Items {
		s := &list.Items[i]
		switch owner := metav1.GetControllerOf(s); {
		case owner != nil && owner.UID == w.Deployment.UID:
			w.Sets = append(w.Sets, s)
			seen[s.Name] = s.ResourceVersion
		case owner == nil && !selector.Empty() && s.DeletionTimestamp.IsZero() && selector.Matches(k8slabels.Set(s.Labels)):
			w.Orphans = append(w.Orphans, s)
		}
	}
	w.Unseen = !c.writes.settled(client.ObjectKeyFromObject(w.Deployment), seen)
	return nil
}

func (c *Controller) templates(ctx context.Context, w *World) error {
	spec := w.Deployment.Spec.Template.Spec
	for _, ref := range []clusterv1.ContractVersionedObjectReference{spec.Bootstrap.ConfigRef, spec.InfrastructureRef} {
		if ref.Name == "" {
			continue
		}
		obj, err := external.Get(ctx, c.Client, c.Resolver, ref, w.Deployment.Namespace)
		switch {
		case external.IsNotFound(err):
			w.MissingTemplates = append(w.MissingTemplates, ref.Kind+" "+ref.Name)
			if gvk, _, err := c.Resolver.GVK(ctx, groupKind(ref)); err == nil {
				if err := c.watcher.Watch(gvk, c.ofTemplate); err != nil {
					return err
				}
			}
		case err != nil:
			return err
		default:
			if err := c.watcher.Watch(obj.GroupVersionKind(), c.ofTemplate); err != nil {
				return err
			}
		}
	}
	return nil
}
