package cluster

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/external"
)

// World is all that is known when a decision about one Cluster is taken.
type World struct {
	Now     time.Time
	Cluster *clusterv1.Cluster

	Infrastructure, ControlPlane Referred
	Descendants                  Descendants
	Kubeconfig                   KubeconfigView
	Health                       clustercache.HealthState
	// ConnectionGrace is how long after the last answer the connection still counts as up.
	ConnectionGrace time.Duration
	// BeforeDeleteHook says that the deletion of a cluster with a topology needs the consent of runtime extensions.
	BeforeDeleteHook bool
}

// Referred is a provider object as it was found.
type Referred struct {
	// Object is nil if there is no reference, if it is missing, or if it could not be read.
	Object *external.Object
	// Missing says that the object is known not to exist; an unreadable one is not missing.
	Missing bool
	Err     error
}

// Descendants is everything that belongs to the Cluster besides the two objects it refers to.
type Descendants struct {
	Machines           []*clusterv1.Machine
	MachineSets        []*clusterv1.MachineSet
	MachineDeployments []*clusterv1.MachineDeployment
	MachinePools       []*clusterv1.MachinePool
	Err                error
}

// KubeconfigView is what matters for the kubeconfig of a Cluster that has no control plane object.
type KubeconfigView struct {
	Exists bool
	CA     *certificates.KeyPair
	Err    error
}

func (w World) deleting() bool { return !w.Cluster.DeletionTimestamp.IsZero() }

func isTrue(b *bool) bool { return b != nil && *b }

// Decision is what to do: the Cluster as it should be stored, and actions on other objects, in order.
type Decision struct {
	Cluster *clusterv1.Cluster
	Actions []Action
	// After is when to look again; zero when a watch will tell.
	After  time.Duration
	Err    error
	Events []Event
}

// Event is a line for people.
type Event struct{ Reason, Message string }

// Action changes one object besides the Cluster.
type Action interface{ isAction() }

// Adopt makes the Cluster an owner of a provider object and labels it.
type Adopt struct{ Object *external.Object }

// Delete deletes an object of the Cluster.
type Delete struct {
	Object  client.Object
	Kind    string
	Because string
}

// CreateKubeconfig stores a kubeconfig made from the cluster's authority.
type CreateKubeconfig struct {
	Endpoint clusterv1.APIEndpoint
	CA       certificates.KeyPair
}

func (Adopt) isAction()            {}
func (Delete) isAction()           {}
func (CreateKubeconfig) isAction() {}
