package topology

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/runtime/lifecycle"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
	"github.com/slipway-capi/slipway/core/internal/topology/intent"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// World is all that is known when a decision about the topology of one Cluster is taken.
type World struct {
	Now     time.Time
	Cluster *clusterv1.Cluster
	// Class is nil if it does not exist.
	Class     *clusterv1.ClusterClass
	Blueprint desired.Blueprint
	Current   desired.Current
	// ControlPlane is the state of the control plane; nil while there is none.
	ControlPlane *upgrade.ControlPlane
	// HealthChecks are those that belong to the topology.
	HealthChecks []*clusterv1.MachineHealthCheck
	// Templates are those that were made for the topology, of the kinds that the class refers to.
	Templates []*unstructured.Unstructured
	// Sets are the MachineSets of the Cluster: older ones still need their templates.
	Sets []*clusterv1.MachineSet
	// Values and Overrides are those of the variables, defaults included.
	Values    patches.Values
	Overrides map[desired.Group]patches.Values
	// ConsentBeforeDelete says that a Cluster in deletion waits for the consent of extensions.
	ConsentBeforeDelete bool
	// Lifecycle is what the extensions in the life of a cluster have said.
	Lifecycle lifecycle.Decision
	// Steps and WorkerSteps are the versions that an upgrade goes through.
	Steps, WorkerSteps []string
	// Suffix ends the names of new objects; nil computes it from the identity of the Cluster.
	Suffix func(purpose string) string
	// Versions and Topology are what all of the above comes to: which version each part gets, and the objects as they should be.
	// Without an error, Topology is nil only while extensions hold the creation.
	Versions upgrade.Decision
	Topology *desired.Topology
	// Err is what kept anything above from being read.
	Err error
}

// Decision is what to do, in this order.
type Decision struct {
	Actions []Action
	// Condition is TopologyReconciled; nil leaves it as it is.
	Condition *metav1.Condition
	// Plans are the versions that are still to be gone through; nil leaves them as they are.
	Plans *Plans
	// After is when to look again even if nothing happens; zero is never.
	After time.Duration
	Err   error
}

// Action changes one object.
type Action interface{ isAction() }

// Apply sends the intent of an object.
type Apply struct {
	Object *unstructured.Unstructured
	// New says that the object does not exist.
	New bool
	// Because lists what differs, at most a few fields of it; Differences are all.
	Because     string
	Differences []intent.Difference
}

// Refer lets the Cluster refer to its infrastructure and its control plane.
type Refer struct {
	Infrastructure, ControlPlane clusterv1.ContractVersionedObjectReference
}

// Delete takes away an object that is no longer part of the topology.
type Delete struct {
	Object  *unstructured.Unstructured
	Because string
}

// Note has the Cluster remember the hooks that must still be told, and the step of an upgrade.
type Note struct{ Pending, Step string }

// Consent marks the Cluster as ready to be deleted.
type Consent struct{}

func (Apply) isAction()   {}
func (Refer) isAction()   {}
func (Delete) isAction()  {}
func (Consent) isAction() {}
func (Note) isAction()    {}
