package machinepool

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

func refNames(p *clusterv1.MachinePool) []string {
	var out []string
	for _, r := range p.Status.NodeRefs {
		out = append(out, r.Name)
	}
	return out
}

func nodeJoins(name string) change {
	return func(w *World) { w.Nodes.ByProviderID["id://"+name] = []*corev1.Node{node(name)} }
}

// nodeGoes means that somebody deleted the Node.
func nodeGoes(name string) change {
	return func(w *World) {
		delete(w.Nodes.ByProviderID, "id://"+name)
		delete(w.Nodes.Known, name)
	}
}

// Conformance: MP-21, MP-22, MP-25, IP1
func TestNodeRefs(t *testing.T) {
	three := infrastructureIs(infrastructure(3, "id://a", "id://b", "id://c"))
	twin := func(w *World) {
		w.Nodes.ByProviderID["id://a"] = []*corev1.Node{node("z"), node("a")}
	}
	for _, tt := range []struct {
		name    string
		changes []change
		want    []string
		events  []string
		err     string
	}{
		{name: "all there", want: []string{"a", "b"}},
		{name: "a member without Node yet", changes: []change{three}, want: []string{"a", "b"}},
		{name: "its Node joins", changes: []change{three, nodeJoins("c")}, want: []string{"a", "b", "c"}, events: []string{"SuccessfulSetNodeRefs: 1 Nodes joined, the pool has 3 now"}},
		{name: "the first Nodes", changes: []change{poolWith(func(p *clusterv1.MachinePool) { p.Status.NodeRefs = nil })}, want: []string{"a", "b"}, events: []string{"SuccessfulSetNodeRefs: 2 Nodes joined, the pool has 2 now"}},
		{name: "a Node is deleted", changes: []change{nodeGoes("a")}, want: []string{"b"}},
		{name: "a Node registers again under its name", changes: []change{nodeWith("a", func(n *corev1.Node) { n.UID = "new" })}, want: []string{"a", "b"}, events: []string{"SuccessfulSetNodeRefs: 1 Nodes joined, the pool has 2 now"}},
		{name: "two Nodes with one provider ID", changes: []change{twin}, want: []string{"b"}, err: "Nodes a, z have the same provider ID id://a", events: []string{"FailedSetNodeRef: Nodes a, z have the same provider ID id://a"}},
		{name: "no connection: what was known stays", changes: []change{disconnected}, want: []string{"a", "b"}},
		{name: "Nodes that cannot be read: what was known stays", changes: []change{func(w *World) { w.Nodes.Err = errRead }}, want: []string{"a", "b"}, err: "refused"},
		{name: "no cluster", changes: []change{disconnected, func(w *World) { w.Cluster = nil }}, want: []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(tt.changes...))
			assert.Equal(t, tt.want, refNames(d.Pool))
			assert.Equal(t, tt.events, eventsOf(d))
			if tt.err != "" {
				assert.ErrorContains(t, d.Err, tt.err)
			} else {
				assert.NoError(t, d.Err)
			}
		})
	}
	first := Decide(world(twin))
	again := Decide(world(twin, func(w *World) { w.Pool = first.Pool }))
	assert.Empty(t, again.Events, "a problem that is told already makes no event")
	assert.Equal(t, "Nodes a, z have the same provider ID id://a", conditions.Message(again.Pool, clusterv1.MachinesReadyCondition))
}

