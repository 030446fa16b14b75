package machinepool

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

var (
	now     = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	yes     = true
	missing = referred.Object{Missing: true}
)

const infraGroup, version = "infrastructure.cluster.x-k8s.io", "v1.37.0"

// change makes one thing different from the usual world.
type change func(*World)

// world is a pool of two members, a and b, with ready Nodes, in a cluster that is up; changes make the case.
func world(changes ...change) World {
	w := World{
		Now: now, ConditionsGrace: 5 * time.Minute, Pool: runningPool(),
		Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c"}, Status: clusterv1.ClusterStatus{
			Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &yes, ControlPlaneInitialized: &yes}}},
		Bootstrap:      provider("bootstrap.cluster.x-k8s.io", "FakeBootstrap", nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": true}, "dataSecretName": "data"}),
		Infrastructure: infrastructure(2, "id://a", "id://b"),
		Nodes:          NodesView{Connected: true, ByProviderID: map[string][]*corev1.Node{}, Known: map[string]*corev1.Node{}},
		Health:         clustercache.HealthState{LastProbeSuccess: now.Add(-10 * time.Second)},
	}
	for _, name := range []string{"a", "b"} {
		w.Nodes.ByProviderID["id://"+name] = []*corev1.Node{node(name)}
		w.Nodes.Known[name] = w.Nodes.ByProviderID["id://"+name][0]
	}
	for _, c := range changes {
		c(&w)
	}
	return w
}

func runningPool() *clusterv1.MachinePool {
	data, two := "data", int32(2)
	p := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "p", Generation: 3, Finalizers: []string{clusterv1.MachinePoolFinalizer}, Labels: map[string]string{clusterv1.ClusterNameLabel: "c"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "c"}}},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: &two, ProviderIDList: []string{"id://a", "id://b"}},
	}
	p.Spec.Template.Metadata.Labels = map[string]string{"team": "blue"}
	p.Spec.Template.Spec = clusterv1.MachineSpec{ClusterName: "c", Version: version,
		Bootstrap:         clusterv1.Bootstrap{DataSecretName: &data, ConfigRef: clusterv1.ContractVersionedObjectReference{APIGroup: "bootstrap.cluster.x-k8s.io", Kind: "FakeBootstrap", Name: "p"}},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infraGroup, Kind: "FakePool", Name: "p"}}
	p.Status.Initialization = clusterv1.MachineInitializationStatus{InfrastructureProvisioned: &yes, BootstrapDataSecretCreated: &yes}
	p.Status.Replicas = &two
	p.Status.NodeRefs = []corev1.ObjectReference{reference(node("a")), reference(node("b"))}
	return p
}

// provider is a provider object that the pool owns already.
func provider(group, kind string, spec, status map[string]any) referred.Object {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": status}}
	o.SetAPIVersion(group + "/v1")
	o.SetKind(kind)
	o.SetNamespace("ns")
	o.SetName("p")
	o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c"})
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: poolKind, Name: "p", UID: "p", Controller: &yes}})
	return referred.Object{Object: &external.Object{Unstructured: o, Contract: "v1beta2"}}
}

func infrastructure(replicas int64, ids ...string) referred.Object {
	list := make([]any, 0, len(ids))
	for _, id := range ids {
		list = append(list, id)
	}
	return provider(infraGroup, "FakePool", map[string]any{"providerIDList": list}, map[string]any{"initialization": map[string]any{"provisioned": true}, "replicas": replicas})
}

// node is a ready Node of a member, marked as the pool's.
func node(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name), Annotations: map[string]string{
		clusterv1.ClusterNameAnnotation: "c", clusterv1.ClusterNamespaceAnnotation: "ns", clusterv1.OwnerKindAnnotation: poolKind, clusterv1.OwnerNameAnnotation: "p",
	}}, Spec: corev1.NodeSpec{ProviderID: "id://" + name}}
	n.Status.NodeInfo.KubeletVersion = version
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}
	return n
}

func poolWith(f func(*clusterv1.MachinePool)) change { return func(w *World) { f(w.Pool) } }
func nodeWith(name string, f func(*corev1.Node)) change {
	return func(w *World) { f(w.Nodes.ByProviderID["id://"+name][0]) }
}

func infrastructureIs(o referred.Object) change { return func(w *World) { w.Infrastructure = o } }
func bootstrapIs(o referred.Object) change      { return func(w *World) { w.Bootstrap = o } }

