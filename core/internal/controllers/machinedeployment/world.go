package machinedeployment

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/inplace"
)

// World is all that is known when a decision about one MachineDeployment is taken.
type World struct {
	Now        time.Time
	Deployment *clusterv1.MachineDeployment
	Cluster    *clusterv1.Cluster
	// Sets are those that the deployment controls; Orphans match the selector and have no controller.
	Sets, Orphans []*clusterv1.MachineSet
	// Machines of all sets, for the conditions.
	Machines []*clusterv1.Machine
	// Unseen is set while the cache does not yet show what this controller wrote last.
	Unseen bool
	// MissingTemplates names templates that a new MachineSet would need and that do not exist.
	MissingTemplates []string
	// InPlace is what extensions say about bringing the Machines of sets to the wanted template while they run, by UID of the
	// set. Of sets that are not there nobody was asked.
	InPlace map[types.UID]inplace.Answer
	// Suffix is the random ending of a new MachineSet's name.
	Suffix string
}

func (w World) deleting() bool { return !w.Deployment.DeletionTimestamp.IsZero() }

func (w World) uids() map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, s := range append(append([]*clusterv1.MachineSet(nil), w.Sets...), w.Orphans...) {
		out[s.UID] = true
	}
	return out
}

func (w World) wanted() int32 {
	if w.Deployment.Spec.Replicas == nil {
		return 1
	}
	return *w.Deployment.Spec.Replicas
}

// Decision is what to do: the MachineDeployment as it should be stored, and actions on MachineSets, in order.
type Decision struct {
	Deployment *clusterv1.MachineDeployment
	Actions    []Action
	After      time.Duration
	Events     []Event
	// Missing names the templates without which no MachineSet can be made.
	Missing []string
	// Kept says in a line each which Machines stay although they are not as wanted, and why.
	Kept []string
	// Err is a state that only time or a person can mend; the reconcile is tried again with back-off.
	Err error
}

// Event is a line for people.
type Event struct{ Reason, Message string }

// Action changes one MachineSet.
type Action interface{ isAction() }

// Create makes a MachineSet.
type Create struct {
	Set *clusterv1.MachineSet
	Why decision.Why
}

// Update brings a MachineSet to what is wanted: replicas and the fields that change in place.
type Update struct {
	Set, Wanted *clusterv1.MachineSet
	// Covered says that the set has all of it, Surplus that it has more, perhaps from an earlier template.
	Covered, Surplus bool
	// Adopts says that nobody controls the set so far.
	Adopts bool
	Why    decision.Why
}

// Delete deletes a MachineSet.
type Delete struct {
	Set *clusterv1.MachineSet
	Why decision.Why
}

func (Create) isAction() {}
func (Update) isAction() {}
func (Delete) isAction() {}
