package machine

import (
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/core/internal/drain"
	"github.com/slipway-capi/slipway/core/internal/volumes"
)

// World is all that is known when a decision about one Machine is taken.
type World struct {
	Now     time.Time
	Machine *clusterv1.Machine
	// Cluster is nil once it is gone.
	Cluster *clusterv1.Cluster

	Bootstrap, Infrastructure Referred
	Node                      NodeView

	// Drain is what the drain of the Node is decided from, Volumes the wait for what is attached to it; nil unless it is time.
	Drain                *drain.World
	DrainErr, VolumesErr error
	Volumes              *volumes.World

	// ControlPlane tells whether the last control plane is going, which makes work on the Node pointless.
	ControlPlane ControlPlaneView
	// MachineSet and MachineDeployment own the Machine; nil for others. They decide whether it is up to date.
	MachineSet        *clusterv1.MachineSet
	MachineDeployment *clusterv1.MachineDeployment
	Health            clustercache.HealthState
	// Update is what the extension that updates the Machine in place says, if it is time to ask it.
	Update UpdateView
	// ConditionsGrace is how long conditions about the Node stay when the connection is down.
	ConditionsGrace time.Duration
	Sync            NodeSync
}

// NodeSync says what of a Machine, besides the managed domains, goes to its Node.
type NodeSync struct {
	// Labels and Annotations are rules for more keys; see --additional-sync-machine-labels and -annotations.
	Labels, Annotations []*regexp.Regexp
	// Taints says whether spec.taints are brought to the Node; feature gate MachineTaintPropagation.
	Taints bool
}

// Referred is a provider object as it was found.
type Referred struct {
	// Object is nil if there is no reference, if it is missing, or if it could not be read.
	Object *external.Object
	// Missing says that the object is known not to exist; an unreadable one is not missing.
	Missing bool
	Err     error
}

// NodeView is the Node in the workload cluster.
type NodeView struct {
	// Connected says whether the workload cluster could be asked at all.
	Connected bool
	// Node is nil if none has the Machine's provider ID, or if several have it and none is known as the Machine's.
	Node *corev1.Node
	// Duplicates are the names of all Nodes with that provider ID; more than one are too many.
	Duplicates []string
	Err        error
}

// ControlPlaneView is what deletion must know about the cluster's control plane.
type ControlPlaneView struct {
	// Deleting is set when the control plane object is being deleted.
	Deleting bool
	// ExternallyManaged control planes have no Machines.
	ExternallyManaged bool
	// OtherMachines counts control plane Machines that are not being deleted, this one left out.
	OtherMachines int
	Err           error
}

func (w World) deleting() bool { return !w.Machine.DeletionTimestamp.IsZero() }

func (w World) clusterReady() (infrastructure, controlPlane bool) {
	if w.Cluster == nil {
		return false, false
	}
	i := w.Cluster.Status.Initialization
	return isTrue(i.InfrastructureProvisioned), isTrue(i.ControlPlaneInitialized)
}

func isTrue(b *bool) bool { return b != nil && *b }

// Decision is what to do: the Machine as it should be stored, and actions on other objects, in order.
type Decision struct {
	Machine *clusterv1.Machine
	Actions []Action
	// After is when to look again; zero when a watch will tell.
	After time.Duration
	// Err is a state that only time or a person can mend; the reconcile is tried again with back-off.
	Err error
	// Events tell people what happened, as reason and message.
	Events []Event
}

// Event is a line for people.
type Event struct{ Reason, Message string }

// Action changes one object besides the Machine.
type Action interface{ isAction() }

// Adopt makes the Machine the controller of a provider object and labels it.
type Adopt struct{ Object *external.Object }

// DeleteObject deletes a provider object of the Machine.
type DeleteObject struct {
	Object  *external.Object
	Because string
}

// SyncNode writes labels, annotations and taints of the Node.
type SyncNode struct{ Before, After *corev1.Node }

// Drain ends the scheduling to a Node and evicts those of its pods whose turn it is.
type Drain struct {
	Plan  drain.Plan
	Began metav1.Time
}

// DeleteNode removes the Node of a Machine that is gone.
type DeleteNode struct {
	Name string
	UID  types.UID
}

func (Adopt) isAction()        {}
func (DeleteObject) isAction() {}
func (SyncNode) isAction()     {}
func (Drain) isAction()        {}
func (DeleteNode) isAction()   {}
