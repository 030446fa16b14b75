package devmachinepool

import (
	"time"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

// World is all that is known when a decision about one DevMachinePool is taken.
type World struct {
	Now  time.Time
	Pool *infrav1.DevMachinePool
	// Owner is the MachinePool, Cluster its cluster; nil while they are not there, or once they are gone.
	Owner   *clusterv1.MachinePool
	Cluster *clusterv1.Cluster
	// Members are the DevMachines of the pool, sorted by name.
	Members []Member
	// Unseen says that the cache does not show yet what this controller wrote last: numbers cannot be trusted.
	Unseen bool
	// Names are random names for new members, as many as may be needed.
	Names []string
}

// Member is one machine of the pool.
type Member struct {
	Dev *infrav1.DevMachine
	// Machine is nil until the core has made it.
	Machine *clusterv1.Machine
}

func (w World) deleting() bool { return !w.Pool.DeletionTimestamp.IsZero() }

func (w World) inMemory() bool {
	return w.Pool.Spec.Backend != nil && w.Pool.Spec.Backend.InMemory != nil
}

// wanted is how many members there shall be. If somebody else owns the number, it is what there is.
func (w World) wanted() int {
	if by, ok := w.Owner.Annotations[clusterv1.ReplicasManagedByAnnotation]; ok && by != "false" {
		return len(w.alive())
	}
	if w.Owner.Spec.Replicas == nil {
		return 1
	}
	return int(*w.Owner.Spec.Replicas)
}

// alive are the members that do not leave yet.
func (w World) alive() []Member {
	var out []Member
	for _, m := range w.Members {
		if !m.leaving() {
			out = append(out, m)
		}
	}
	return out
}

func (m Member) leaving() bool {
	return !m.Dev.DeletionTimestamp.IsZero() || (m.Machine != nil && !m.Machine.DeletionTimestamp.IsZero())
}

// usable says that work can run on the member.
func (m Member) usable() bool {
	return m.Machine != nil && conditions.IsTrue(m.Machine, clusterv1.AvailableCondition)
}

// marked says that a user or an autoscaler wants this member to leave first.
func (m Member) marked() bool {
	if m.Machine == nil {
		return false
	}
	_, ok := m.Machine.Annotations[clusterv1.DeleteMachineAnnotation]
	return ok
}

// Decision is what to do: the DevMachinePool as it should be stored, and actions, in order.
type Decision struct {
	Pool    *infrav1.DevMachinePool
	Actions []Action
}

// Action changes one object besides the DevMachinePool.
type Action interface{ isAction() }

// Create makes a member.
type Create struct {
	Dev *infrav1.DevMachine
	Why decision.Why
}

// Remove lets a member go: by its Machine, or where the core has not made one yet, directly.
type Remove struct {
	Member Member
	Why    decision.Why
}

// Own stores the owners of a member.
type Own struct{ Before, After *infrav1.DevMachine }

func (Create) isAction() {}
func (Own) isAction()    {}
func (Remove) isAction() {}

func isTrue(b *bool) bool { return b != nil && *b }
