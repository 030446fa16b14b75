package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-capi/slipway/internal/clustertree"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type option func(*clustertree.Node)

func node(kind, name string, options ...option) *clustertree.Node {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetKind(kind)
	o.SetName(name)
	o.SetCreationTimestamp(metav1.NewTime(start))
	n := &clustertree.Node{Object: o}
	for _, set := range options {
		set(n)
	}
	return n
}

func condition(conditionType string, status metav1.ConditionStatus, reason, message string) option {
	return func(n *clustertree.Node) {
		n.Conditions = append(n.Conditions, metav1.Condition{
			Type: conditionType, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(start.Add(3 * time.Second)),
		})
	}
}

func replicas(n int64) option {
	return func(node *clustertree.Node) {
		_ = unstructured.SetNestedField(node.Object.Object, n, "spec", "replicas")
	}
}

// generations gives an object a generation, and the one that its controller has seen.
func generations(is, seen int64) option {
	return func(n *clustertree.Node) {
		n.Object.SetGeneration(is)
		_ = unstructured.SetNestedField(n.Object.Object, seen, "status", "observedGeneration")
	}
}

func topology(generation int64) option {
	return func(n *clustertree.Node) {
		n.Object.SetGeneration(generation)
		_ = unstructured.SetNestedField(n.Object.Object, "class", "spec", "topology", "classRef", "name")
	}
}

func appliedAt(generation int64) option {
	return func(n *clustertree.Node) {
		n.Conditions = append(n.Conditions, metav1.Condition{Type: "TopologyReconciled", Status: metav1.ConditionTrue, ObservedGeneration: generation})
	}
}

func owns(children ...*clustertree.Node) option {
	return func(n *clustertree.Node) { n.Children = append(n.Children, children...) }
}

func deleting(n *clustertree.Node) {
	now := metav1.NewTime(start)
	n.Object.SetDeletionTimestamp(&now)
}

var (
	available = condition("Available", metav1.ConditionTrue, "Available", "")
	nodeReady = condition("NodeReady", metav1.ConditionTrue, "NodeReady", "")
)

// small is a cluster of one control plane machine and one worker.
func small(head option, worker ...option) *clustertree.Node {
	return node("Cluster", "c", head,
		owns(
			node("KubeadmControlPlane", "cp", replicas(1), owns(node("Machine", "cp-1", nodeReady))),
			node("MachineDeployment", "md", replicas(1), owns(node("MachineSet", "ms", replicas(1), owns(node("Machine", "w-1", worker...))))),
		))
}

func TestRollout(t *testing.T) {
	tests := []struct {
		name    string
		tree    *clustertree.Node
		waiting []string
	}{
		{name: "no cluster", waiting: []string{"the Cluster does not exist"}},
		{name: "everything is there", tree: small(available, nodeReady)},
		{
			name:    "a Node is missing",
			tree:    small(condition("Available", metav1.ConditionFalse, "NotAvailable", "* WorkersAvailable: no\n* More: too"), nil...),
			waiting: []string{"1 of 2 Nodes are ready", "the Cluster is not Available: WorkersAvailable: no; More: too"},
		},
		{
			name:    "a Machine goes: it counts neither as asked for nor as ready",
			tree:    small(available, nodeReady, deleting),
			waiting: []string{"1 of 2 Nodes are ready", "1 Machine is being deleted"},
		},
		{
			name:    "a change that a controller has not seen",
			tree:    node("Cluster", "c", available, owns(node("KubeadmControlPlane", "cp", generations(3, 2)))),
			waiting: []string{"the last change of KubeadmControlPlane/cp is not seen yet"},
		},
		{
			name:    "a topology that is not applied",
			tree:    node("Cluster", "c", available, topology(2), appliedAt(1)),
			waiting: []string{"the topology of the Cluster is not applied yet"},
		},
		{name: "a topology that is applied", tree: node("Cluster", "c", available, topology(2), appliedAt(2))},
		{
			name: "in the middle of a rollout, all Nodes are ready at times",
			tree: node("Cluster", "c", available, condition("RollingOut", metav1.ConditionTrue, "RollingOut", ""), owns(
				node("KubeadmControlPlane", "cp", replicas(2), condition("RollingOut", metav1.ConditionTrue, "RollingOut", ""), owns(
					node("Machine", "cp-1", nodeReady, condition("UpToDate", metav1.ConditionFalse, "NotUpToDate", "")),
					node("Machine", "cp-2", nodeReady, condition("UpToDate", metav1.ConditionTrue, "UpToDate", "")))))),
			waiting: []string{"KubeadmControlPlane/cp is rolling out", "1 Machine is not up to date"},
		},
		{
			name: "scaling, replacing and updating in place",
			tree: node("Cluster", "c", available, owns(
				node("MachineDeployment", "md", replicas(1), condition("ScalingDown", metav1.ConditionTrue, "ScalingDown", ""),
					condition("Remediating", metav1.ConditionTrue, "Remediating", ""), owns(
						node("Machine", "w", nodeReady, condition("Updating", metav1.ConditionTrue, "Updating", "")))))),
			waiting: []string{"MachineDeployment/md is scaling down", "MachineDeployment/md is replacing unhealthy Machines", "Machine/w is being updated"},
		},
		{
			name:    "the Cluster alone knows",
			tree:    node("Cluster", "c", available, condition("RollingOut", metav1.ConditionTrue, "RollingOut", "")),
			waiting: []string{"Cluster/c is rolling out"},
		},
		{name: "nothing reported yet", tree: node("Cluster", "c"), waiting: []string{"the Cluster is not Available"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Of(tt.tree)
			assert.Equal(t, tt.waiting, got.Waiting)
			assert.Equal(t, len(tt.waiting) == 0, got.Done())
		})
	}
}

