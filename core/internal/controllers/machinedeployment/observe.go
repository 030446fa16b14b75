package machinedeployment

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
)

// sight reads what a decision needs, and has what must be read again watched.
type sight struct {
	reader   client.Reader
	resolver *contractversion.Resolver
	// watch is nil for who looks only once.
	watch func(template schema.GroupVersionKind) error
	// ask is nil where nobody updates Machines in place.
	ask Ask
}

// Look reads all that matters for one MachineDeployment, without writing or watching anything. The deployment is taken
// as it is given, and what this program wrote last for seen. Without ask nobody is asked about updates in place.
func Look(ctx context.Context, reader client.Reader, resolver *contractversion.Resolver, ask Ask, md *clusterv1.MachineDeployment, now time.Time) (World, error) {
	w := World{Now: now, Deployment: md}
	err := sight{reader: reader, resolver: resolver, ask: ask}.observe(ctx, &w)
	return w, err
}

// observe reads all that matters for one MachineDeployment. It writes nothing.
func (c *Controller) observe(ctx context.Context, md *clusterv1.MachineDeployment) (World, error) {
	w := World{Now: time.Now(), Deployment: md, Suffix: rand.String(5)}
	if err := (sight{reader: c.Client, resolver: c.Resolver, watch: c.watch, ask: AskBy(c.Hooks)}).observe(ctx, &w); err != nil {
		return w, err
	}
	seen := map[string]string{}
	for _, s := range w.Sets {
		seen[s.Name] = s.ResourceVersion
	}
	w.Unseen = !c.writes.settled(client.ObjectKeyFromObject(md), seen)
	return w, nil
}

func (c *Controller) watch(template schema.GroupVersionKind) error {
	if c.watcher == nil {
		return nil // reconciled by hand
	}
	return c.watcher.Watch(template, c.ofTemplate)
}

func (l sight) observe(ctx context.Context, w *World) error {
	md := w.Deployment
	cluster := &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: md.Namespace, Name: md.Spec.ClusterName}
	switch err := l.reader.Get(ctx, key, cluster); {
	case err == nil:
		w.Cluster = cluster
	case apierrors.IsNotFound(err) && !md.DeletionTimestamp.IsZero():
	default:
		return fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	if err := l.sets(ctx, w); err != nil {
		return err
	}
	machines := &clusterv1.MachineList{}
	if err := l.reader.List(ctx, machines, client.InNamespace(md.Namespace), client.MatchingLabels(labels.OfCluster(md.Spec.ClusterName)),
		client.MatchingLabels{clusterv1.MachineDeploymentNameLabel: labels.Value(md.Name)}); err != nil {
		return fmt.Errorf("listing machines: %w", err)
	}
	for i := range machines.Items {
		w.Machines = append(w.Machines, &machines.Items[i])
	}
	w.CountMachines()
	if !md.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := l.templates(ctx, w); err != nil {
		return err
	}
	return l.inPlace(ctx, w)
}

func (l sight) sets(ctx context.Context, w *World) error {
	selector, err := metav1.LabelSelectorAsSelector(&w.Deployment.Spec.Selector)
	if err != nil {
		return fmt.Errorf("spec.selector: %w", err)
	}
	list := &clusterv1.MachineSetList{}
	if err := l.reader.List(ctx, list, client.InNamespace(w.Deployment.Namespace), client.MatchingLabels(labels.OfCluster(w.Deployment.Spec.ClusterName))); err != nil {
		return fmt.Errorf("listing machine sets: %w", err)
	}
	for i := range list.Items {
		s := &list.Items[i]
		switch owner := metav1.GetControllerOf(s); {
		case owner != nil && owner.UID == w.Deployment.UID:
			w.Sets = append(w.Sets, s)
		case owner == nil && !selector.Empty() && s.DeletionTimestamp.IsZero() && selector.Matches(k8slabels.Set(s.Labels)):
			w.Orphans = append(w.Orphans, s)
		}
	}
	return nil
}

func (l sight) templates(ctx context.Context, w *World) error {
	spec := w.Deployment.Spec.Template.Spec
	for _, ref := range []clusterv1.ContractVersionedObjectReference{spec.Bootstrap.ConfigRef, spec.InfrastructureRef} {
		if ref.Name == "" {
			continue
		}
		_, err := external.Get(ctx, l.reader, l.resolver, ref, w.Deployment.Namespace)
		gvk, _, kindErr := l.resolver.GVK(ctx, groupKind(ref))
		switch {
		case external.IsNotFound(err):
			w.MissingTemplates = append(w.MissingTemplates, ref.Kind+" "+ref.Name)
		case err != nil:
			return err
		}
		if l.watch != nil && kindErr == nil {
			if err := l.watch(gvk); err != nil {
				return err
			}
		}
	}
	return nil
}
