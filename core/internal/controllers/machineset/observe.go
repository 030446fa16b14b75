package machineset

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// suffixLength is that of the random ending of names.
const suffixLength = 5

// sight reads what a decision needs, and has what must be read again watched.
type sight struct {
	reader   client.Reader
	resolver *contractversion.Resolver
	// watch is nil for who looks only once.
	watch func(schema.GroupVersionKind, watched) error
}

// watched says as what an object matters to a MachineSet.
type watched int

const (
	asTemplate watched = iota
	asControlPlane
)

// Look reads all that matters for one MachineSet, which need not exist, without writing or watching anything. What this
// program wrote last is taken for seen.
func Look(ctx context.Context, reader client.Reader, resolver *contractversion.Resolver, s *clusterv1.MachineSet, now time.Time) (World, error) {
	w := World{Now: now, Set: s}
	err := sight{reader: reader, resolver: resolver}.observe(ctx, &w)
	return w, err
}

// observe reads all that matters for one MachineSet. It writes nothing.
func (c *Controller) observe(ctx context.Context, s *clusterv1.MachineSet) (World, error) {
	w := World{Now: time.Now(), Set: s, Skip: c.skipped()}
	if err := (sight{reader: c.Client, resolver: c.Resolver, watch: c.watch}).observe(ctx, &w); err != nil {
		return w, err
	}
	seen := map[string]bool{}
	for _, m := range w.Machines {
		seen[m.Name] = m.DeletionTimestamp.IsZero()
	}
	w.Unseen = !c.writes.settled(client.ObjectKeyFromObject(s), seen)
	return w, nil
}

func (c *Controller) watch(gvk schema.GroupVersionKind, as watched) error {
	if c.watcher == nil {
		return nil // reconciled by hand
	}
	if as == asControlPlane {
		return c.watcher.Watch(gvk, c.ofControlPlane, versionsMatter())
	}
	return c.watcher.Watch(gvk, c.ofTemplate)
}

func (l sight) keepWatching(gvk schema.GroupVersionKind, as watched) error {
	if l.watch == nil {
		return nil
	}
	return l.watch(gvk, as)
}

func (l sight) observe(ctx context.Context, w *World) error {
	s, cluster := w.Set, &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: s.Namespace, Name: s.Spec.ClusterName}
	switch err := l.reader.Get(ctx, key, cluster); {
	case err == nil:
		w.Cluster = cluster
	case apierrors.IsNotFound(err) && !s.DeletionTimestamp.IsZero():
	default:
		return fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	if err := l.machines(ctx, w); err != nil {
		return err
	}
	if !s.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := l.deployment(ctx, w); err != nil {
		return err
	}
	spec := s.Spec.Template.Spec
	w.Bootstrap = l.template(ctx, spec.Bootstrap.ConfigRef, s.Namespace)
	w.Infrastructure = l.template(ctx, spec.InfrastructureRef, s.Namespace)
	w.Skip = append(w.Skip, skippedBy(s, w.Bootstrap)...)
	if err := l.objects(ctx, w); err != nil {
		return err
	}
	if err := errors.Join(l.receiver(ctx, w), l.origins(ctx, w)); err != nil {
		return err
	}
	if cluster.Spec.ControlPlaneRef.Name != "" {
		cp, err := external.Get(ctx, l.reader, l.resolver, cluster.Spec.ControlPlaneRef, s.Namespace)
		if err != nil && !external.IsNotFound(err) {
			return fmt.Errorf("reading control plane: %w", err)
		}
		if err == nil {
			w.ControlPlane = cp
			if err := l.keepWatching(cp.GroupVersionKind(), asControlPlane); err != nil {
				return err
			}
		}
	}
	for range max(0, w.wanted()-len(w.counted())) {
		w.Suffixes = append(w.Suffixes, rand.String(suffixLength))
	}
	return nil
}

// deployment reads the MachineDeployment that controls the set.
func (l sight) deployment(ctx context.Context, w *World) error {
	owner := metav1.GetControllerOf(w.Set)
	if owner == nil || owner.Kind != "MachineDeployment" {
		return nil
	}
	md := &clusterv1.MachineDeployment{}
	err := l.reader.Get(ctx, client.ObjectKey{Namespace: w.Set.Namespace, Name: owner.Name}, md)
	if apierrors.IsNotFound(err) {
		return nil // it is going, and the set with it
	}
	if err != nil {
		return fmt.Errorf("reading MachineDeployment %s: %w", owner.Name, err)
	}
	w.Deployment = md
	return nil
}

func (l sight) machines(ctx context.Context, w *World) error {
	selector, err := metav1.LabelSelectorAsSelector(&w.Set.Spec.Selector)
	if err != nil {
		return fmt.Errorf("spec.selector: %w", err)
	}
	list := &clusterv1.MachineList{}
	if err := l.reader.List(ctx, list, client.InNamespace(w.Set.Namespace), client.MatchingLabels(labels.OfCluster(w.Set.Spec.ClusterName))); err != nil {
		return fmt.Errorf("listing machines: %w", err)
	}
	for i := range list.Items {
		m := &list.Items[i]
		switch owner := metav1.GetControllerOf(m); {
		case owner != nil && owner.UID == w.Set.UID:
			w.Machines = append(w.Machines, m)
		case owner == nil && !selector.Empty() && selector.Matches(k8slabels.Set(m.Labels)) && m.DeletionTimestamp.IsZero():
			w.Orphans = append(w.Orphans, m)
		}
	}
	return nil
}

func (l sight) template(ctx context.Context, ref clusterv1.ContractVersionedObjectReference, namespace string) Template {
	if ref.Name == "" {
		return Template{}
	}
	// The watch comes first, so that a template that is missing now wakes us when it appears.
	gvk, _, err := l.resolver.GVK(ctx, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if err == nil {
		err = l.keepWatching(gvk, asTemplate)
	}
	if err != nil {
		return Template{Err: err}
	}
	obj, err := external.Get(ctx, l.reader, l.resolver, ref, namespace)
	switch {
	case err == nil:
		return Template{Object: obj}
	case external.IsNotFound(err):
		return Template{Missing: true}
	}
	return Template{Err: err}
}

// skipped are the checks that the flag does not list.
func (c *Controller) skipped() []string {
	if len(c.PreflightChecks) == 0 {
		return []string{clusterv1.MachineSetPreflightCheckAll}
	}
	on := map[string]bool{}
	for _, p := range c.PreflightChecks {
		on[p] = true
	}
	if on[clusterv1.MachineSetPreflightCheckAll] {
		return nil
	}
	var off []string
	for _, p := range []string{clusterv1.MachineSetPreflightCheckControlPlaneIsStable, clusterv1.MachineSetPreflightCheckKubernetesVersionSkew,
		clusterv1.MachineSetPreflightCheckKubeadmVersionSkew, clusterv1.MachineSetPreflightCheckControlPlaneVersionSkew} {
		if !on[p] {
			off = append(off, p)
		}
	}
	return off
}

// skippedBy are the checks that the set's annotation switches off, or in its absence that of the bootstrap template.
func skippedBy(s *clusterv1.MachineSet, bootstrap Template) []string {
	list, ok := s.Annotations[clusterv1.MachineSetSkipPreflightChecksAnnotation]
	if !ok && bootstrap.Object != nil {
		list = bootstrap.Object.GetAnnotations()[clusterv1.MachineSetSkipPreflightChecksAnnotation]
	}
	var out []string
	for _, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
