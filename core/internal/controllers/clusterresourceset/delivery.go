package clusterresourceset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/core/internal/outcome"
	"github.com/slipway-capi/slipway/core/internal/payload"
)

// patience is how long the deliveries to one Cluster may take at a time.
const patience = 30 * time.Second

// ErrWrongSecretType says that a Secret is not meant to be delivered.
var ErrWrongSecretType = errors.New("the Secret must be of type " + addonsv1.ClusterResourceSetSecretType)

// deliver reconciles one Cluster.
func (c *Controller) deliver(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1.Cluster{}
	if err := c.Client.Get(ctx, req.NamespacedName, cluster); err != nil {
		c.progress.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	w, err := c.observe(ctx, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	d := Decide(w)
	results, err := c.carryOut(ctx, cluster, d)
	var out outcome.Outcome
	out.Note(err)
	out.Note(c.bind(ctx, w, d.Forget, results))
	if c.progress.note(req.NamespacedName, d, results) {
		c.wake(w.Sets)
	}
	return out.Result(0)
}

// observe reads all but the payloads. It writes nothing.
func (c *Controller) observe(ctx context.Context, cluster *clusterv1.Cluster) (World, error) {
	key := client.ObjectKeyFromObject(cluster)
	w := World{Now: time.Now(), Cluster: cluster, Versions: map[addonsv1.ResourceReference]string{}, Seen: c.progress.seen(key)}
	sets := &addonsv1.ClusterResourceSetList{}
	if err := c.Client.List(ctx, sets, client.InNamespace(cluster.Namespace)); err != nil {
		return w, fmt.Errorf("listing ClusterResourceSets: %w", err)
	}
	for i := range sets.Items {
		w.Sets = append(w.Sets, &sets.Items[i])
	}
	slices.SortFunc(w.Sets, func(a, b *addonsv1.ClusterResourceSet) int { return cmpNames(a.Name, b.Name) })
	binding := &addonsv1.ClusterResourceSetBinding{}
	switch err := c.Client.Get(ctx, key, binding); {
	case err == nil:
		w.Binding = binding
	case !apierrors.IsNotFound(err):
		return w, fmt.Errorf("reading the binding: %w", err)
	}
	for _, set := range w.Sets {
		for _, r := range set.Spec.Resources {
			version, err := c.version(ctx, cluster.Namespace, r)
			if err != nil {
				return w, err
			}
			if version != "" {
				w.Versions[r] = version
			}
		}
	}
	return w, nil
}

// version of a resource; empty if it does not exist.
func (c *Controller) version(ctx context.Context, namespace string, r addonsv1.ResourceReference) (string, error) {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(r.Kind))
	err := c.metadata.Get(ctx, client.ObjectKey{Namespace: namespace, Name: r.Name}, o)
	if err != nil {
		return "", client.IgnoreNotFound(err)
	}
	return o.ResourceVersion, nil
}

// carryOut delivers. One object that cannot be applied keeps no other from being applied.
func (c *Controller) carryOut(ctx context.Context, cluster *clusterv1.Cluster, d Decision) ([]Result, error) {
	if len(d.Deliver) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	remote, err := c.ClusterCache.UncachedClient(ctx, client.ObjectKeyFromObject(cluster))
	if errors.Is(err, clustercache.ErrNotConnected) {
		return unreached(d.Deliver), nil // the connection will wake us
	}
	if err != nil {
		return nil, err
	}
	var results []Result
	var errs []error
	for _, order := range d.Deliver {
		r := c.one(ctx, remote, cluster.Namespace, order)
		results = append(results, r)
		if retryable(r.Err) {
			errs = append(errs, fmt.Errorf("%s %s of set %s: %w", r.Resource.Kind, r.Resource.Name, r.Set, r.Err))
		}
	}
	return results, errors.Join(errs...)
}

var errUnreached = errors.New("the cluster cannot be reached")

func unreached(orders []Order) (out []Result) {
	for _, o := range orders {
		out = append(out, Result{Delivery: o.Delivery, Err: errUnreached})
	}
	return out
}

// errPayload is a mistake in a payload, which only a change of it can mend.
var errPayload = errors.New("cannot be read")

func retryable(err error) bool {
	return err != nil && !errors.Is(err, ErrWrongSecretType) && !errors.Is(err, errPayload)
}

// one delivers one resource.
func (c *Controller) one(ctx context.Context, remote client.Client, namespace string, order Order) Result {
	r := Result{Delivery: order.Delivery}
	data, version, err := c.read(ctx, namespace, order.Resource)
	if err != nil {
		r.Err = err
		return r
	}
	r.Version = version
	r.Binding = addonsv1.ResourceBinding{Kind: order.Resource.Kind, Name: order.Resource.Name, Hash: data.Hash(), LastAppliedTime: metav1.Now()}
	if b := order.Before; b != nil && b.Applied && b.Hash == r.Binding.Hash {
		r.Binding = *b // only metadata changed
		return r
	}
	objects, err := data.Objects()
	if err != nil {
		r.Err = fmt.Errorf("%w: %w", errPayload, err)
		return r
	}
	var errs []error
	for _, o := range objects {
		if err := send(ctx, remote, o, order.Once); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err))
		}
	}
	r.Err = errors.Join(errs...)
	r.Binding.Applied = r.Err == nil
	return r
}

