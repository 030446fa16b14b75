package kubeadmcontrolplane

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/inplace"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// World is all that matters for one control plane at one moment.
type World struct {
	Now          time.Time
	ControlPlane *controlplanev1.KubeadmControlPlane
	Cluster      *clusterv1.Cluster

	// Machines are those this control plane controls, oldest first.
	Machines []*Machine
	// Orphans are control plane machines of the cluster that nobody controls.
	Orphans []*Machine
	// Foreign names control plane machines of the cluster that somebody else controls.
	Foreign []string
	// Others names what must be gone before a control plane may be deleted: worker machines and pools.
	Others []string

	Certificates Certificates
	Kubeconfig   Kubeconfig
	// Secrets are those of the certificates and the kubeconfig, without data, whoever owns them.
	Secrets  []*corev1.Secret
	Template Template
	Workload Workload
	Etcd     Etcd
	Joining  Joining
	Addons   Addons
	InPlace  Updates

	// NextName is the name that a machine created now would have; NameProblem says why there is none.
	NextName    string
	NameProblem string
}

// Machine is one machine of the control plane with what belongs to it. Nil means not known, never "absent for sure".
type Machine struct {
	*clusterv1.Machine
	Config *bootstrapv1.KubeadmConfig
	Infra  *metav1.PartialObjectMetadata
	// Node is the machine's Node in the workload cluster.
	Node *corev1.Node
	// Pods are the static pods on the node by component.
	Pods map[string]*corev1.Pod
	// CertificatesEnd is what the API server on the machine told just now; zero if it was not asked.
	CertificatesEnd time.Time

	// causes are why the machine is out of date, once judged is set.
	causes []cause
	judged bool
}

func (m *Machine) deleting() bool { return !m.DeletionTimestamp.IsZero() }

func (m *Machine) nodeName() string { return m.Status.NodeRef.Name }

// Certificates says which of the cluster's certificates exist.
type Certificates struct {
	Missing []certificates.Purpose
	// Problem is why they could not be read.
	Problem string
	// CanSign is set when the cluster authority and its key are there.
	CanSign bool
}

// Kubeconfig is the state of the kubeconfig Secret.
type Kubeconfig struct {
	Exists bool
	// Ours is set for a Secret of the type that this project makes; others belong to the user and are left alone.
	Ours bool
	// Expires is when its client certificate ends; Server is where it leads to.
	Expires time.Time
	Server  string
	Problem string
}

// Template is the state of the infrastructure machine template.
type Template struct {
	Found bool
	// OwnedByCluster is set when its owner reference is in place.
	OwnedByCluster bool
	// Problem is why it could not be read; Missing that it does not exist.
	Problem string
	Missing bool
}

// Workload is what the workload cluster says.
type Workload struct {
	Connected bool
	// LastSuccess is when the cluster answered last; zero if it never answered this manager.
	LastSuccess time.Time
	// Watched is since when this manager has been looking. Before that nobody can say whether the cluster answered.
	Watched time.Time
	// Grace is how long conditions are kept without a connection: a short outage says nothing.
	Grace time.Duration
	// ConfigReadable is set when kubeadm's configuration can be read: kubeadm init has come that far.
	ConfigReadable bool
	// NodesKnown is set when the list of control plane Nodes could be read.
	NodesKnown bool
	// ForeignNodes are control plane Nodes without a machine.
	ForeignNodes []string
	Problem      string
}

// Etcd is what the etcd members say.
type Etcd struct {
	Managed bool
	// State is nil while it is not known.
	State   *etcd.State
	Problem string
	// NextLook is how long the present knowledge is good for; zero while nothing is to be asked.
	NextLook time.Duration
}

// Joining is what kubeadm finds in the workload cluster when a machine joins. It is read only while machines are out of
// date: before they are replaced it must fit the new version.
type Joining struct {
	Known bool
	// Config is the ConfigMap kubeadm-config.
	Config *corev1.ConfigMap
	// Granted is set when the API server may speak to kubelets by the role that kubeadm gives it.
	Granted bool
	Problem string
}

// Addons are kube-proxy and CoreDNS, nil where absent. They are read only once all machines are up to date, and then
// not every time.
type Addons struct {
	Known    bool
	Proxy    *appsv1.DaemonSet
	DNS      *appsv1.Deployment
	Corefile *corev1.ConfigMap
	// Config is the ConfigMap kubeadm-config, where the image of CoreDNS is written down.
	Config  *corev1.ConfigMap
	Problem string
}

