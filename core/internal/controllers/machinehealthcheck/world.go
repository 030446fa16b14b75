package machinehealthcheck

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// World is all that is known when a decision about one MachineHealthCheck is taken.
type World struct {
	Now   time.Time
	Check *clusterv1.MachineHealthCheck
	// Cluster is nil if it does not exist.
	Cluster *clusterv1.Cluster
	// Connected says whether the workload cluster could be asked for Nodes.
	Connected bool
	// Targets are the Machines that the check picks.
	Targets []Target
	// Others are the other checks of the cluster; some of them may pick the same Machines.
	Others []*clusterv1.MachineHealthCheck
	// Template is what remediation objects are made from, if the check names one.
	Template TemplateView
	// Err is what could not be read of the above; what could be read still counts.
	Err error
}

// Target is one Machine and what was found about it.
type Target struct {
	Machine *clusterv1.Machine
	// Node is the Machine's Node, if it could be read.
	Node *corev1.Node
	// NodeMissing says that the Machine's Node is known not to exist.
	NodeMissing bool
	// Request is the remediation object of the Machine, if there is one.
	Request *unstructured.Unstructured
}

// TemplateView is the remediation template as it was found.
type TemplateView struct {
	Object  *unstructured.Unstructured
	Missing bool
}

// Decision is what to do: the MachineHealthCheck as it should be stored, and actions on other objects.
type Decision struct {
	Check   *clusterv1.MachineHealthCheck
	Actions []Action
	// After is when the next timeout is due; zero when no time, only an event, can change anything.
	After  time.Duration
	Err    error
	Events []Event
}

// Event is a line for people.
type Event struct{ Reason, Message string }

// Action changes one Machine, or its remediation object.
type Action interface{ isAction() }

// Mark writes conditions of a Machine.
type Mark struct {
	Before, After *clusterv1.Machine
	// Request is the remediation object to create first, if any.
	Request *unstructured.Unstructured
	// Event tells that remediation was asked for; nil if it had been before.
	Event *Event
}

// Withdraw deletes the remediation object of a Machine that is well again.
type Withdraw struct{ Request *unstructured.Unstructured }

func (Mark) isAction()     {}
func (Withdraw) isAction() {}
