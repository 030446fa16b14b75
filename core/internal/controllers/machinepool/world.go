package machinepool

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

// World is all that is known when a decision about one MachinePool is taken.
type World struct {
	Now  time.Time
	Pool *clusterv1.MachinePool
	// Cluster is nil once it is gone.
	Cluster *clusterv1.Cluster

	Bootstrap, Infrastructure referred.Object
	Members                   MembersView
	Nodes                     NodesView
	Health                    clustercache.HealthState
	// ConditionsGrace is how long what is known about Nodes outlives the connection.
	ConditionsGrace time.Duration
}

// MembersView are the members of the pool, if the infrastructure shows them as objects.
type MembersView struct {
	// Kind is that of the infrastructure machines; empty if members have no objects.
	Kind schema.GroupKind
	// Infrastructure are the infrastructure machines, sorted by name.
	Infrastructure []*unstructured.Unstructured
	// Machines are those of the pool, sorted by name.
	Machines []*clusterv1.Machine
	// Foreign are Machines that have the name of a member and belong to somebody else.
	Foreign []*clusterv1.Machine
	// Unseen are Machines that this controller has just created and the cache does not show yet.
	Unseen map[string]bool
	Err    error
}

// NodesView are the Nodes in the workload cluster.
type NodesView struct {
	// Connected says whether the workload cluster could be asked at all.
	Connected bool
	// ByProviderID are the Nodes of the members; more than one for one ID is a mistake that is told.
	ByProviderID map[string][]*corev1.Node
	// Known are the Nodes that status.nodeRefs names, by name, as far as they exist.
	Known map[string]*corev1.Node
	Err   error
}

func (w World) deleting() bool { return !w.Pool.DeletionTimestamp.IsZero() }

// machines says whether members are shown as Machines; those that exist tell it while the infrastructure cannot be read.
func (w World) machines() bool { return w.Members.Kind.Kind != "" || len(w.Members.Machines) > 0 }

// replicasManaged says that an external autoscaler owns the number of replicas.
func replicasManaged(p *clusterv1.MachinePool) bool {
	by, ok := p.Annotations[clusterv1.ReplicasManagedByAnnotation]
	return ok && by != "false"
}

func wanted(p *clusterv1.MachinePool) int32 {
	if p.Spec.Replicas == nil {
		return 1
	}
	return *p.Spec.Replicas
}

func isTrue(b *bool) bool { return b != nil && *b }

func ownerReference(p *clusterv1.MachinePool) metav1.OwnerReference {
	return ownership.ControllerReference(p, clusterv1.GroupVersion.WithKind(poolKind))
}

const poolKind = "MachinePool"

// Decision is what to do: the MachinePool as it should be stored, and actions on other objects, in order.
type Decision struct {
	Pool    *clusterv1.MachinePool
	Actions []Action
	// After is when to look again; zero when a watch will tell.
	After time.Duration
	// Err is a state that only time or a person can mend; the reconcile is tried again with back-off.
	Err error
	// Events tell people what happened.
	Events []Event

	// listed says that the list of members was read just now and is complete.
	listed bool
	// ambiguous says which provider IDs several Nodes have.
	ambiguous []string
}

// Event is a line for people.
type Event struct{ Type, Reason, Message string }

// Action changes one object besides the MachinePool.
type Action interface{ isAction() }

// Adopt makes the pool the controller of a provider object and labels it.
type Adopt struct{ Object *external.Object }

// DeleteObject deletes a provider object of the pool.
type DeleteObject struct {
	Object *external.Object
	Why    decision.Why
}

// ApplyMachine creates the Machine of a member, or changes it in place. Wanted holds only what the pool decides.
type ApplyMachine struct {
	// Have is nil for a new Machine.
	Have, Wanted *clusterv1.Machine
	// Covered says that the Machine has all of it, Surplus that it has more, perhaps from an earlier template.
	Covered, Surplus bool
	Why              decision.Why
}

// DeleteMachine deletes a Machine of the pool.
type DeleteMachine struct {
	Machine *clusterv1.Machine
	Why     decision.Why
}

// JudgeMachine tells in conditions of a Machine what the pool thinks of it: whether it is as it is wanted, and whether it
// is being replaced because it is unhealthy.
type JudgeMachine struct {
	Machine    *clusterv1.Machine
	Conditions []metav1.Condition
}

// SyncNode writes the bookkeeping annotations and the taints of a Node.
type SyncNode struct{ Before, After *corev1.Node }

// DeleteNode removes the Node of a member that is gone.
type DeleteNode struct {
	Name string
	UID  types.UID
	Why  decision.Why
}

func (Adopt) isAction()         {}
func (DeleteObject) isAction()  {}
func (ApplyMachine) isAction()  {}
func (DeleteMachine) isAction() {}
func (JudgeMachine) isAction()  {}
func (SyncNode) isAction()      {}
func (DeleteNode) isAction()    {}