// Updates are what is known about updating machines in place by extensions.
type Updates struct {
	// On says that extensions are asked at all.
	On bool
	// Answers are by name of the machine; a machine that nothing depends on is not asked about.
	Answers map[string]Update
}

// Update is how a machine can be brought to what is wanted now while it runs.
type Update struct {
	inplace.Answer
	// Infra is its infrastructure machine as it is and as it is to be.
	Infra Change
}

// Change is an object as it is and as it is to be.
type Change struct{ Before, After *unstructured.Unstructured }

func (w World) deleting() bool { return !w.ControlPlane.DeletionTimestamp.IsZero() }

// initialized control planes have run an API server. While the only machine is given up, kubeadm init may still finish
// on it; that counts for nothing, since the cluster starts anew on another machine.
func (w World) initialized() bool {
	flag := w.ControlPlane.Status.Initialization.ControlPlaneInitialized
	givenUp := len(w.Machines) == 1 && (w.Machines[0].deleting() || marked(w.Machines[0]))
	return (flag != nil && *flag) || (w.Workload.ConfigReadable && !givenUp)
}

// graceLeft is how long what is known of a cluster without connection still counts.
func (w World) graceLeft() time.Duration {
	since := w.Workload.LastSuccess
	for _, at := range []time.Time{w.Workload.Watched, w.initializedSince()} {
		if at.After(since) {
			since = at
		}
	}
	return w.Workload.Grace - w.Now.Sub(since)
}

func (w World) initializedSince() time.Time {
	c := conditions.Get(statusHolder{&w.ControlPlane.Status}, controlplanev1.KubeadmControlPlaneInitializedCondition)
	if c == nil || c.Status != metav1.ConditionTrue {
		return time.Time{}
	}
	return c.LastTransitionTime.Time
}

func (w World) infrastructureReady() bool {
	flag := w.Cluster.Status.Initialization.InfrastructureProvisioned
	return flag != nil && *flag
}

func (w World) endpointSet() bool {
	return w.Cluster.Spec.ControlPlaneEndpoint.Host != "" && w.Cluster.Spec.ControlPlaneEndpoint.Port != 0
}

func (w World) replicas() int {
	if w.ControlPlane.Spec.Replicas == nil {
		return 1
	}
	return int(*w.ControlPlane.Spec.Replicas)
}

func (w World) provisioning() int {
	count := 0
	for _, m := range w.Machines {
		if m.nodeName() == "" && !m.deleting() {
			count++
		}
	}
	return count
}

func (w World) deletingMachines() []*Machine {
	var list []*Machine
	for _, m := range w.Machines {
		if m.deleting() {
			list = append(list, m)
		}
	}
	return list
}

// outdatedMachines are those that must be replaced, oldest first; machines on their way out do not count.
func (w World) outdatedMachines() []*Machine {
	var list []*Machine
	for _, m := range w.Machines {
		if !m.deleting() && len(outdated(w, m)) > 0 {
			list = append(list, m)
		}
	}
	return list
}

func (w World) machineNamed(name string) *Machine {
	for _, m := range w.Machines {
		if m.Name == name {
			return m
		}
	}
	return nil
}

func (w World) machineOnNode(node string) *Machine {
	for _, m := range w.Machines {
		if node != "" && m.nodeName() == node {
			return m
		}
	}
	return nil
}

func (w World) managedEtcd() bool { return machines.ManagedEtcd(w.ControlPlane) }

// oldestFirst is the one order of machines in every list and message.
func oldestFirst(a, b *Machine) int {
	if byAge := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); byAge != 0 {
		return byAge
	}
	return strings.Compare(a.Name, b.Name)
}

func sortMachines(list []*Machine) { slices.SortFunc(list, oldestFirst) }

func names(list []*Machine) string {
	found := make([]string, 0, len(list))
	for _, m := range list {
		found = append(found, m.Name)
	}
	return listOf(found)
}

// listOf joins names in order and cuts long lists.
func listOf(found []string) string {
	const most = 10
	found = slices.Sorted(slices.Values(found))
	if len(found) > most {
		return strings.Join(found[:most], ", ") + " and " + itoa(len(found)-most) + " more"
	}
	return strings.Join(found, ", ")
}
