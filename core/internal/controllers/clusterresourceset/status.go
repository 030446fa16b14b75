package clusterresourceset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/contract/paused"
	"github.com/slipway-capi/slipway/core/internal/outcome"
)

// SetWorld is all that is known when a decision about one ClusterResourceSet is taken.
type SetWorld struct {
	Set *addonsv1.ClusterResourceSet
	// Clusters are those that the selector matches, by name.
	Clusters []*clusterv1.Cluster
	// Bindings are those of the namespace.
	Bindings []*addonsv1.ClusterResourceSetBinding
	// Troubles are by the name of the Cluster.
	Troubles map[string]map[addonsv1.ResourceReference]trouble
	// Resources are the ConfigMaps and Secrets that exist, metadata only.
	Resources []*metav1.PartialObjectMetadata
}

// SetDecision is the set as it should be stored, and the resources that it becomes an owner of.
type SetDecision struct {
	Set   *addonsv1.ClusterResourceSet
	Adopt []*metav1.PartialObjectMetadata
}

// DecideSet says what the status of a set is. It is pure: same world, same decision.
func DecideSet(w SetWorld) SetDecision {
	d := SetDecision{Set: w.Set.DeepCopy()}
	if w.Set.DeletionTimestamp.IsZero() && !slices.Contains(d.Set.Finalizers, addonsv1.ClusterResourceSetFinalizer) {
		d.Set.Finalizers = append(d.Set.Finalizers, addonsv1.ClusterResourceSetFinalizer)
		return d
	}
	pause := paused.Condition(nil, d.Set)
	conditions.Set(d.Set, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	if !w.Set.DeletionTimestamp.IsZero() {
		if !slices.ContainsFunc(w.Bindings, func(b *addonsv1.ClusterResourceSetBinding) bool { return names(b, w.Set.Name) }) {
			d.Set.Finalizers = slices.DeleteFunc(d.Set.Finalizers, func(f string) bool { return f == addonsv1.ClusterResourceSetFinalizer })
		}
		return d
	}
	owner := ownership.Reference(d.Set, addonsv1.GroupVersion.WithKind("ClusterResourceSet"))
	for _, r := range w.Resources {
		if !ownership.Has(r, owner) {
			d.Adopt = append(d.Adopt, r)
		}
	}
	conditions.Set(d.Set, applied(w))
	d.Set.Status.ObservedGeneration = d.Set.Generation
	return d
}

// applied sums the deliveries up: at most three Clusters are named.
func applied(w SetWorld) metav1.Condition {
	c := metav1.Condition{Type: addonsv1.ClusterResourceSetResourcesAppliedCondition, Status: metav1.ConditionTrue, Reason: addonsv1.ClusterResourceSetResourcesAppliedReason}
	var lines []string
	for _, cluster := range w.Clusters {
		if open, secretType := w.open(cluster); len(open) > 0 {
			lines = append(lines, fmt.Sprintf("* Cluster %s: %s", cluster.Name, strings.Join(open, "; ")))
			if secretType {
				c.Reason = addonsv1.ClusterResourceSetResourcesAppliedWrongSecretTypeReason
			}
		}
	}
	if len(lines) == 0 {
		return c
	}
	c.Status = metav1.ConditionFalse
	if c.Reason == addonsv1.ClusterResourceSetResourcesAppliedReason {
		c.Reason = addonsv1.ClusterResourceSetResourcesNotAppliedReason
	}
	if more := len(lines) - shown; more > 0 {
		lines = append(lines[:shown], fmt.Sprintf("* And %d more Clusters", more))
	}
	c.Message = strings.Join(lines, "\n")
	return c
}

// open lists what is not delivered to a Cluster, and why.
func (w SetWorld) open(cluster *clusterv1.Cluster) (out []string, secretType bool) {
	i := slices.IndexFunc(w.Bindings, func(b *addonsv1.ClusterResourceSetBinding) bool { return b.Name == cluster.Name })
	var binding *addonsv1.ClusterResourceSetBinding
	if i >= 0 {
		binding = w.Bindings[i]
	}
	for _, r := range w.Set.Spec.Resources {
		if t, bad := w.Troubles[cluster.Name][r]; bad {
			out, secretType = append(out, fmt.Sprintf("%s %s: %s", r.Kind, r.Name, t.message)), secretType || t.secretType
			continue
		}
		if e := entry(binding, Delivery{Set: w.Set.Name, Resource: r}); e == nil || !e.Applied {
			out = append(out, fmt.Sprintf("%s %s: not delivered yet", r.Kind, r.Name))
		}
	}
	if len(out) > 0 && paused.Is(cluster, cluster) {
		return []string{"it is paused"}, false
	}
	return out, secretType
}

// report reconciles one ClusterResourceSet.
func (c *Controller) report(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	set := &addonsv1.ClusterResourceSet{}
	if err := c.Client.Get(ctx, req.NamespacedName, set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.WatchFilter != "" && set.Labels[clusterv1.WatchLabel] != c.WatchFilter {
		return reconcile.Result{}, nil
	}
	if wait := c.writes.Stale(set, time.Now()); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	w, err := c.observeSet(ctx, set)
	if err != nil {
		return reconcile.Result{}, err
	}
	d := DecideSet(w)
	var out outcome.Outcome
	for _, r := range d.Adopt {
		out.Note(c.adopt(ctx, set, r))
	}
	owned := patch.Owned(addonsv1.ClusterResourceSetResourcesAppliedCondition, clusterv1.PausedCondition)
	out.Note(patch.Begin(c.Client, FieldOwner, set).Finish(ctx, d.Set, owned))
	if d.Set.ResourceVersion != set.ResourceVersion && len(d.Set.Finalizers) > 0 {
		c.writes.Wrote(d.Set, time.Now())
	}
	return out.Result(0)
}

// adopt lets a resource go, and move, with its set.
func (c *Controller) adopt(ctx context.Context, set *addonsv1.ClusterResourceSet, r *metav1.PartialObjectMetadata) error {
	before := r.DeepCopy()
	ownership.Ensure(r, ownership.Reference(set, addonsv1.GroupVersion.WithKind("ClusterResourceSet")))
	if err := c.Client.Patch(ctx, r, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldOwner)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("owning %s %s: %w", r.Kind, r.Name, err)
	}
	return nil
}

func (c *Controller) observeSet(ctx context.Context, set *addonsv1.ClusterResourceSet) (SetWorld, error) {
	w := SetWorld{Set: set, Troubles: map[string]map[addonsv1.ResourceReference]trouble{}}
	clusters, bindings := &clusterv1.ClusterList{}, &addonsv1.ClusterResourceSetBindingList{}
	for _, list := range []client.ObjectList{clusters, bindings} {
		if err := c.Client.List(ctx, list, client.InNamespace(set.Namespace)); err != nil {
			return w, fmt.Errorf("listing what the set is about: %w", err)
		}
	}
	for i := range clusters.Items {
		if k := &clusters.Items[i]; matches(set, k.Labels) && k.DeletionTimestamp.IsZero() {
			w.Clusters = append(w.Clusters, k)
			w.Troubles[k.Name] = c.progress.troublesOf(types.NamespacedName{Namespace: k.Namespace, Name: k.Name}, set.Name)
		}
	}
	slices.SortFunc(w.Clusters, func(a, b *clusterv1.Cluster) int { return strings.Compare(a.Name, b.Name) })
	for i := range bindings.Items {
		w.Bindings = append(w.Bindings, &bindings.Items[i])
	}
	for _, r := range set.Spec.Resources {
		o, err := c.resource(ctx, set.Namespace, r)
		if err != nil {
			return w, err
		}
		if o != nil {
			w.Resources = append(w.Resources, o)
		}
	}
	return w, nil
}
