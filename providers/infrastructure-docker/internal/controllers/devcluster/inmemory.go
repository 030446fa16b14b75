package devcluster

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
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
	// Nothing may wake us after a restart, so the faults come with the cluster.
	if plan, err := faults.Parse(c.Annotations[infrav1.FaultsAnnotation]); err == nil {
		b.Break(c, cluster, plan)
	}
	return clusterv1.APIEndpoint{Host: b.Cloud.Host(), Port: port}, nil
}

// Faults are those that happen in a cluster now.
func (b InMemory) Faults(c *infrav1.DevCluster, cluster string) faults.Plan {
	if x := b.Cloud.Get(types.NamespacedName{Namespace: c.Namespace, Name: cluster}); x != nil {
		return x.Faults()
	}
	return faults.Plan{}
}

// Break makes the faults of a plan happen; a cluster that is not there yet gets them with the next look.
func (b InMemory) Break(c *infrav1.DevCluster, cluster string, plan faults.Plan) {
	if x := b.Cloud.Get(types.NamespacedName{Namespace: c.Namespace, Name: cluster}); x != nil {
		x.Break(plan)
	}
}

// Remove closes the listener and forgets the cluster.
func (b InMemory) Remove(_ context.Context, c *infrav1.DevCluster, cluster string) error {
	b.Cloud.Delete(types.NamespacedName{Namespace: c.Namespace, Name: cluster})
	return nil
}