func TestChanges(t *testing.T) {
	before := small(condition("Available", metav1.ConditionFalse, "NotAvailable", "one"), nodeReady)
	after := node("Cluster", "c", condition("Available", metav1.ConditionFalse, "NotAvailable", "another message"),
		owns(node("KubeadmControlPlane", "cp", condition("Available", metav1.ConditionTrue, "Available", ""))))
	var lines []string
	for _, c := range Changes(before, after) {
		lines = append(lines, strings.TrimSpace(Line(c, false)))
	}
	assert.Equal(t, []string{
		"0.0s  KubeadmControlPlane/cp  Available=True",
		"0.0s  Machine/cp-1 is gone",
		"0.0s  Machine/w-1 is gone",
		"0.0s  MachineDeployment/md is gone",
		"0.0s  MachineSet/ms is gone",
	}, lines)
	assert.Len(t, Changes(nil, before), 3)
	assert.Empty(t, Changes(before, before))
	assert.Empty(t, Changes(nil, nil))
}

func TestWhatIsNotTheMatterIsNotSaid(t *testing.T) {
	fine := node("Cluster", "c", condition("Paused", metav1.ConditionFalse, "NotPaused", ""))
	paused := node("Cluster", "c", condition("Paused", metav1.ConditionTrue, "Paused", ""))
	assert.Empty(t, Changes(nil, fine))
	assert.Len(t, Changes(nil, paused), 1)
	assert.Len(t, Changes(paused, fine), 1, "that it has ended is news")
}

func TestTree(t *testing.T) {
	tree := small(condition("Available", metav1.ConditionFalse, "NotAvailable", "* WorkersAvailable: waits\n* Other: too"),
		condition("Ready", metav1.ConditionUnknown, "WaitingForNode", ""))
	look := Look{Now: start.Add(8 * time.Second)}
	assert.Equal(t, strings.TrimPrefix(`
Cluster/c                  NotAvailable  5s  WorkersAvailable: waits; Other: too
├─ KubeadmControlPlane/cp                8s
│  └─ Machine/cp-1                       8s
└─ MachineDeployment/md                  8s
   └─ MachineSet/ms                      8s
      └─ Machine/w-1       NotReady      5s  WaitingForNode`, "\n"), strings.Join(Tree(tree, look), "\n"))

	look.Width = 50
	for _, line := range Tree(tree, look) {
		assert.LessOrEqual(t, len([]rune(line)), 50, line)
	}
	assert.True(t, strings.HasSuffix(Tree(tree, look)[0], "Work…"), Tree(tree, look)[0])
	look.Colours = true
	assert.Contains(t, Tree(tree, look)[0], "\x1b[31mNotAvailable\x1b[0m")
	assert.Empty(t, Tree(nil, look))
}

