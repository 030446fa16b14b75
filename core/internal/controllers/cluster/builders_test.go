package cluster

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

var (
	now     = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	yes     = true
	none    = referred.Object{Missing: true}
	errRead = errors.New("connection refused")
)

// change makes one thing different from the usual world.
type change func(*World)

// world is a cluster that is up: infrastructure, control plane, one MachineDeployment with a worker; changes make the case.
func world(changes ...change) World {
	w := World{
		Now: now, ConnectionGrace: time.Minute, Health: clustercache.HealthState{LastProbeSuccess: now.Add(-10 * time.Second)},
		Cluster:        runningCluster(),
		Infrastructure: found("FakeCluster", map[string]any{"controlPlaneEndpoint": endpoint("10.0.0.1", 6443)}, map[string]any{"initialization": map[string]any{"provisioned": true}}),
		ControlPlane:   found("FakeControlPlane", nil, map[string]any{"initialization": map[string]any{"controlPlaneInitialized": true}}),
	}
	w.Descendants.MachineDeployments = []*clusterv1.MachineDeployment{deployment("md", 1)}
	w.Descendants.MachineSets = []*clusterv1.MachineSet{machineSet("ms", "md")}
	w.Descendants.Machines = []*clusterv1.Machine{machine("cp", map[string]string{clusterv1.MachineControlPlaneLabel: ""}), machine("worker", map[string]string{clusterv1.MachineSetNameLabel: "ms"})}
	for _, c := range changes {
		c(&w)
	}
	return w
}

func endpoint(host string, port int64) map[string]any {
	return map[string]any{"host": host, "port": port}
}

func runningCluster() *clusterv1.Cluster {
	c := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c", Generation: 2, Finalizers: []string{clusterv1.ClusterFinalizer}},
		Spec: clusterv1.ClusterSpec{
			InfrastructureRef:    clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FakeCluster", Name: "c"},
			ControlPlaneRef:      clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io", Kind: "FakeControlPlane", Name: "c"},
			ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "10.0.0.1", Port: 6443},
		},
	}
	c.Status.Phase = clusterv1.ClusterPhaseProvisioned
	c.Status.Initialization = clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &yes, ControlPlaneInitialized: &yes}
	return c
}

// found is a provider object that the cluster owns already.
func found(kind string, spec, status map[string]any) referred.Object {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if spec != nil {
		o.Object["spec"] = spec
	}
	if status != nil {
		o.Object["status"] = status
	}
	o.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1")
	o.SetKind(kind)
	o.SetNamespace("ns")
	o.SetName("c")
	o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c"})
	o.SetOwnerReferences([]metav1.OwnerReference{owner()})
	return referred.Object{Object: &external.Object{Unstructured: o, Contract: "v1beta2"}}
}

// older is the same object under the previous contract.
func older(r referred.Object) referred.Object { r.Object.Contract = "v1beta1"; return r }

func owner() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "c"}
}

func deployment(name string, replicas int32) *clusterv1.MachineDeployment {
	md := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, OwnerReferences: []metav1.OwnerReference{owner()}}}
	md.Spec.Replicas, md.Status.Replicas, md.Status.ReadyReplicas, md.Status.AvailableReplicas, md.Status.UpToDateReplicas = &replicas, &replicas, &replicas, &replicas, &replicas
	for kind, status := range map[string]metav1.ConditionStatus{clusterv1.AvailableCondition: metav1.ConditionTrue, clusterv1.RollingOutCondition: metav1.ConditionFalse,
		clusterv1.ScalingUpCondition: metav1.ConditionFalse, clusterv1.ScalingDownCondition: metav1.ConditionFalse} {
		conditions.Set(md, metav1.Condition{Type: kind, Status: status, Reason: "Told"})
	}
	return md
}

func machineSet(name, deployment string) *clusterv1.MachineSet {
	ms := &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	if deployment != "" {
		ms.Labels = map[string]string{clusterv1.MachineDeploymentNameLabel: deployment}
	} else {
		ms.OwnerReferences = []metav1.OwnerReference{owner()}
	}
	return ms
}

func machine(name string, labels map[string]string) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels, CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}}
	for _, kind := range []string{clusterv1.ReadyCondition, clusterv1.AvailableCondition, clusterv1.MachineUpToDateCondition} {
		conditions.Set(m, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Told"})
	}
	return m
}

func clusterWith(f func(*clusterv1.Cluster)) change { return func(w *World) { f(w.Cluster) } }
func infrastructureIs(r referred.Object) change     { return func(w *World) { w.Infrastructure = r } }
func controlPlaneIs(r referred.Object) change       { return func(w *World) { w.ControlPlane = r } }

func deleting(w *World) { at := metav1.NewTime(now); w.Cluster.DeletionTimestamp = &at }

func empty(w *World) { w.Descendants = Descendants{} }

// fresh is a cluster of which nothing is known yet.
func fresh(w *World) {
	empty(w)
	w.Cluster.Spec.ControlPlaneEndpoint, w.Cluster.Status = clusterv1.APIEndpoint{}, clusterv1.ClusterStatus{}
	w.Infrastructure, w.ControlPlane, w.Health = found("FakeCluster", nil, nil), found("FakeControlPlane", nil, nil), clustercache.HealthState{}
}

// standalone is a cluster whose control plane Machines have no object above them.
func standalone(w *World) {
	w.Cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{}
	w.ControlPlane = referred.Object{}
	w.Kubeconfig.Secret = &corev1.Secret{}
}

func machineCondition(name, kind string, status metav1.ConditionStatus, message string) change {
	return func(w *World) {
		for _, m := range w.Descendants.Machines {
			if m.Name == name {
				conditions.Set(m, metav1.Condition{Type: kind, Status: status, Reason: "Told", Message: message})
			}
		}
	}
}

func deploymentCondition(kind string, status metav1.ConditionStatus, message string) change {
	return func(w *World) {
		conditions.Set(w.Descendants.MachineDeployments[0], metav1.Condition{Type: kind, Status: status, Reason: "Told", Message: message})
	}
}

// poolCondition adds a MachinePool that reports one condition.
func poolCondition(kind string, status metav1.ConditionStatus, message string) change {
	return func(w *World) {
		p := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "mp"}}
		conditions.Set(p, metav1.Condition{Type: kind, Status: status, Reason: "Test", Message: message})
		w.Descendants.MachinePools = append(w.Descendants.MachinePools, p)
	}
}
