package devmachine

import (
	"time"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
)

// World is all that is known when a decision about one DevMachine is taken.
type World struct {
	Now        time.Time
	DevMachine *infrav1.DevMachine
	// Machine and Cluster own it; nil while they do not, or once they are gone.
	Machine *clusterv1.Machine
	Cluster *clusterv1.Cluster
	// MachinePool is set for a member of a pool, whose bootstrap data is the pool's.
	MachinePool *clusterv1.MachinePool

	InMemory InMemoryView
	Docker   DockerView
}

// InMemoryView is what the in-memory backend knows.
type InMemoryView struct {
	// Exists says that the simulated cluster is there; after a restart it takes a moment.
	Exists bool
	// Authorities are those of the cluster; nil until they exist.
	Authorities *cloud.Authorities
	// Boot is how the machine fails at its first boot, by the fault plan of its cluster; nil if it does not.
	Boot *faults.FailedBoot
	Err  error
}

func (w World) deleting() bool { return !w.DevMachine.DeletionTimestamp.IsZero() }

func (w World) docker() bool { return w.DevMachine.Spec.Backend.InMemory == nil }

func (w World) controlPlane() bool {
	if w.Machine == nil {
		return false
	}
	_, ok := w.Machine.Labels[clusterv1.MachineControlPlaneLabel]
	return ok
}

// dataSecret names the Secret with the bootstrap data, empty while there is none. The Machine of a pool's member names none.
func (w World) dataSecret() string {
	name := w.Machine.Spec.Bootstrap.DataSecretName
	if w.MachinePool != nil {
		name = w.MachinePool.Spec.Template.Spec.Bootstrap.DataSecretName
	}
	if name == nil {
		return ""
	}
	return *name
}

// version is the Kubernetes version that the machine is made for. A pool's member was made for one that may not be the
// pool's any more.
func (w World) version() string {
	if v := w.DevMachine.Annotations[infrav1.DevMachineVersionAnnotation]; v != "" {
		return v
	}
	if w.Machine == nil {
		return ""
	}
	return w.Machine.Spec.Version
}

// Decision is what to do: the DevMachine as it should be stored, and actions of the backend, in order.
type Decision struct {
	DevMachine *infrav1.DevMachine
	Actions    []Action
	// After is when to look again; zero when a watch will tell.
	After time.Duration
	Err   error
}

// Action is a change that a backend makes. They are idempotent.
type Action interface{ isAction() }

// EnsureNode registers the simulated Node.
type EnsureNode struct{ Node cloud.Node }

// EnsureEtcd and EnsureAPIServer start the simulated members of a control plane.
type EnsureEtcd struct{ Name, Version string }

// EnsureAPIServer starts the simulated API server and the other components of a control plane machine.
type EnsureAPIServer struct{ Name, Version string }

// RemoveSimulated takes a simulated machine away.
type RemoveSimulated struct{ Name string }

func (EnsureNode) isAction()      {}
func (EnsureEtcd) isAction()      {}
func (EnsureAPIServer) isAction() {}
func (RemoveSimulated) isAction() {}

func isTrue(b *bool) bool { return b != nil && *b }
