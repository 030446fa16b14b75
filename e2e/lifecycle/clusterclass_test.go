package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// TestInMemoryClusterClass creates a cluster from a class, makes it larger, has one of its control plane machines replaced,
// upgrades it and deletes it, each time by one change of one object.
func TestInMemoryClusterClass(t *testing.T) {
	b := backend{manifest: "docs/quickstart/in-memory-clusterclass.yaml", patience: 90 * time.Second}
	p := startPlane(t)
	create := []string{"quickstart", "-f", renamed(t, b.manifest), "--timeout", b.patience.String()}
	p.slipway(t, create...)
	p.checkNodes(t, 2, b)
	p.checkIdempotence(t, create)

	p.change(t, `{"spec":{"topology":{"controlPlane":{"replicas":3},"workers":{"machineDeployments":[{"class":"default-worker","name":"workers","replicas":2}]}}}}`)
	require.Eventually(t, func() bool { return p.allAt(t, "v1.37.2", 5) }, b.patience, 200*time.Millisecond, "all machines have Nodes")
	p.waitReady(t, b.patience)
	p.checkNodes(t, 5, b)

	p.remediate(t, b)

	before := p.machines(t)
	p.change(t, `{"spec":{"topology":{"version":"v1.37.3"}}}`)
	require.Eventually(t, func() bool { return p.allAt(t, "v1.37.3", 5) }, b.patience, 200*time.Millisecond, "all machines have the new version")
	p.waitReady(t, b.patience)
	p.checkNodes(t, 5, b)
	for name := range p.machines(t) {
		assert.NotContains(t, before, name, "every machine was replaced")
	}
	p.delete(t, b)
}

// change patches the Cluster.
func (p *plane) change(t *testing.T, patch string) {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: meta(clusterName)}
	require.NoError(t, p.Patch(t.Context(), cluster, merge(patch)))
}

// allAt says whether there are so many Machines and all run a version.
func (p *plane) allAt(t *testing.T, version string, count int) bool {
	t.Helper()
	var list clusterv1.MachineList
	require.NoError(t, p.List(t.Context(), &list))
	for _, m := range list.Items {
		if m.Status.NodeInfo.KubeletVersion != version || !m.DeletionTimestamp.IsZero() {
			return false
		}
	}
	return len(list.Items) == count
}

// remediate asks for the replacement of a control plane machine, which the health check of the class passes on to the control
// plane, and waits for it.
func (p *plane) remediate(t *testing.T, b backend) {
	t.Helper()
	var list clusterv1.MachineList
	require.NoError(t, p.List(t.Context(), &list, client.HasLabels{clusterv1.MachineControlPlaneLabel}))
	require.Len(t, list.Items, 3)
	ill := list.Items[0]
	require.NoError(t, p.Patch(t.Context(), &ill, merge(`{"metadata":{"annotations":{"`+clusterv1.RemediateMachineAnnotation+`":""}}}`)))
	require.Eventually(t, func() bool {
		machines := p.machines(t)
		_, there := machines[ill.Name]
		return !there && len(machines) == 5
	}, b.patience, 200*time.Millisecond, "the machine is replaced")
	p.waitReady(t, b.patience)
	p.checkNodes(t, 5, b)
}
