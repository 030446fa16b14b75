package machine

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/core/internal/drain"
	"github.com/slipway-capi/slipway/core/internal/volumes"
)

var (
	now  = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	yes  = true
	no   = false
	none = Referred{Missing: true}
)

const providerIDOfM = "fake:///m"

// change makes one thing different from the usual world.
type change func(*World)

// world is a running machine with all that belongs to it, in a cluster that is up; changes make the case.
func world(changes ...change) World {
	w := World{
		Now: now, ConditionsGrace: 5 * time.Minute,
		Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c"}, Status: clusterv1.ClusterStatus{
			Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &yes, ControlPlaneInitialized: &yes},
		}},
		Machine:        runningMachine(),
		Bootstrap:      found("FakeBootstrap", nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": true}, "dataSecretName": "data"}),
		Infrastructure: found("FakeMachine", map[string]any{"providerID": providerIDOfM}, map[string]any{"initialization": map[string]any{"provisioned": true}}),
		Node:           NodeView{Connected: true, Node: healthyNode(), Duplicates: []string{"n"}},
		ControlPlane:   ControlPlaneView{OtherMachines: 1},
		Health:         clustercache.HealthState{LastProbeSuccess: now.Add(-10 * time.Second)},
	}
	for _, c := range changes {
		c(&w)
	}
	return w
}

func runningMachine() *clusterv1.Machine {
	m := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", UID: "m", Generation: 3, Finalizers: []string{clusterv1.MachineFinalizer},
			Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}},
		Spec: clusterv1.MachineSpec{
			ClusterName: "c", ProviderID: providerIDOfM,
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FakeMachine", Name: "m"},
			Bootstrap:         clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{APIGroup: "bootstrap.cluster.x-k8s.io", Kind: "FakeBootstrap", Name: "m"}},
		},
	}
	name := "data"
	m.Spec.Bootstrap.DataSecretName = &name
	m.Status.NodeRef.Name = "n"
	m.Status.Initialization = clusterv1.MachineInitializationStatus{InfrastructureProvisioned: &yes, BootstrapDataSecretCreated: &yes}
	return m
}

// found is a provider object that the machine owns already.
func found(kind string, spec, status map[string]any) Referred {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": status}}
	o.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1")
	o.SetKind(kind)
	o.SetNamespace("ns")
	o.SetName("m")
	o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c"})
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "m", UID: "m", Controller: &yes}})
	return Referred{Object: &external.Object{Unstructured: o, Contract: "v1beta2"}}
}

func healthyNode() *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n"}, Spec: corev1.NodeSpec{ProviderID: providerIDOfM}}
	for _, t := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: t, Status: corev1.ConditionFalse})
	}
	n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})
	return n
}

func machineWith(f func(*clusterv1.Machine)) change { return func(w *World) { f(w.Machine) } }

// deletingFor means that the deletion was asked for that long ago, and that nothing is left on the Node since then.
func deletingFor(d time.Duration) change {
	return func(w *World) {
		at := metav1.NewTime(now.Add(-d))
		w.Machine.DeletionTimestamp = &at
		w.Machine.Status.Deletion = &clusterv1.MachineDeletionStatus{NodeDrainStartTime: at}
		w.Drain = &drain.World{Now: now, Machine: w.Machine, Node: w.Node.Node}
		w.Volumes = &volumes.World{Now: now, Node: w.Node.Node}
	}
}

func infrastructureIs(r Referred) change { return func(w *World) { w.Infrastructure = r } }
func bootstrapIs(r Referred) change      { return func(w *World) { w.Bootstrap = r } }
func nodeIs(v NodeView) change           { return func(w *World) { w.Node = v } }

func annotated(key string) change {
	return machineWith(func(m *clusterv1.Machine) { m.Annotations = map[string]string{key: "owner"} })
}

func nodeCondition(t corev1.NodeConditionType, status corev1.ConditionStatus, message string) change {
	return func(w *World) {
		for i := range w.Node.Node.Status.Conditions {
			if c := &w.Node.Node.Status.Conditions[i]; c.Type == t {
				c.Status, c.Message = status, message
			}
		}
	}
}

func hadCondition(kind string, status metav1.ConditionStatus, reason string, since time.Duration) change {
	return machineWith(func(m *clusterv1.Machine) {
		conditions.Set(m, metav1.Condition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(now.Add(-since))})
	})
}

func ownerSet() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachineSet", Name: "s", UID: "s", Controller: &yes}
}

// young is a machine for which nothing exists yet but the objects.
func young(w *World) {
	w.Machine.Spec.ProviderID, w.Machine.Status = "", clusterv1.MachineStatus{}
	w.Machine.Spec.Bootstrap.DataSecretName = nil
	w.Bootstrap, w.Infrastructure, w.Node = found("FakeBootstrap", nil, nil), found("FakeMachine", nil, nil), NodeView{}
}

// deployed puts the machine under a MachineSet and a MachineDeployment whose templates have the given versions.
func deployed(setVersion, deploymentVersion string) change {
	return func(w *World) {
		w.MachineSet, w.MachineDeployment = &clusterv1.MachineSet{}, &clusterv1.MachineDeployment{}
		w.MachineSet.Spec.Template.Spec.Version, w.MachineDeployment.Spec.Template.Spec.Version = setVersion, deploymentVersion
		w.Machine.Spec.Version = setVersion
		w.Machine.Labels = labels.Merge(w.Machine.Labels, map[string]string{clusterv1.MachineDeploymentNameLabel: "md"})
		w.Machine.OwnerReferences = []metav1.OwnerReference{ownership.ControllerReference(w.MachineSet, clusterv1.GroupVersion.WithKind("MachineSet"))}
		w.Node.Node.Status.NodeInfo.KubeletVersion = setVersion
	}
}
