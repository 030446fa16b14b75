package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// chain are the versions of the class, each a step that the control plane takes.
var chain = []string{"v1.35.4", "v1.36.3", "v1.37.2"}

// TestInMemoryChainedUpgrade moves a cluster over two minor versions by one edit: the control plane takes every step, the workers,
// which may be that much older, are replaced once.
//
// Conformance: TP-39
func TestInMemoryChainedUpgrade(t *testing.T) {
	b := backend{manifest: "docs/quickstart/in-memory-clusterclass.yaml", patience: 3 * time.Minute}
	p := startPlane(t)
	manifest := renamed(t, b.manifest)
	replaceInFile(t, manifest, "spec:\n  infrastructure:\n    templateRef:", "spec:\n  kubernetesVersions: ["+chain[0]+", "+chain[1]+", "+chain[2]+"]\n  infrastructure:\n    templateRef:")
	replaceInFile(t, manifest, "version: "+chain[2], "version: "+chain[0])
	p.slipway(t, "quickstart", "-f", manifest, "--timeout", b.patience.String())
	p.change(t, `{"spec":{"topology":{"workers":{"machineDeployments":[{"class":"default-worker","name":"workers","replicas":2}]}}}}`)
	require.Eventually(t, func() bool { return p.allAt(t, chain[0], 3) }, b.patience, 200*time.Millisecond, "all machines have the first version")
	p.waitReady(t, b.patience)

	p.change(t, `{"spec":{"topology":{"version":"`+chain[2]+`"}}}`)
	controlPlanes, workers := sets.New[string](), sets.New[string]()
	plans := []string{""}
	require.Eventually(t, func() bool {
		p.noteVersions(t, controlPlanes, workers)
		plans = p.notePlan(t, plans)
		return p.allAt(t, chain[2], 3)
	}, b.patience, 50*time.Millisecond, "all machines have the last version")
	p.waitReady(t, b.patience)
	require.Eventually(t, func() bool { plans = p.notePlan(t, plans); return plans[len(plans)-1] == "" }, b.patience, 50*time.Millisecond, "nothing lies ahead any more")
	assert.Equal(t, []string{"", chain[1] + " " + chain[2], chain[2], ""}, plans, "what lay ahead of the control plane")
	assert.Equal(t, sets.New(chain...), controlPlanes, "versions of control plane machines")
	assert.Equal(t, sets.New(chain[0], chain[2]), workers, "versions of workers")
	p.checkNodes(t, 3, b)
	p.delete(t, b)
}

// noteVersions adds the versions of all Machines there are.
func (p *plane) noteVersions(t *testing.T, controlPlanes, workers sets.Set[string]) {
	t.Helper()
	var list clusterv1.MachineList
	require.NoError(t, p.List(t.Context(), &list))
	for _, m := range list.Items {
		if _, ok := m.Labels[clusterv1.MachineControlPlaneLabel]; ok {
			controlPlanes.Insert(m.Spec.Version)
		} else {
			workers.Insert(m.Spec.Version)
		}
	}
}

// notePlan adds the versions that lie ahead of the control plane, if they are others than the last that were noted.
func (p *plane) notePlan(t *testing.T, plans []string) []string {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: meta(clusterName)}
	require.NoError(t, p.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
	var ahead []string
	for _, step := range cluster.Status.ControlPlane.UpgradePlan {
		ahead = append(ahead, step.Version)
	}
	if plan := strings.Join(ahead, " "); plan != plans[len(plans)-1] {
		plans = append(plans, plan)
	}
	return plans
}
