//go:build e2e

package lifecycle

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// TestInMemoryMachinePool: one control plane machine and a pool of two; the pool grows to three, loses a member and replaces
// it, takes another version, shrinks, and goes with its cluster.
//
// Conformance: IP6, IP7, MP-19
func TestInMemoryMachinePool(t *testing.T) {
	b := backend{manifest: "e2e/lifecycle/testdata/machinepool.yaml", patience: 90 * time.Second}
	p := startPlane(t)
	p.slipway(t, "quickstart", "-f", renamed(t, b.manifest), "--timeout", b.patience.String())
	pool := &clusterv1.MachinePool{ObjectMeta: meta(clusterName + "-pool")}
	p.poolOf(t, pool, 2, b)
	p.checkNodes(t, 3, b)

	p.scale(t, pool, "3", b.patience)
	p.poolOf(t, pool, 3, b)
	p.checkNodes(t, 4, b)
	p.checkPoolNodes(t, pool)

	lost := p.members(t, pool)[0]
	require.NoError(t, p.Delete(t.Context(), &clusterv1.Machine{ObjectMeta: meta(lost)}))
	require.Eventually(t, func() bool { return !slices.Contains(p.members(t, pool), lost) }, b.patience, 100*time.Millisecond, "the member goes")
	p.poolOf(t, pool, 3, b)
	p.checkNodes(t, 4, b)
	assert.NotContains(t, p.members(t, pool), lost, "another one took its place")

	before := p.members(t, pool)
	require.NoError(t, p.Patch(t.Context(), pool, merge(`{"spec":{"template":{"spec":{"version":"v1.37.1"}}}}`)))
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(p.members(t, pool), func(m string) bool { return slices.Contains(before, m) })
	}, b.patience, 100*time.Millisecond, "all members are replaced")
	p.poolOf(t, pool, 3, b)
	p.checkNodes(t, 4, b)
	assert.Equal(t, []clusterv1.StatusVersion{{Version: "v1.37.1", Replicas: 3}}, pool.Status.Versions)

	p.scale(t, pool, "1", b.patience)
	p.poolOf(t, pool, 1, b)
	p.checkNodes(t, 2, b)
	p.delete(t, b)
	require.True(t, apierrors.IsNotFound(p.Get(t.Context(), client.ObjectKeyFromObject(pool), pool)))
	assert.Empty(t, p.listOf(t, object("infrastructure.cluster.x-k8s.io", "DevMachinePool").GroupVersionKind().GroupKind()).Items)
}

// poolOf waits until the pool has n members that can be used, and no others.
func (p *plane) poolOf(t *testing.T, pool *clusterv1.MachinePool, n int, b backend) {
	t.Helper()
	start := time.Now()
	require.Eventually(t, func() bool {
		if p.Get(t.Context(), client.ObjectKeyFromObject(pool), pool) != nil || pool.Status.AvailableReplicas == nil || pool.Status.Replicas == nil {
			return false
		}
		return int(*pool.Status.AvailableReplicas) == n && int(*pool.Status.Replicas) == n && len(pool.Status.NodeRefs) == n && len(p.members(t, pool)) == n &&
			pool.Status.Phase == "Running" && conditions.IsTrue(pool, clusterv1.AvailableCondition)
	}, b.patience, 50*time.Millisecond, "the pool has %d members", n)
	t.Logf("a pool of %d after %.1fs", n, time.Since(start).Seconds())
}

// members are the names of the pool's Machines.
func (p *plane) members(t *testing.T, pool *clusterv1.MachinePool) []string {
	t.Helper()
	var list clusterv1.MachineList
	require.NoError(t, p.List(t.Context(), &list, client.InNamespace(pool.Namespace), client.MatchingLabels{clusterv1.MachinePoolNameLabel: pool.Name}))
	var names []string
	for _, m := range list.Items {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

// checkPoolNodes wants on the Nodes what comes from the pool, and pods to be welcome.
func (p *plane) checkPoolNodes(t *testing.T, pool *clusterv1.MachinePool) {
	workload := p.workload(t)
	for _, ref := range pool.Status.NodeRefs {
		node := &corev1.Node{}
		require.NoError(t, workload.Get(t.Context(), client.ObjectKey{Name: ref.Name}, node))
		assert.Equal(t, pool.Name, node.Labels["node-restriction.kubernetes.io/pool"])
		assert.Equal(t, "MachinePool", node.Annotations[clusterv1.OwnerKindAnnotation])
		assert.Empty(t, node.Spec.Taints)
	}
}
