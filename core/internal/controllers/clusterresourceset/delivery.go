package clusterresourceset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/core/internal/outcome"
)

const (
	// patience is how long the deliveries to one Cluster may take at a time.
	patience = 30 * time.Second
	// answerTime is how long one request may take. A Cluster that does not answer must not hold a worker for long, nor come
	// back soon: silence is when it is asked again, unless its connection ends and comes back before.
	answerTime = 5 * time.Second
	silence    = 30 * time.Second
)

// deliver reconciles one Cluster.
func (c *Controller) deliver(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	w, err := c.observe(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	if w.Binding != nil {
		if wait := c.writes.Stale(w.Binding, time.Now()); wait > 0 {
			return reconcile.Result{RequeueAfter: wait}, nil
		}
	}
	d := Decide(w)
	var out outcome.Outcome
	if d.Unbind || w.Gone {
		c.progress.forget(req.NamespacedName)
		out.Note(c.unbind(ctx, w.Binding))
		return out.Result(0)
	}
	results, err := c.carryOut(ctx, w.Cluster, d)
	var after time.Duration
	if slices.ContainsFunc(results, func(r Result) bool { return r.Trouble != nil && r.Trouble.silence }) {
		after = silence
	}
	out.Note(err)
	out.Note(c.store(ctx, w.Binding, recorded(w, d, results)))
	if c.progress.note(req.NamespacedName, d, results) {
		c.wake(ctx, w.Sets)
	}
	return out.Result(after)
}

// observe reads all but the payloads. It writes nothing.
func (c *Controller) observe(ctx context.Context, key client.ObjectKey) (World, error) {
	w := World{Cluster: &clusterv1.Cluster{}, WatchFilter: c.WatchFilter, Versions: map[addonsv1.ResourceReference]string{}, Seen: c.progress.seen(key)}
	if err := c.Client.Get(ctx, key, w.Cluster); apierrors.IsNotFound(err) {
		w.Gone = true
		w.Cluster.Namespace, w.Cluster.Name = key.Namespace, key.Name
	} else if err != nil {
		return w, fmt.Errorf("reading the Cluster: %w", err)
	}
	sets := &addonsv1.ClusterResourceSetList{}
	if err := c.Client.List(ctx, sets, client.InNamespace(key.Namespace)); err != nil {
		return w, fmt.Errorf("listing ClusterResourceSets: %w", err)
	}
	for i := range sets.Items {
		w.Sets = append(w.Sets, &sets.Items[i])
	}
	slices.SortFunc(w.Sets, func(a, b *addonsv1.ClusterResourceSet) int { return strings.Compare(a.Name, b.Name) })
	binding := &addonsv1.ClusterResourceSetBinding{}
	switch err := c.Client.Get(ctx, key, binding); {
	case err == nil:
		w.Binding = binding
	case !apierrors.IsNotFound(err):
		return w, fmt.Errorf("reading the binding: %w", err)
	}
	return w, c.versions(ctx, &w)
}

// versions finds the resources of the sets that pick the Cluster.
func (c *Controller) versions(ctx context.Context, w *World) error {
	for _, set := range w.Sets {
		if w.Gone || !matches(set, w.Cluster.Labels) {
			continue
		}
		for _, r := range set.Spec.Resources {
			o, err := c.resource(ctx, set.Namespace, r)
			if err != nil {
				return err
			}
			if o != nil {
				w.Versions[r] = version(o)
			}
		}
	}
	return nil
}

// resource is the metadata of a ConfigMap or Secret; nil if it does not exist.
func (c *Controller) resource(ctx context.Context, namespace string, r addonsv1.ResourceReference) (*metav1.PartialObjectMetadata, error) {
	o := metadataOf(r.Kind)
	err := c.metadata.Get(ctx, client.ObjectKey{Namespace: namespace, Name: r.Name}, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for %s %s: %w", r.Kind, r.Name, err)
	}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(r.Kind))
	return o, nil
}

// carryOut delivers. The error is what time may help against.
func (c *Controller) carryOut(ctx context.Context, cluster *clusterv1.Cluster, d Decision) ([]Result, error) {
	if len(d.Deliver) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	remote, err := c.ClusterCache.UncachedClient(ctx, client.ObjectKeyFromObject(cluster))
	if errors.Is(err, clustercache.ErrNotConnected) {
		return all(d.Deliver, disconnected()), nil // the connection will wake us
	}
	if err != nil {
		return nil, err
	}
	var results []Result
	var errs []error
	for i, order := range d.Deliver {
		r := c.one(ctx, remote, cluster.Namespace, order)
		results = append(results, r)
		if r.Trouble != nil && r.Trouble.retry {
			errs = append(errs, fmt.Errorf("%s %s of ClusterResourceSet %s: %s", r.Resource.Kind, r.Resource.Name, r.Set, r.Trouble.message))
		}
		if r.Trouble != nil && r.Trouble.silence {
			results = append(results, all(d.Deliver[i+1:], unreached())...)
			break
		}
	}
	return results, errors.Join(errs...)
}

func all(orders []Order, t *trouble) (out []Result) {
	for _, o := range orders {
		out = append(out, Result{Delivery: o.Delivery, Trouble: t})
	}
	return out
}
