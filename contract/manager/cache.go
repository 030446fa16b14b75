package manager

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// CacheScope says how much of the cluster a manager keeps in memory.
type CacheScope struct {
	// Namespace limits the manager to one namespace; empty means all.
	Namespace string
	// SyncPeriod is how often every object is looked at again; zero means the default of controller-runtime.
	SyncPeriod time.Duration
	// KeepSecretData says for a Secret's name whether its data stays in memory; nil keeps all.
	KeepSecretData func(name string) bool
	// KeepFieldsOf names a field owner whose entries of managedFields stay in memory: who compares an object with what it has
	// applied earlier needs to know what that was. Empty keeps none.
	KeepFieldsOf string
}

// CacheOptions are the cache settings of all managers: of Secrets only those that belong to a cluster, and no managedFields, which nobody reads.
func CacheOptions(scope CacheScope) cache.Options {
	options := cache.Options{
		DefaultTransform: trimManagedFields(scope.KeepFieldsOf),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Label: ofAnyCluster(), Transform: trimSecret(scope.KeepSecretData)},
		},
	}
	if scope.Namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{scope.Namespace: {}}
	}
	if scope.SyncPeriod > 0 {
		options.SyncPeriod = &scope.SyncPeriod
	}
	return options
}

// ClientOptions make the default client read ConfigMaps and Secrets live, because users' own ones carry no label and are not in the cache.
// Secrets that belong to a cluster can be read from the manager's cache (GetCache). Provider objects, known only by their fields, are cached.
func ClientOptions() client.Options {
	return client.Options{Cache: &client.CacheOptions{
		DisableFor:   []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}},
		Unstructured: true,
	}}
}

func ofAnyCluster() labels.Selector {
	requirement, err := labels.NewRequirement(clusterv1.ClusterNameLabel, selection.Exists, nil)
	if err != nil {
		panic("the label " + clusterv1.ClusterNameLabel + " is no valid label: " + err.Error())
	}
	return labels.NewSelector().Add(*requirement)
}

// trimManagedFields drops what others have applied.
func trimManagedFields(owner string) func(any) (any, error) {
	if owner == "" {
		return cache.TransformStripManagedFields()
	}
	return func(in any) (any, error) {
		obj, err := meta.Accessor(in)
		if err != nil {
			return in, nil
		}
		others := func(e metav1.ManagedFieldsEntry) bool { return e.Manager != owner }
		if fields := obj.GetManagedFields(); len(fields) > 0 {
			obj.SetManagedFields(slices.DeleteFunc(fields, others))
		}
		return in, nil
	}
}

func trimSecret(keep func(name string) bool) func(any) (any, error) {
	return func(in any) (any, error) {
		secret, ok := in.(*corev1.Secret)
		if !ok {
			return in, nil
		}
		secret.SetManagedFields([]metav1.ManagedFieldsEntry{})
		if keep != nil && !keep(secret.Name) {
			secret.Data = nil
		}
		return secret, nil
	}
}