// status sets one path below the status of the infrastructure pool.
func status(value any, path ...string) change {
	return func(w *World) {
		if err := unstructured.SetNestedField(w.Infrastructure.Object.Object, value, append([]string{"status"}, path...)...); err != nil {
			panic(err)
		}
	}
}

func replicasOf(n int32) change {
	return poolWith(func(p *clusterv1.MachinePool) { p.Spec.Replicas = &n })
}

func annotated(key, value string) change {
	return poolWith(func(p *clusterv1.MachinePool) { p.Annotations = map[string]string{key: value} })
}

func deletingFor(d time.Duration) change {
	return poolWith(func(p *clusterv1.MachinePool) {
		at := metav1.NewTime(now.Add(-d))
		p.DeletionTimestamp = &at
	})
}

func disconnected(w *World) { w.Nodes = NodesView{} }

// young is a pool for which nothing exists yet but the objects.
func young(w *World) {
	w.Pool.Spec.ProviderIDList, w.Pool.Status = nil, clusterv1.MachinePoolStatus{}
	w.Pool.Spec.Template.Spec.Bootstrap.DataSecretName = nil
	w.Bootstrap, w.Infrastructure, w.Nodes = provider("bootstrap.cluster.x-k8s.io", "FakeBootstrap", nil, nil), provider(infraGroup, "FakePool", nil, nil), NodesView{}
}

// shown is the world of a pool whose members are objects with Machines.
func shown(w *World) {
	status("FakeMachine", "infrastructureMachineKind")(w)
	w.Members.Kind = schema.GroupKind{Group: infraGroup, Kind: "FakeMachine"}
	for _, name := range []string{"a", "b"} {
		w.Members.Infrastructure = append(w.Members.Infrastructure, member(name))
		w.Members.Machines = append(w.Members.Machines, machine(*w, name))
	}
}

func member(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(infraGroup + "/v1")
	o.SetKind("FakeMachine")
	o.SetNamespace("ns")
	o.SetName(name)
	return o
}

// machine is the Machine of a member as it is when all is well.
func machine(w World, name string) *clusterv1.Machine {
	m := machineFor(w, member(name))
	m.TypeMeta = metav1.TypeMeta{}
	m.UID, m.CreationTimestamp = types.UID("machine-"+name), metav1.NewTime(now.Add(-time.Hour))
	m.Spec.ProviderID = "id://" + name
	m.Status.NodeInfo.KubeletVersion, m.Status.NodeRef.Name = version, name
	m.Status.Initialization.InfrastructureProvisioned = &yes
	for _, t := range []string{clusterv1.ReadyCondition, clusterv1.AvailableCondition} {
		conditions.Set(m, metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: t})
	}
	conditions.Set(m, metav1.Condition{Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineUpToDateReason})
	return m
}

func machineWith(name string, f func(*clusterv1.Machine)) change {
	return func(w *World) {
		for _, m := range w.Members.Machines {
			if m.Name == name {
				f(m)
			}
		}
	}
}

func without[T interface{ GetName() string }](list []T, name string) []T {
	var out []T
	for _, o := range list {
		if o.GetName() != name {
			out = append(out, o)
		}
	}
	return out
}

// told lists actions as short lines.
func told(d Decision) []string {
	var out []string
	for _, a := range d.Actions {
		switch x := a.(type) {
		case Adopt:
			out = append(out, "adopt "+x.Object.GetKind())
		case DeleteObject:
			out = append(out, "delete "+x.Object.GetKind())
		case ApplyMachine:
			if x.Have == nil {
				out = append(out, "create Machine "+x.Wanted.Name)
			} else {
				out = append(out, "change Machine "+x.Wanted.Name)
			}
		case DeleteMachine:
			out = append(out, "delete Machine "+x.Machine.Name)
		case JudgeMachine:
			out = append(out, fmt.Sprintf("judge Machine %s %s", x.Machine.Name, x.Conditions[0].Status))
		case SyncNode:
			out = append(out, "mark Node "+x.After.Name)
		case DeleteNode:
			out = append(out, "delete Node "+x.Name)
		}
	}
	return out
}

func eventsOf(d Decision) []string {
	var out []string
	for _, e := range d.Events {
		out = append(out, e.Reason+": "+e.Message)
	}
	return out
}
