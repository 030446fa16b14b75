// Package classref says which class a Cluster refers to.
package classref

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Key is where the class of a Cluster is; zero for a Cluster without one. Without a namespace in the reference it is that of the Cluster.
func Key(cluster *clusterv1.Cluster) client.ObjectKey {
	ref := cluster.Spec.Topology.ClassRef
	switch {
	case ref.Name == "":
		return client.ObjectKey{}
	case ref.Namespace == "":
		return client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}
	}
	return client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
}

// Text names the class of a Cluster as users do: with its namespace only where that is another one.
func Text(cluster *clusterv1.Cluster) string {
	key := Key(cluster)
	if key.Namespace == cluster.Namespace {
		return key.Name
	}
	return key.String()
}