func TestADeletedObjectSaysSo(t *testing.T) {
	lines := Tree(node("Cluster", "c", available, deleting), Look{Now: start.Add(5 * time.Minute)})
	assert.Equal(t, []string{"Cluster/c  Deleting  5m"}, lines)
}

func TestListsWithinLists(t *testing.T) {
	assert.Equal(t, "* A: B: no; C: no; D: no", oneLine("* A:\n  * B: no\n  * C: no\n* D: no"))
}

func TestLine(t *testing.T) {
	change := Change{Elapsed: 1234 * time.Millisecond, Kind: "Machine", Name: "m", Condition: "Ready", Status: metav1.ConditionFalse, Reason: "Because", Message: "* a\n* b"}
	assert.Equal(t, "   1.2s  Machine/m  Ready=False  Because: a; b", Line(change, false))
	change.Status = metav1.ConditionTrue
	assert.Equal(t, "   1.2s  Machine/m  Ready=\x1b[32mTrue\x1b[0m", Line(change, true))
}

// TestFailedBoots: the Machine tells all of the report, its infrastructure and the tree only the first line.
func TestFailedBoots(t *testing.T) {
	const message = "kubeadm join failed in phase preflight\nNext: see below.\nThe output ended with:\n  one"
	change := Change{Kind: "Machine", Name: "m", Condition: "BootstrapFailed", Status: metav1.ConditionTrue, Reason: "PortInUse", Message: message}
	assert.Equal(t, `   0.0s  Machine/m  BootstrapFailed=True  PortInUse: kubeadm join failed in phase preflight
         Next: see below.
         The output ended with:
           one`, Line(change, false))
	assert.Contains(t, Line(change, true), "\x1b[31mTrue")
	change.Kind = "DevMachine"
	assert.Equal(t, "   0.0s  DevMachine/m  BootstrapFailed=True  PortInUse: kubeadm join failed in phase preflight", Line(change, false))
	change.Condition, change.Status, change.Reason = "BootstrapCompleted", metav1.ConditionFalse, "Failed"
	assert.Equal(t, "   0.0s  DevMachine/m  BootstrapCompleted=False  Failed: kubeadm join failed in phase preflight", Line(change, false))

	tree := small(available, condition("Available", metav1.ConditionFalse, "NotReady", ""), condition("BootstrapFailed", metav1.ConditionTrue, "PortInUse", message))
	lines := Tree(tree, Look{Now: start.Add(8 * time.Second)})
	assert.Contains(t, lines[len(lines)-1], "NotAvailable  5s  kubeadm join failed in phase preflight")
}

func TestDisplayWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	d := NewDisplay(&out, Text)
	require.NoError(t, d.Show(nil))
	require.NoError(t, d.Show(node("Cluster", "c", available)))
	require.NoError(t, d.Show(node("Cluster", "c", available)))
	assert.Equal(t, 1, strings.Count(out.String(), "\n"), "what is the same is not said again: %s", out.String())
	require.NoError(t, d.Finish(node("Cluster", "c", available)))
	assert.Contains(t, out.String(), "\nCluster/c  Available")
}

func TestDisplaySaysWhatItWaitsFor(t *testing.T) {
	var out bytes.Buffer
	d := NewDisplay(&out, Text)
	now := d.start
	d.now = func() time.Time { return now }
	tree := small(condition("Available", metav1.ConditionFalse, "NotAvailable", "* WorkersAvailable: no"), nil...)
	require.NoError(t, d.Show(tree))
	first := out.Len()
	for range 31 {
		now = now.Add(time.Second)
		require.NoError(t, d.Show(tree))
	}
	assert.Equal(t, "  15.0s  waiting: 1 of 2 Nodes are ready; the Cluster is not Available: WorkersAvailable: no\n"+
		"  30.0s  waiting: 1 of 2 Nodes are ready; the Cluster is not Available: WorkersAvailable: no\n", out.String()[first:])

	out.Reset()
	ready := small(available, nodeReady)
	require.NoError(t, d.Show(ready))
	first = out.Len()
	now = now.Add(time.Hour)
	require.NoError(t, d.Show(ready))
	assert.Equal(t, first, out.Len(), "nothing is waited for")
}

