package hookcall

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Cluster is a Cluster as extensions get it: with its kind, and without what only clients of the API server care about.
func Cluster(c *clusterv1.Cluster) clusterv1.Cluster {
	out := *c.DeepCopy()
	out.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))
	out.ManagedFields = nil
	delete(out.Annotations, corev1.LastAppliedConfigAnnotation)
	return out
}

// About names what a call is about: a Cluster in one version, and whatever else tells calls apart.
func About(c *clusterv1.Cluster, more ...string) string {
	return fmt.Sprintf("%s/%d/%q", c.UID, c.Generation, more)
}
