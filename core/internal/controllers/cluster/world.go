package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

// World is all that is known when a decision about one Cluster is taken.
type World struct {
	Now     time.Time
	Cluster *clusterv1.Cluster

	Infrastructure, ControlPlane referred.Object
	Class                        Class
	Descendants                  Descendants
	Kubeconfig                   KubeconfigView
	Health                       clustercache.HealthState
	// ConnectionGrace is how long after the last answer the connection still counts as up.
	ConnectionGrace time.Duration
	// BeforeDeleteHook says that the deletion of a cluster with a topology needs the consent of runtime extensions.
	BeforeDeleteHook bool
}

// Class is what the controller needs of the ClusterClass of a topology.
type Class struct {
	AvailabilityGates []clusterv1.ClusterAvailabilityGate
	// Err says that the class is missing or cannot be read.
	Err error
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
	// Secret is nil while there is none.
	Secret *corev1.Secret
	// CA is looked for only when a kubeconfig is to be made.
	CA  *certificates.KeyPair
	Err error
}

func (w World) deleting() bool { return !w.Cluster.DeletionTimestamp.IsZero() }

func (w World) hasTopology() bool { return w.Cluster.Spec.Topology.ClassRef.Name != "" }

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

// StoreKubeconfig stores a kubeconfig made from the cluster's authority.
type StoreKubeconfig struct {
	Endpoint clusterv1.APIEndpoint
	CA       certificates.KeyPair
	// Old is the Secret whose kubeconfig is renewed; nil makes a new one.
	Old *corev1.Secret
}

// OwnKubeconfig makes the Cluster the owner of a kubeconfig Secret that lost it.
type OwnKubeconfig struct{ Secret *corev1.Secret }

func (Adopt) isAction()           {}
func (OwnKubeconfig) isAction()   {}
func (Delete) isAction()          {}
func (StoreKubeconfig) isAction() {}
