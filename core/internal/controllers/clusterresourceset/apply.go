package clusterresourceset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/payload"
)

// one delivers one resource. One object that cannot be applied keeps no other from being applied, but a cluster that does not
// answer is not asked again and again.
func (c *Controller) one(ctx context.Context, remote client.Client, namespace string, order Order) Result {
	r := Result{Delivery: order.Delivery}
	data, version, err := c.read(ctx, namespace, order.Resource)
	if err != nil {
		r.Trouble = unread(err)
		return r
	}
	r.Version = version
	r.Binding = addonsv1.ResourceBinding{Kind: order.Resource.Kind, Name: order.Resource.Name, Hash: data.Hash(), LastAppliedTime: metav1.Now()}
	if b := order.Before; b != nil && b.Applied && b.Hash == r.Binding.Hash {
		r.Binding = *b // only metadata changed
		return r
	}
	secret := order.Resource.Kind == addonsv1.SecretClusterResourceSetResourceKind
	objects, err := data.Objects()
	if err != nil {
		r.Trouble = malformed(err, secret)
		return r
	}
	var refused []refusal
	for _, o := range objects {
		err := send(ctx, remote, o, order.Once)
		if silent(err) {
			r.Trouble = unreached()
			return r
		}
		if err != nil {
			refused = append(refused, refusal{object: o, err: err})
		}
	}
	r.Trouble = refusals(refused, secret)
	r.Binding.Applied = r.Trouble == nil
	return r
}

// read reads a payload, which is kept nowhere.
func (c *Controller) read(ctx context.Context, namespace string, ref addonsv1.ResourceReference) (payload.Data, string, error) {
	key := client.ObjectKey{Namespace: namespace, Name: ref.Name}
	if ref.Kind == addonsv1.ConfigMapClusterResourceSetResourceKind {
		m := &corev1.ConfigMap{}
		if err := c.Live.Get(ctx, key, m); err != nil {
			return nil, "", err
		}
		data := payload.Data{}
		for k, v := range m.Data {
			data[k] = []byte(v)
		}
		for k, v := range m.BinaryData {
			data[k] = v
		}
		return data, version(m), nil
	}
	s := &corev1.Secret{}
	if err := c.Live.Get(ctx, key, s); err != nil {
		return nil, "", err
	}
	if s.Type != addonsv1.ClusterResourceSetSecretType {
		return nil, "", errWrongSecretType
	}
	return s.Data, version(s), nil
}

// version tells one state of an object from all others, also of one that was made anew.
func version(o metav1.Object) string { return string(o.GetUID()) + "/" + o.GetResourceVersion() }

// send brings one object into the workload cluster: once leaves an existing one as it is.
func send(ctx context.Context, remote client.Client, o *unstructured.Unstructured, once bool) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := tidy(remote, o); err != nil {
		return err
	}
	if !once {
		return remote.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(FieldOwner), client.ForceOwnership)
	}
	err := remote.Create(ctx, o.DeepCopy(), client.FieldOwner(FieldOwner))
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	// An object that exists may be refused for another reason first, for instance since its port is taken: by itself.
	if (apierrors.IsInvalid(err) || apierrors.IsForbidden(err)) && exists(ctx, remote, o) {
		return nil
	}
	return err
}

func exists(ctx context.Context, remote client.Client, o *unstructured.Unstructured) bool {
	have := &metav1.PartialObjectMetadata{}
	have.SetGroupVersionKind(o.GroupVersionKind())
	return remote.Get(ctx, client.ObjectKeyFromObject(o), have) == nil
}

// tidy takes away what an API server fills in, as objects that were exported from one have it, and puts objects that do not say
// where they belong into the namespace default.
func tidy(remote client.Client, o *unstructured.Unstructured) error {
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	if o.GetNamespace() != "" {
		return nil
	}
	namespaced, err := remote.IsObjectNamespaced(o)
	if err != nil {
		return fmt.Errorf("finding its kind: %w", err)
	}
	if namespaced {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	return nil
}
