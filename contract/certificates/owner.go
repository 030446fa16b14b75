package certificates

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
)

// WithoutData is what decides about the owner of a Secret, fit to be passed around.
func WithoutData(secret *corev1.Secret) *corev1.Secret {
	return &corev1.Secret{TypeMeta: secret.TypeMeta, ObjectMeta: *secret.ObjectMeta.DeepCopy(), Type: secret.Type}
}

// Secrets are those that a set was found in.
func Secrets(set []Entry) []*corev1.Secret {
	var found []*corev1.Secret
	for _, e := range set {
		if e.Secret != nil {
			found = append(found, e.Secret)
		}
	}
	return found
}

// LostOwner says whether a Secret of a cluster belongs to the system, as its type tells, but not to the owner any more.
// Such a Secret would outlive its cluster, and the next one of that name would take over its authority. Secrets of other
// types are their users' and stay as they are.
func LostOwner(secret *corev1.Secret, cluster string, owner metav1.OwnerReference) bool {
	if secret.Type != clusterv1.ClusterSecretType || !secret.DeletionTimestamp.IsZero() {
		return false
	}
	controller := metav1.GetControllerOf(secret)
	return controller == nil || controller.UID != owner.UID || labels.ClusterName(secret) != cluster
}

// Own makes the owner the one controller of a Secret, and labels it with its cluster, so that caches see it. The Secret
// may be without its data.
func Own(ctx context.Context, c client.Client, fieldOwner string, secret *corev1.Secret, cluster string, owner metav1.OwnerReference) error {
	owned := secret.DeepCopy()
	helper := patch.Begin(c, fieldOwner, owned)
	ownership.Take(owned, owner)
	labels.SetClusterName(owned, cluster)
	if err := helper.Finish(ctx, owned); err != nil {
		return fmt.Errorf("owning Secret %s: %w", secret.Name, err)
	}
	return nil
}
