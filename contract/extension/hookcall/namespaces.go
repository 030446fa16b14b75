package hookcall

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NamespaceLabels reads the labels of namespaces through a client, whose cache then holds their metadata only. Its manager needs the
// rights to get, list and watch namespaces.
func NamespaceLabels(reader client.Reader) func(ctx context.Context, namespace string) (map[string]string, error) {
	return func(ctx context.Context, namespace string) (map[string]string, error) {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, o); err != nil {
			return nil, err
		}
		return o.Labels, nil
	}
}
