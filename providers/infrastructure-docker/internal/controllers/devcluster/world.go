package devcluster

import (
	"time"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
)

// World is all that is known when a decision about one DevCluster is taken.
type World struct {
	Now        time.Time
	DevCluster *infrav1.DevCluster
	// Cluster owns the DevCluster; nil while it does not.
	Cluster *clusterv1.Cluster
	// Endpoint is what the backend provides; zero until it does.
	Endpoint clusterv1.APIEndpoint
	// Balanced says that the load balancer sends to the control plane machines that are there; for the docker backend.
	Balanced bool
	// Faults are those that happen in the simulated cluster now.
	Faults faults.Plan
	// Gone says that nothing of the backend is left.
	Gone bool
	// BackendErr says why the backend could not be asked.
	BackendErr error
}

func (w World) deleting() bool { return !w.DevCluster.DeletionTimestamp.IsZero() }

func (w World) docker() bool { return w.DevCluster.Spec.Backend.InMemory == nil }

// Decision is what to do: the DevCluster as it should be stored, and actions of the backend.
type Decision struct {
	DevCluster *infrav1.DevCluster
	Actions    []Action
	After      time.Duration
	Err        error
}

// Action is a change that the backend makes.
type Action interface{ isAction() }

// Provide makes the endpoint.
type Provide struct{}

// Balance brings the backends of the load balancer up to date.
type Balance struct{}

// Break makes the faults of a plan happen in a simulated cluster.
type Break struct{ Plan faults.Plan }

// Remove takes everything of the cluster away.
type Remove struct{}

func (Provide) isAction() {}
func (Balance) isAction() {}
func (Break) isAction()   {}
func (Remove) isAction()  {}
