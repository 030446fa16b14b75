package machineset

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/external"
)

// World is all that is known when a decision about one MachineSet is taken.
type World struct {
	Now     time.Time
	Set     *clusterv1.MachineSet
	Cluster *clusterv1.Cluster
	// Deployment is the MachineDeployment that the set belongs to; nil for others.
	Deployment *clusterv1.MachineDeployment
	// Machines are those that the set controls.
	Machines []*clusterv1.Machine
	// Orphans match the selector and have no controller.
	Orphans []*clusterv1.Machine
	// Unseen is set while the cache does not yet show what this controller wrote last; numbers cannot be trusted then.
	Unseen bool

	// Objects are the bootstrap configs and infrastructure machines that exist, by the name of their Machine.
	Objects map[string][]*unstructured.Unstructured
	// Strays are such objects that only the set owns and for which there is no Machine.
	Strays []*unstructured.Unstructured

	// Receiver is the set to which Machines are to be handed over; nil if there is none.
	Receiver *clusterv1.MachineSet
	// Origins are the templates from which the objects of arriving Machines were made, as far as they still exist.
	Origins map[clusterv1.ContractVersionedObjectReference]*unstructured.Unstructured

	Bootstrap, Infrastructure Template
	ControlPlane              *external.Object
	// Skip are the preflight checks that annotation or flag switch off.
	Skip []string
	// Suffixes are random endings for names, at least as many as Machines may be needed.
	Suffixes []string
}

// Template is a provider template as it was found.
type Template struct {
	Object  *external.Object
	Missing bool
	Err     error
}

func (w World) deleting() bool { return !w.Set.DeletionTimestamp.IsZero() }

func (w World) uids() map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, m := range w.Machines {
		out[m.UID] = true
	}
	return out
}

func (w World) wanted() int {
	if w.Set.Spec.Replicas == nil {
		return 1
	}
	return int(*w.Set.Spec.Replicas)
}

// Decision is what to do: the MachineSet as it should be stored, and actions on other objects, in order.
type Decision struct {
	Set     *clusterv1.MachineSet
	Actions []Action
	After   time.Duration
	Err     error
	Events  []Event
	// Blocked says what stands in the way of new Machines.
	Blocked []string
}

// Event is a line for people.
type Event struct{ Reason, Message string }

// Action changes one object besides the MachineSet.
type Action interface{ isAction() }

// Create makes a Machine with its bootstrap config and infrastructure machine, all of one name.
type Create struct {
	Machine *clusterv1.Machine
	Why     decision.Why
}

// Delete deletes a Machine.
type Delete struct {
	Machine *clusterv1.Machine
	Why     decision.Why
}

// Remediate deletes a Machine that is ill, after the condition that says so has been stored.
type Remediate struct {
	Machine   *clusterv1.Machine
	Condition metav1.Condition
	Why       decision.Why
}

// Tell sets the condition OwnerRemediated of a Machine; without a condition it is taken away.
type Tell struct {
	Machine   *clusterv1.Machine
	Condition *metav1.Condition
}

// Adopt makes the set the controller of a Machine.
type Adopt struct{ Machine *clusterv1.Machine }

// Sync brings fields that change in place to a Machine; Wanted holds only what the set decides.
type Sync struct {
	Machine, Wanted *clusterv1.Machine
	// Covered says that the Machine has all of it, Surplus that it has more, perhaps from an earlier template.
	Covered, Surplus bool
}

// SyncMetadata brings labels and annotations to the bootstrap config or infrastructure machine of a Machine.
type SyncMetadata struct {
	Object              *unstructured.Unstructured
	Labels, Annotations map[string]string
}

// DeleteStray deletes a bootstrap config or infrastructure machine without Machine.
type DeleteStray struct {
	Object *unstructured.Unstructured
	Why    decision.Why
}

// OwnTemplate makes the Cluster an owner of a template.
type OwnTemplate struct{ Object *external.Object }

func (Create) isAction()       {}
func (Delete) isAction()       {}
func (Remediate) isAction()    {}
func (Tell) isAction()         {}
func (Adopt) isAction()        {}
func (Sync) isAction()         {}
func (SyncMetadata) isAction() {}
func (DeleteStray) isAction()  {}
func (OwnTemplate) isAction()  {}