// read reads a payload, which is kept nowhere.
func (c *Controller) read(ctx context.Context, namespace string, ref addonsv1.ResourceReference) (payload.Data, string, error) {
	key := client.ObjectKey{Namespace: namespace, Name: ref.Name}
	if ref.Kind == addonsv1.ConfigMapClusterResourceSetResourceKind {
		m := &corev1.ConfigMap{}
		if err := c.Live.Get(ctx, key, m); err != nil {
			return nil, "", fmt.Errorf("reading it: %w", err)
		}
		data := payload.Data{}
		for k, v := range m.Data {
			data[k] = []byte(v)
		}
		for k, v := range m.BinaryData {
			data[k] = v
		}
		return data, m.ResourceVersion, nil
	}
	s := &corev1.Secret{}
	if err := c.Live.Get(ctx, key, s); err != nil {
		return nil, "", fmt.Errorf("reading it: %w", err)
	}
	if s.Type != addonsv1.ClusterResourceSetSecretType {
		return nil, "", ErrWrongSecretType
	}
	return s.Data, s.ResourceVersion, nil
}

// send brings one object into the workload cluster: once leaves an existing one as it is.
func send(ctx context.Context, remote client.Client, o *unstructured.Unstructured, once bool) error {
	if once {
		err := remote.Create(ctx, o, client.FieldOwner(FieldOwner))
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	o.SetManagedFields(nil)
	o.SetResourceVersion("")
	return remote.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(FieldOwner), client.ForceOwnership)
}

// bind writes the binding, if it says anything new.
func (c *Controller) bind(ctx context.Context, w World, forget []string, results []Result) error {
	told := slices.ContainsFunc(results, func(r Result) bool { return r.Binding.Name != "" })
	if w.Binding == nil && !told {
		return nil
	}
	binding := &addonsv1.ClusterResourceSetBinding{}
	if w.Binding != nil {
		binding = w.Binding.DeepCopy()
	}
	binding.Namespace, binding.Name = w.Cluster.Namespace, w.Cluster.Name
	binding.Spec.ClusterName = w.Cluster.Name
	ownership.Ensure(binding, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
	record(binding, forget, results)
	for _, set := range w.Sets {
		ref := ownership.Reference(set, addonsv1.GroupVersion.WithKind("ClusterResourceSet"))
		if slices.ContainsFunc(binding.Spec.Bindings, func(b addonsv1.ResourceSetBinding) bool { return b.ClusterResourceSetName == set.Name }) {
			ownership.Ensure(binding, ref)
		} else {
			ownership.Remove(binding, ref)
		}
	}
	return c.store(ctx, w.Binding, binding)
}

func (c *Controller) store(ctx context.Context, before, after *addonsv1.ClusterResourceSetBinding) error {
	switch {
	case before == nil:
		err := c.Client.Create(ctx, after, client.FieldOwner(FieldOwner))
		if apierrors.IsAlreadyExists(err) {
			// The cache has not seen it yet: what was delivered is compared with it the next time.
			return apierrors.NewConflict(addonsv1.GroupVersion.WithResource("clusterresourcesetbindings").GroupResource(), after.Name, err)
		}
		return err
	case len(after.Spec.Bindings) == 0:
		return client.IgnoreNotFound(c.Client.Delete(ctx, after))
	case equalBindings(before, after):
		return nil
	}
	return c.Client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldOwner))
}
