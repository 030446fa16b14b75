package machine

import (
	"maps"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

func labelled(pairs map[string]string) change {
	return machineWith(func(m *clusterv1.Machine) { maps.Copy(m.Labels, pairs) })
}

// syncOf is the Node as the decision wants it; without an action it is the Node as it is.
func syncOf(t *testing.T, w World) *corev1.Node {
	t.Helper()
	d := Decide(w)
	require.NoError(t, d.Err)
	for _, a := range d.Actions {
		if s, ok := a.(SyncNode); ok {
			return s.After
		}
	}
	return w.Node.Node
}

// Conformance: MA-30
func TestLabelsThatGoToTheNode(t *testing.T) {
	for key, goes := range map[string]bool{
		"node-role.kubernetes.io/worker":          true,
		"sub.node-role.kubernetes.io/worker":      false,
		"node-restriction.kubernetes.io/zone":     true,
		"sub.node-restriction.kubernetes.io/zone": true,
		"node.cluster.x-k8s.io/pool":              true,
		"sub.node.cluster.x-k8s.io/pool":          true,
		"badnode.cluster.x-k8s.io/pool":           false,
		"example.org/team":                        true,
		"example.com/team":                        false,
		"team":                                    false,
	} {
		w := world(labelled(map[string]string{key: "v"}))
		w.Sync.Labels = []*regexp.Regexp{regexp.MustCompile(`^example\.org/`)}
		n := syncOf(t, w)
		assert.Equal(t, goes, n.Labels[key] == "v", key)
		assert.Equal(t, goes, n.Annotations[clusterv1.LabelsFromMachineAnnotation] == key, key)
	}
}

// Conformance: MA-31
func TestOnlyOwnLabelsAreRemoved(t *testing.T) {
	w := world(labelled(map[string]string{"node.cluster.x-k8s.io/a": "1"}))
	w.Node.Node.Labels = map[string]string{"node.cluster.x-k8s.io/a": "0", "node.cluster.x-k8s.io/b": "old", "node.cluster.x-k8s.io/c": "foreign"}
	w.Node.Node.Annotations = map[string]string{clusterv1.LabelsFromMachineAnnotation: "node.cluster.x-k8s.io/a,node.cluster.x-k8s.io/b"}
	n := syncOf(t, w)
	assert.Equal(t, map[string]string{"node.cluster.x-k8s.io/a": "1", "node.cluster.x-k8s.io/c": "foreign"}, n.Labels)
}

// Conformance: MA-32
func TestAnnotationsOfTheNode(t *testing.T) {
	w := world(machineWith(func(m *clusterv1.Machine) {
		m.Annotations = map[string]string{"node.cluster.x-k8s.io/note": "x", "other": "y"}
		m.Labels[clusterv1.MachineSetNameLabel] = "s"
		m.OwnerReferences = append(m.OwnerReferences, ownerSet())
	}))
	n := syncOf(t, w)
	assert.Equal(t, map[string]string{
		"node.cluster.x-k8s.io/note": "x", clusterv1.AnnotationsFromMachineAnnotation: "node.cluster.x-k8s.io/note", clusterv1.LabelsFromMachineAnnotation: "",
		clusterv1.ClusterNameAnnotation: "c", clusterv1.ClusterNamespaceAnnotation: "ns", clusterv1.MachineAnnotation: "m",
		clusterv1.OwnerKindAnnotation: "MachineSet", clusterv1.OwnerNameAnnotation: "s",
	}, n.Annotations)
}

// Conformance: MA-34, MA-35, MA-36, MA-37
func TestTaints(t *testing.T) {
	always := clusterv1.MachineTaint{Key: "a", Value: "new", Effect: "NoSchedule", Propagation: clusterv1.MachineTaintPropagationAlways}
	once := clusterv1.MachineTaint{Key: "o", Effect: "NoExecute", Propagation: clusterv1.MachineTaintPropagationOnInitialization}
	foreign := corev1.Taint{Key: "f", Effect: "NoSchedule"}
	for _, c := range []struct {
		name    string
		spec    []clusterv1.MachineTaint
		node    []corev1.Taint
		tracked string
		synced  bool
		want    []string
		err     string
	}{
		{name: "first sync brings both", spec: []clusterv1.MachineTaint{always, once}, want: []string{"a=new:NoSchedule", "o=:NoExecute"}},
		{name: "the uninitialized one goes", node: []corev1.Taint{uninitialized, foreign}, want: []string{"f=:NoSchedule"}},
		{name: "later only those that stay", spec: []clusterv1.MachineTaint{always, once}, synced: true, want: []string{"a=new:NoSchedule"}},
		{name: "values are kept equal", spec: []clusterv1.MachineTaint{always}, synced: true, tracked: "a:NoSchedule", node: []corev1.Taint{{Key: "a", Value: "old", Effect: "NoSchedule"}}, want: []string{"a=new:NoSchedule"}},
		{name: "a new effect replaces", spec: []clusterv1.MachineTaint{always}, synced: true, tracked: "a:NoExecute", node: []corev1.Taint{{Key: "a", Effect: "NoExecute"}}, want: []string{"a=new:NoSchedule"}},
		{name: "removed from the machine", synced: true, tracked: "a:NoSchedule", node: []corev1.Taint{{Key: "a", Effect: "NoSchedule"}, foreign}, want: []string{"f=:NoSchedule"}},
		{name: "no longer looked after, but there", spec: []clusterv1.MachineTaint{once}, synced: true, tracked: "o:NoExecute", node: []corev1.Taint{{Key: "o", Effect: "NoExecute"}}, want: []string{"o=:NoExecute"}},
		{name: "empty entries are dropped", synced: true, tracked: ",a:NoSchedule,", node: []corev1.Taint{{Key: "a", Effect: "NoSchedule"}}},
		{name: "a malformed annotation is told", synced: true, tracked: "nonsense", err: "not of the form key:effect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world(machineWith(func(m *clusterv1.Machine) { m.Spec.Taints = c.spec }))
			w.Sync.Taints, w.Node.Node.Spec.Taints = true, c.node
			if c.synced {
				w.Node.Node.Annotations = map[string]string{clusterv1.TaintsFromMachineAnnotation: c.tracked}
			}
			if c.err != "" {
				assert.ErrorContains(t, Decide(w).Err, c.err)
				return
			}
			var got []string
			for _, x := range syncOf(t, w).Spec.Taints {
				got = append(got, x.Key+"="+x.Value+":"+string(x.Effect))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// Conformance: MA-34
func TestTaintsNeedTheirFeature(t *testing.T) {
	w := world(machineWith(func(m *clusterv1.Machine) {
		m.Spec.Taints = []clusterv1.MachineTaint{{Key: "a", Effect: "NoSchedule", Propagation: clusterv1.MachineTaintPropagationAlways}}
	}))
	n := syncOf(t, w)
	assert.Empty(t, n.Spec.Taints)
	assert.NotContains(t, n.Annotations, clusterv1.TaintsFromMachineAnnotation)
}

// Conformance: MA-38
func TestNodesOfOlderRevisionsAreMarked(t *testing.T) {
	n := syncOf(t, world(deployed("v1.36.0", "v1.37.0")))
	assert.Equal(t, []corev1.Taint{outdatedRevision}, n.Spec.Taints)
	n = syncOf(t, world(deployed("v1.37.0", "v1.37.0"), func(w *World) { w.Node.Node.Spec.Taints = []corev1.Taint{outdatedRevision} }))
	assert.Empty(t, n.Spec.Taints)
}

// Conformance: MA-39
func TestInterruptible(t *testing.T) {
	spot := infrastructureIs(found("FakeMachine", map[string]any{"providerID": providerIDOfM}, map[string]any{"initialization": map[string]any{"provisioned": true}, "interruptible": true}))
	d := Decide(world(spot))
	require.Len(t, d.Events, 1)
	assert.Equal(t, "SuccessfulSetInterruptibleNodeLabel", d.Events[0].Reason)
	n := syncOf(t, world(spot))
	assert.Contains(t, n.Labels, clusterv1.InterruptibleLabel)
	assert.NotContains(t, syncOf(t, world(func(w *World) { w.Node.Node = n })).Labels, clusterv1.InterruptibleLabel, "no longer interruptible")

	d = Decide(world(infrastructureIs(Referred{Err: errRead}), func(w *World) { w.Node.Node = n.DeepCopy() }))
	assert.Empty(t, d.Actions, "the label does not flicker when the infrastructure cannot be read")
}

// Of several Nodes with one provider ID only the one that was the Machine's before is known to be.
//
// Conformance: MA-20
func TestIdentify(t *testing.T) {
	nodes := func(names ...string) (out []corev1.Node) {
		for _, name := range names {
			n := corev1.Node{}
			n.Name = name
			out = append(out, n)
		}
		return out
	}
	for _, c := range []struct {
		name  string
		found []corev1.Node
		known string
		want  string
		all   []string
	}{
		{"none", nil, "", "", nil},
		{"one", nodes("n"), "", "n", []string{"n"}},
		{"one of another name than before", nodes("n"), "old", "n", []string{"n"}},
		{"two, none known", nodes("b", "a"), "", "", []string{"a", "b"}},
		{"two, one known", nodes("b", "a"), "b", "b", []string{"a", "b"}},
		{"two strangers", nodes("b", "a"), "n", "", []string{"a", "b"}},
	} {
		view := identify(NodeView{}, c.found, c.known)
		assert.Equal(t, c.all, view.Duplicates, c.name)
		if c.want == "" {
			assert.Nil(t, view.Node, c.name)
			continue
		}
		require.NotNil(t, view.Node, c.name)
		assert.Equal(t, c.want, view.Node.Name, c.name)
	}
}

// A Machine in deletion touches no Node of which it is not known that it is its own.
//
// Conformance: MA-20
func TestDeletionSparesStrangers(t *testing.T) {
	strangers := nodeIs(NodeView{Connected: true, Duplicates: []string{"a", "b"}})
	unknown := machineWith(func(m *clusterv1.Machine) { m.Status.NodeRef.Name = "" })
	gone := func(w *World) { w.Infrastructure, w.Bootstrap = none, none }
	d := Decide(world(deletingFor(0), strangers, unknown, gone))
	assert.Empty(t, d.Actions)
	assert.Empty(t, d.Machine.Finalizers)
}

// Conformance: MA-33
func TestAnEqualNodeIsNotWritten(t *testing.T) {
	w := world(labelled(map[string]string{"node.cluster.x-k8s.io/a": "1"}))
	w.Node.Node = syncOf(t, w)
	assert.Empty(t, Decide(w).Actions)

	delete(w.Node.Node.Labels, "node.cluster.x-k8s.io/a")
	assert.Len(t, Decide(w).Actions, 1, "what somebody took away comes back, all in one write")
}

// The ways a taint can go over its life; each line starts from what the one before has left on the Node.
//
// Conformance: MA-34, MA-35
func TestTransitionsOfATaint(t *testing.T) {
	taint := func(propagation, effect, value string) []clusterv1.MachineTaint {
		return []clusterv1.MachineTaint{{Key: "k", Effect: effect, Value: value, Propagation: propagation}}
	}
	always, once := clusterv1.MachineTaintPropagationAlways, clusterv1.MachineTaintPropagationOnInitialization
	w := world()
	w.Sync.Taints, w.Node.Node.Spec.Taints = true, []corev1.Taint{{Key: "foreign", Effect: "NoSchedule"}}
	for _, step := range []struct {
		name    string
		spec    []clusterv1.MachineTaint
		want    []string
		tracked string
	}{
		{"on initialization", taint(once, "NoSchedule", ""), []string{"foreign", "k=:NoSchedule"}, ""},
		{"then not looked after", nil, []string{"foreign", "k=:NoSchedule"}, ""},
		{"always: taken over", taint(always, "NoSchedule", "v"), []string{"foreign", "k=v:NoSchedule"}, "k:NoSchedule"},
		{"another value", taint(always, "NoSchedule", "w"), []string{"foreign", "k=w:NoSchedule"}, "k:NoSchedule"},
		{"another effect", taint(always, "NoExecute", "w"), []string{"foreign", "k=w:NoExecute"}, "k:NoExecute"},
		{"no longer looked after", taint(once, "NoExecute", "w"), []string{"foreign", "k=w:NoExecute"}, ""},
		{"always again", taint(always, "NoExecute", "w"), []string{"foreign", "k=w:NoExecute"}, "k:NoExecute"},
		{"gone", nil, []string{"foreign"}, ""},
		{"too late for initialization", taint(once, "NoSchedule", ""), []string{"foreign"}, ""},
	} {
		w.Machine.Spec.Taints = step.spec
		w.Node.Node = syncOf(t, w)
		var got []string
		for _, x := range w.Node.Node.Spec.Taints {
			if x.Key == "foreign" {
				got = append(got, x.Key)
			} else {
				got = append(got, x.Key+"="+x.Value+":"+string(x.Effect))
			}
		}
		require.Equal(t, step.want, got, step.name)
		require.Equal(t, step.tracked, w.Node.Node.Annotations[clusterv1.TaintsFromMachineAnnotation], step.name)
	}
}
