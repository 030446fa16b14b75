//go:build e2e && upgrade

package lifecycle

import (
	"context"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

const (
	oldVersion = "v1.36.3"
	newVersion = "v1.37.2"
	// newDNS is the CoreDNS that kubeadm of the new version would install. A new version alone never moves CoreDNS, and the new node
	// image does not hold the old one's image.
	newDNS = "v1.14.6"
	// longestGap is how long no write may succeed while control plane machines are replaced: an election of etcd (1 s to 2 s),
	// and what the load balancer needs to see that an API server is gone.
	longestGap = 5 * time.Second
)

// TestDockerUpgrade: three control planes and a worker take the next minor version while something writes all the time; then the
// control plane shrinks to one and grows again, and loses a machine that its health check replaces.
func TestDockerUpgrade(t *testing.T) {
	remove := func() {
		if left := containers(t, ""); len(left) > 0 {
			_ = exec.Command("docker", append([]string{"rm", "-fv"}, left...)...).Run()
		}
	}
	remove()
	t.Cleanup(func() {
		if t.Failed() {
			tellContainers(t)
		}
		remove()
	})
	b := backend{manifest: "docs/quickstart/docker.yaml", patience: 10 * time.Minute, check: checkServices,
		gone: func(t *testing.T) { assert.Empty(t, containers(t, ""), "containers left of the deleted cluster") }}
	p := startPlane(t)
	manifest := renamed(t, b.manifest)
	replaceInFile(t, manifest, newVersion, oldVersion)
	// Nodes of both versions run the same kube-proxy, at first the old one, in the end the new.
	replaceInFile(t, manifest, "        docker: {}\n", "        docker:\n          preLoadImages: [registry.k8s.io/kube-proxy:"+oldVersion+", registry.k8s.io/kube-proxy:"+newVersion+"]\n")
	p.slipway(t, "quickstart", "-f", manifest, "--timeout", b.patience.String(), "--addon", "hack/nodeimage/cni.yaml")
	controlPlane := object("controlplane.cluster.x-k8s.io", "KubeadmControlPlane")
	controlPlane.SetName(clusterName + "-control-plane")
	controlPlane.SetNamespace("default")
	p.scale(t, controlPlane, "3", b.patience)
	p.checkVersions(t, 4, oldVersion)

	p.upgrade(t, controlPlane, b)

	p.timed(t, "scaling the control plane from 3 to 1", func() { p.scale(t, controlPlane, "1", b.patience) })
	p.checkNodes(t, 2, b)
	p.timed(t, "scaling the control plane from 1 to 3", func() { p.scale(t, controlPlane, "3", b.patience) })
	p.checkNodes(t, 4, b)

	p.checkRemediation(t, b)
	p.delete(t, b)
}

// upgrade changes the version of the control plane, then of the workers, under constant writes.
func (p *plane) upgrade(t *testing.T, controlPlane *unstructured.Unstructured, b backend) {
	before := p.machines(t)
	writes := startWriting(t, p.workload(t))
	version := func(o client.Object, patch string) {
		require.NoError(t, p.Patch(t.Context(), o, merge(patch)))
	}
	p.timed(t, "upgrading three control planes", func() {
		version(controlPlane, `{"spec":{"version":"`+newVersion+`","kubeadmConfigSpec":{"clusterConfiguration":{"dns":{"imageTag":"`+newDNS+`"}}}}}`)
		p.waitVersions(t, clusterv1.MachineControlPlaneLabel, 3, b)
	})
	p.timed(t, "upgrading the worker", func() {
		workers := &clusterv1.MachineDeployment{ObjectMeta: meta(clusterName + "-workers")}
		version(workers, `{"spec":{"template":{"spec":{"version":"`+newVersion+`"}}}}`)
		p.waitVersions(t, clusterv1.MachineDeploymentNameLabel, 1, b)
	})
	p.waitReady(t, b.patience)
	gap, failed := writes.stop()
	t.Logf("during the upgrade the longest time without a successful write was %.1fs; %d writes failed", gap.Seconds(), failed)
	assert.Less(t, gap, longestGap, "the API server is there while its machines are replaced")
	p.checkVersions(t, 4, newVersion)
	for name := range p.machines(t) {
		assert.NotContains(t, before, name, "machines are replaced, not changed")
	}
	p.checkNodes(t, 4, b)
}

// waitVersions waits until exactly so many Machines with a label are there, all of the new version.
func (p *plane) waitVersions(t *testing.T, label string, want int, b backend) {
	t.Helper()
	require.Eventually(t, func() bool {
		var list clusterv1.MachineList
		if p.List(t.Context(), &list, client.HasLabels{label}) != nil || len(list.Items) != want {
			return false
		}
		return !slices.ContainsFunc(list.Items, func(m clusterv1.Machine) bool {
			return m.Spec.Version != newVersion || m.Status.NodeInfo.KubeletVersion != newVersion
		})
	}, b.patience, 200*time.Millisecond, "%d Machines with the label %s are of %s", want, label, newVersion)
}

func (p *plane) checkVersions(t *testing.T, want int, version string) {
	t.Helper()
	var nodes corev1.NodeList
	require.NoError(t, p.workload(t).List(t.Context(), &nodes))
	assert.Len(t, nodes.Items, want)
	for _, node := range nodes.Items {
		assert.Equal(t, version, node.Status.NodeInfo.KubeletVersion, "kubelet of %s", node.Name)
	}
}

// checkRemediation kills a control plane machine and wants another one in its place.
func (p *plane) checkRemediation(t *testing.T, b backend) {
	check := &clusterv1.MachineHealthCheck{ObjectMeta: meta(clusterName + "-control-plane")}
	check.Spec.ClusterName = clusterName
	check.Spec.Selector.MatchLabels = map[string]string{clusterv1.MachineControlPlaneLabel: ""}
	for _, status := range []string{"Unknown", "False"} {
		check.Spec.Checks.UnhealthyNodeConditions = append(check.Spec.Checks.UnhealthyNodeConditions,
			clusterv1.UnhealthyNodeCondition{Type: string(corev1.NodeReady), Status: status, TimeoutSeconds: 20})
	}
	require.NoError(t, p.Create(t.Context(), check))
	victim := containers(t, "control-plane")[0]
	p.timed(t, "replacing a control plane machine that was killed", func() {
		out, err := exec.Command("docker", "kill", victim).CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Eventually(t, func() bool {
			return !slices.Contains(containers(t, "control-plane"), victim)
		}, b.patience, time.Second, "the health check has %s removed", victim)
		p.waitVersions(t, clusterv1.MachineControlPlaneLabel, 3, b)
		p.waitReady(t, b.patience)
	})
	p.checkNodes(t, 4, b)
}

func (p *plane) timed(t *testing.T, what string, step func()) {
	start := time.Now()
	step()
	t.Logf("%s: %.1fs", what, time.Since(start).Seconds())
}

// writes are one request every 100 ms to change one object.
type writes struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	gap    time.Duration
	failed int
}

func startWriting(t *testing.T, c client.Client) *writes {
	probe := &corev1.ConfigMap{ObjectMeta: meta("upgrade-probe")}
	require.NoError(t, c.Create(t.Context(), probe))
	ctx, cancel := context.WithCancel(t.Context())
	w := &writes{cancel: cancel}
	w.done.Go(func() {
		ticks := time.NewTicker(100 * time.Millisecond)
		defer ticks.Stop()
		last := time.Now()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			attempt, stop := context.WithTimeout(ctx, time.Second)
			patch := merge(`{"data":{"n":"` + strconv.Itoa(n) + `"}}`)
			err := c.Patch(attempt, &corev1.ConfigMap{ObjectMeta: meta("upgrade-probe")}, patch)
			stop()
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				w.failed++
				continue
			}
			w.gap = max(w.gap, time.Since(last))
			last = time.Now()
		}
	})
	return w
}

// stop ends the writes and returns the longest time without a successful one, and how many failed.
func (w *writes) stop() (time.Duration, int) {
	w.cancel()
	w.done.Wait()
	return w.gap, w.failed
}
