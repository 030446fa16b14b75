package lifecycle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// clusterName is not that of the quick start, which may run on the same machine.
const clusterName = "lifecycle"

// backend is what differs between the tests.
type backend struct {
	manifest string
	// more are files that are applied as they are.
	more []string
	// patience is how long a step may take.
	patience time.Duration
	// check looks at a cluster that is ready, gone at what is left of a deleted one. Either may be nil.
	check func(t *testing.T, workload client.Client)
	gone  func(t *testing.T)
	// interrupt stops and starts all machines at once, as a reboot of their host does. It may be nil.
	interrupt func(t *testing.T)
}

// lifecycle is the test: create 1+1, scale the workers to 2, scale the control plane to 3, survive a reboot, delete.
func lifecycle(t *testing.T, b backend) {
	p := startPlane(t)
	create := []string{"quickstart", "-f", renamed(t, b.manifest), "--timeout", b.patience.String()}
	for _, file := range b.more {
		create = append(create, "-f", file)
	}
	p.slipway(t, create...)
	t.Run("the new cluster has two Nodes", func(t *testing.T) { p.checkNodes(t, 2, b) })
	t.Run("creating it again changes nothing", func(t *testing.T) { p.checkIdempotence(t, create) })

	p.scale(t, &clusterv1.MachineDeployment{ObjectMeta: meta(clusterName + "-workers")}, "2", b.patience)
	p.checkNodes(t, 3, b)

	controlPlane := object("controlplane.cluster.x-k8s.io", "KubeadmControlPlane")
	controlPlane.SetName(clusterName + "-control-plane")
	controlPlane.SetNamespace("default")
	p.scale(t, controlPlane, "3", b.patience)
	p.checkNodes(t, 5, b)

	if b.interrupt != nil {
		p.checkInterruption(t, b)
	}
	p.delete(t, b)
}

// checkInterruption wants the same Machines and Nodes back, all of them, after all were down.
func (p *plane) checkInterruption(t *testing.T, b backend) {
	before := p.machines(t)
	interrupted := time.Now()
	b.interrupt(t)
	workload := p.workload(t)
	require.Eventually(t, func() bool {
		var nodes corev1.NodeList
		if workload.List(t.Context(), &nodes) != nil || len(nodes.Items) != len(before) {
			return false
		}
		return !slices.ContainsFunc(nodes.Items, func(n corev1.Node) bool { return !ready(n) || heartbeat(n).Before(interrupted) })
	}, b.patience, 500*time.Millisecond, "all Nodes report again")
	t.Logf("all Nodes ready after an interruption: %.1fs", time.Since(interrupted).Seconds())
	p.waitReady(t, b.patience)
	assert.Equal(t, before, p.machines(t), "no Machine was replaced")
	p.checkNodes(t, len(before), b)
}

// machines maps the names of the Machines to their identity.
func (p *plane) machines(t *testing.T) map[string]types.UID {
	t.Helper()
	var list clusterv1.MachineList
	require.NoError(t, p.List(t.Context(), &list))
	uids := map[string]types.UID{}
	for _, m := range list.Items {
		uids[m.Name] = m.UID
	}
	return uids
}

func heartbeat(node corev1.Node) time.Time {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.LastHeartbeatTime.Time
		}
	}
	return time.Time{}
}

// renamed is a copy of a quick-start manifest for the cluster of the test.
func renamed(t *testing.T, manifest string) string {
	t.Helper()
	return named(t, manifest, clusterName)
}

// named is a copy of a quick-start manifest for a cluster of another name.
func named(t *testing.T, manifest, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, manifest))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(content), "quickstart", name)), 0o600))
	return file
}

// checkNodes compares the workload cluster's Nodes with the Machines.
func (p *plane) checkNodes(t *testing.T, want int, b backend) {
	t.Helper()
	workload := p.workload(t)
	var nodes corev1.NodeList
	require.NoError(t, workload.List(t.Context(), &nodes))
	names := map[string]bool{}
	for _, node := range nodes.Items {
		names[node.Name] = true
		assert.True(t, ready(node), "Node %s", node.Name)
	}
	assert.Len(t, names, want)
	var machines clusterv1.MachineList
	require.NoError(t, p.List(t.Context(), &machines))
	assert.Len(t, machines.Items, want)
	for _, machine := range machines.Items {
		assert.True(t, names[machine.Status.NodeRef.Name], "Machine %s names Node %q", machine.Name, machine.Status.NodeRef.Name)
		assert.NotEmpty(t, machine.Spec.ProviderID)
	}
	if b.check != nil {
		b.check(t, workload)
	}
}

func ready(node corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// checkIdempotence runs the creation again and compares the versions of what it applied.
func (p *plane) checkIdempotence(t *testing.T, create []string) {
	before := p.generations(t)
	p.slipway(t, create...)
	p.slipway(t, "up")
	assert.Equal(t, before, p.generations(t))
}

func (p *plane) generations(t *testing.T) map[string]int64 {
	t.Helper()
	generations := map[string]int64{}
	for _, kind := range clusterKinds {
		list := p.listOf(t, kind)
		for _, o := range list.Items {
			generations[o.GetKind()+"/"+o.GetName()] = o.GetGeneration()
		}
	}
	return generations
}

// clusterKinds are the kinds of which nothing may be left of a deleted cluster.
var clusterKinds = []schema.GroupKind{
	{Group: "cluster.x-k8s.io", Kind: "Cluster"}, {Group: "cluster.x-k8s.io", Kind: "Machine"},
	{Group: "cluster.x-k8s.io", Kind: "MachineSet"}, {Group: "cluster.x-k8s.io", Kind: "MachineDeployment"},
	{Group: "controlplane.cluster.x-k8s.io", Kind: "KubeadmControlPlane"}, {Group: "bootstrap.cluster.x-k8s.io", Kind: "KubeadmConfig"},
	{Group: "infrastructure.cluster.x-k8s.io", Kind: "DevCluster"}, {Group: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine"},
}

func (p *plane) delete(t *testing.T, b backend) {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: meta(clusterName)}
	start := time.Now()
	require.NoError(t, p.Delete(t.Context(), cluster))
	require.Eventually(t, func() bool {
		return apierrors.IsNotFound(p.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
	}, b.patience, 100*time.Millisecond, "the Cluster goes")
	t.Logf("deleting the cluster: %.1fs", time.Since(start).Seconds())
	for _, kind := range clusterKinds {
		assert.Empty(t, p.listOf(t, kind).Items, "left of %s", kind.Kind)
	}
	// Secrets have no finalizers, so the garbage collector comes after the Cluster.
	assert.Eventually(t, func() bool {
		var secrets corev1.SecretList
		return p.List(t.Context(), &secrets, client.InNamespace("default"), client.MatchingLabels{clusterv1.ClusterNameLabel: clusterName}) == nil &&
			len(secrets.Items) == 0
	}, b.patience, 100*time.Millisecond, "the cluster's Secrets go")
	if b.gone != nil {
		b.gone(t)
	}
}

func (p *plane) listOf(t *testing.T, kind schema.GroupKind) *unstructured.UnstructuredList {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.WithVersion("v1beta2"))
	list.SetKind(kind.Kind + "List")
	require.NoError(t, p.List(t.Context(), list))
	return list
}

func object(group, kind string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1beta2", Kind: kind})
	return o
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "default"} }

func TestInMemoryCluster(t *testing.T) {
	lifecycle(t, backend{manifest: "docs/quickstart/in-memory.yaml", patience: 90 * time.Second})
}