// Conformance: MP-23
func TestNodesAreMarked(t *testing.T) {
	bare := nodeWith("a", func(n *corev1.Node) {
		n.Annotations = map[string]string{"user": "1"}
		n.Spec.Taints = []corev1.Taint{{Key: "foreign", Effect: corev1.TaintEffectNoExecute}, {Key: uninitialized.Key, Effect: corev1.TaintEffectNoSchedule}}
	})
	d := Decide(world(bare))
	require.Equal(t, []string{"mark Node a"}, told(d))
	after := d.Actions[0].(SyncNode).After
	assert.Equal(t, map[string]string{"user": "1", clusterv1.ClusterNameAnnotation: "c", clusterv1.ClusterNamespaceAnnotation: "ns", clusterv1.OwnerKindAnnotation: "MachinePool", clusterv1.OwnerNameAnnotation: "p"}, after.Annotations)
	assert.Equal(t, []corev1.Taint{{Key: "foreign", Effect: corev1.TaintEffectNoExecute}}, after.Spec.Taints)
	assert.Empty(t, after.Labels, "labels are not brought to the Nodes of a pool")

	assert.Empty(t, told(Decide(world())), "nothing to do, nothing is written")
	assert.Empty(t, told(Decide(world(shown, bare))), "the Node of a Machine is the work of the Machine's controller")
	assert.Empty(t, told(Decide(world(bare, func(w *World) { w.Infrastructure = missing }))), "without the infrastructure it is not known whether there are Machines")
	assert.Empty(t, told(Decide(world(bare, nodeWith("a", func(n *corev1.Node) {
		at := metav1.NewTime(now)
		n.DeletionTimestamp = &at
	})))))
}

// Conformance: MP-24, IP1
func TestRetiredNodesAreDeleted(t *testing.T) {
	known := func(f func(*corev1.Node)) change { return func(w *World) { f(w.Nodes.Known["a"]) } }
	retired := infrastructureIs(infrastructure(1, "id://b"))
	for _, tt := range []struct {
		name    string
		changes []change
		want    []string
		refs    []string
	}{
		{name: "its machine is no member any more", changes: []change{retired}, want: []string{"delete Node a"}, refs: []string{"b", "a"}},
		{name: "gone", changes: []change{retired, nodeGoes("a")}, refs: []string{"b"}},
		{name: "being deleted", changes: []change{retired, known(func(n *corev1.Node) { leavingNode(n) })}, refs: []string{"b", "a"}},
		{name: "all, when the pool is empty for good", changes: []change{infrastructureIs(infrastructure(0)), replicasOf(0)}, want: []string{"delete Node a", "delete Node b"}, refs: []string{"a", "b"}},
		{name: "not when the list is not yet filled", changes: []change{infrastructureIs(infrastructure(2))}, refs: []string{"a", "b"}},
		{name: "not when the infrastructure is missing", changes: []change{retired, infrastructureIs(missing), poolWith(func(p *clusterv1.MachinePool) { p.Spec.ProviderIDList = []string{"id://b"} })}, refs: []string{"b", "a"}},
		{name: "not when the list has the wrong type", changes: []change{infrastructureIs(provider(infraGroup, "FakePool", map[string]any{"providerIDList": "x"}, nil)),
			poolWith(func(p *clusterv1.MachinePool) { p.Spec.ProviderIDList = []string{"id://b"} })}, refs: []string{"b", "a"}},
		{name: "not another Node of that name", changes: []change{retired, known(func(n *corev1.Node) { n.UID = "other" })}, refs: []string{"b"}},
		{name: "not a Node that belongs to somebody else now", changes: []change{retired, known(func(n *corev1.Node) {
			n.Annotations[clusterv1.OwnerKindAnnotation], n.Annotations[clusterv1.OwnerNameAnnotation] = "MachineSet", "s"
		})}, refs: []string{"b"}},
		{name: "not the Node of a Machine, which drains it first", changes: []change{shown, retired}, refs: []string{"b", "a"}},
		{name: "but that of a member whose Machine is gone", changes: []change{shown, retired, memberGoes("a"), func(w *World) { w.Members.Machines = without(w.Members.Machines, "a") }}, want: []string{"delete Node a"}, refs: []string{"b", "a"}},
		{name: "not without connection", changes: []change{retired, disconnected}, refs: []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(tt.changes...))
			var nodes []string
			for _, a := range told(d) {
				if a[:6] == "delete" {
					nodes = append(nodes, a)
				}
			}
			assert.Equal(t, tt.want, nodes)
			assert.ElementsMatch(t, tt.refs, refNames(d.Pool), "none is forgotten before it is gone")
			for _, a := range d.Actions {
				if x, ok := a.(DeleteNode); ok {
					assert.NotEmpty(t, x.UID, "only the Node that was seen may be deleted")
				}
			}
		})
	}
}

func leavingNode(n *corev1.Node) {
	at := metav1.NewTime(now)
	n.DeletionTimestamp = &at
}
