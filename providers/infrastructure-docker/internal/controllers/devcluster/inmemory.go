package devcluster

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
)

// InMemory is the backend of simulated clusters. After a restart it opens the listener again on the port that the
// endpoint has; if that is taken, the endpoint moves.
type InMemory struct{ Cloud *cloud.Cloud }

// Find says what exists in this process.
func (b InMemory) Find(_ context.Context, c *infrav1.DevCluster, cluster string) (clusterv1.APIEndpoint, bool, error) {
	x := b.Cloud.Get(types.NamespacedName{Namespace: c.Namespace, Name: cluster})
	if x == nil {
		return clusterv1.APIEndpoint{}, true, nil
	}
	return clusterv1.APIEndpoint{Host: b.Cloud.Host(), Port: x.Port()}, false, nil
}

// Provide opens the listener.
func (b InMemory) Provide(_ context.Context, c *infrav1.DevCluster, cluster string) (clusterv1.APIEndpoint, error) {
	name := types.NamespacedName{Namespace: c.Namespace, Name: cluster}
	port, err := b.Cloud.Ensure(name, c.UID, c.Spec.ControlPlaneEndpoint.Port)
	if err != nil && c.Spec.ControlPlaneEndpoint.Port != 0 {
		var again error
		if port, again = b.Cloud.Ensure(name, c.UID, 0); again != nil {
			return clusterv1.APIEndpoint{}, errors.Join(err, again)
		}
		err = nil
	}
	if err != nil {
		return clusterv1.APIEndpoint{}, err
	}
	return clusterv1.APIEndpoint{Host: b.Cloud.Host(), Port: port}, nil
}

// Remove closes the listener and forgets the cluster.
func (b InMemory) Remove(_ context.Context, c *infrav1.DevCluster, cluster string) error {
	b.Cloud.Delete(types.NamespacedName{Namespace: c.Namespace, Name: cluster})
	return nil
}