func TestSteps(t *testing.T) {
	worker := func(head ...option) *clustertree.Node {
		return small(available, head...)
	}
	ready := condition("Available", metav1.ConditionTrue, "Available", "")
	not := condition("Available", metav1.ConditionFalse, "NotReady", "")
	reason := condition("Ready", metav1.ConditionFalse, "NotReady", "* NodeHealthy: no news from the kubelet")
	failed := condition("BootstrapFailed", metav1.ConditionTrue, "PortInUse", "kubeadm join failed\nNext: look.")
	for _, tt := range []struct {
		name          string
		before, after *clustertree.Node
		want          []string
	}{
		{name: "the first look", after: node("Cluster", "c", condition("Available", metav1.ConditionFalse, "NotAvailable", "* A: b"), owns(node("DevCluster", "c", condition("Ready", metav1.ConditionTrue, "Ready", "")))),
			want: []string{"Cluster/c is not available: A: b", "DevCluster/c is ready"}},
		{name: "a machine is made", before: node("Cluster", "c", available), after: node("Cluster", "c", available, owns(node("Machine", "m", not))), want: []string{"Machine/m is made"}},
		{name: "only machines and what is directly below the Cluster are told of", before: node("Cluster", "c", available),
			after: node("Cluster", "c", available, owns(node("MachineDeployment", "md", owns(node("MachineSet", "ms", owns(node("Machine", "m", owns(node("DevMachine", "m"))))))))),
			want:  []string{"MachineDeployment/md is made", "Machine/m is made"}},
		{name: "a machine comes up", before: worker(not), after: worker(ready), want: []string{"Machine/w-1 is available"}},
		{name: "a machine goes down", before: worker(ready), after: worker(not, reason), want: []string{"Machine/w-1 is no longer available: NodeHealthy: no news from the kubelet"}},
		{name: "another reason is no step", before: worker(not), after: worker(not, reason)},
		{name: "a machine's first boot fails", before: worker(not), after: worker(not, failed), want: []string{"Machine/w-1 failed to boot: PortInUse: kubeadm join failed\n         Next: look."}},
		{name: "it is told once", before: worker(not, failed), after: worker(not, failed)},
		{name: "deletion", before: worker(ready), after: worker(ready, deleting), want: []string{"Machine/w-1 is being deleted"}},
		{name: "gone, with all below it", before: small(available, ready), after: node("Cluster", "c", available),
			want: []string{"KubeadmControlPlane/cp is gone", "Machine/cp-1 is gone", "MachineDeployment/md is gone", "Machine/w-1 is gone"}},
		{name: "the Cluster is gone", before: node("Cluster", "c", available), want: []string{"Cluster/c is gone"}},
		{name: "scaling begins", before: node("Cluster", "c", available, owns(node("MachineDeployment", "md", ready))),
			after: node("Cluster", "c", available, owns(node("MachineDeployment", "md", ready, condition("ScalingUp", metav1.ConditionTrue, "ScalingUp", "")))), want: []string{"MachineDeployment/md is scaling up"}},
		{name: "nothing", before: worker(ready), after: worker(ready)},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Steps(tt.before, tt.after)) })
	}
}

func TestJSONIsALinePerChange(t *testing.T) {
	var out bytes.Buffer
	d := NewDisplay(&out, JSON)
	d.start = start
	d.now = func() time.Time { return start.Add(time.Second) }
	require.NoError(t, d.Show(node("Cluster", "c", available)))
	require.NoError(t, d.Finish(nil))
	assert.JSONEq(t, `{"time":"2026-01-01T00:00:01Z","elapsed":1000000000,"kind":"Cluster","name":"c","condition":"Available","status":"True","reason":"Available"}`, out.String())
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 119 * time.Second: "119s", 3 * time.Minute: "3m", 3 * time.Hour: "3h", 72 * time.Hour: "3d",
	} {
		assert.Equal(t, want, age(start.Add(d), start))
	}
}
