//go:build e2e

package nodeimage

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kind/pkg/cluster"
)

const (
	image = "slipway/node:v1.37.2"
	name  = "slipway-node-image"
)

func TestKindMakesAClusterOfTheImage(t *testing.T) {
	provider := cluster.NewProvider(cluster.ProviderWithDocker())
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	remove := func() { require.NoError(t, provider.Delete(name, kubeconfig)) }
	remove() // what a run that was interrupted has left
	t.Cleanup(remove)
	require.NoError(t, provider.Create(name, cluster.CreateWithNodeImage(image), cluster.CreateWithKubeconfigPath(kubeconfig),
		cluster.CreateWithWaitForReady(2*time.Minute), cluster.CreateWithDisplayUsage(false)))

	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	c, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	dnsRuns := func() bool {
		pods, err := c.CoreV1().Pods("kube-system").List(t.Context(), metav1.ListOptions{LabelSelector: "k8s-app=kube-dns"})
		return err == nil && len(pods.Items) > 0 && allReady(pods.Items)
	}
	assert.Eventually(t, dnsRuns, 2*time.Minute, 500*time.Millisecond, "CoreDNS runs, so the pod network and kube-proxy do")

	moved := time.Now()
	restartAtAnotherAddress(t)
	// The engine publishes the API server at another port then.
	require.NoError(t, provider.ExportKubeConfig(name, kubeconfig, false))
	config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	c, err = kubernetes.NewForConfig(config)
	require.NoError(t, err)
	assert.Eventually(t, func() bool {
		nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		return err == nil && len(nodes.Items) == 1 && readySince(nodes.Items[0], moved)
	}, 3*time.Minute, 500*time.Millisecond, "the Node reports from its new address")
	assert.Eventually(t, dnsRuns, 2*time.Minute, 500*time.Millisecond, "CoreDNS reaches the API server again")
}

// restartAtAnotherAddress is what a restart of the engine can do to a machine in kind's network: another container is there first.
func restartAtAnotherAddress(t *testing.T) {
	docker := func(args ...string) string {
		out, err := exec.Command("docker", args...).CombinedOutput()
		require.NoError(t, err, "docker %s: %s", args[0], out)
		return strings.TrimSpace(string(out))
	}
	node := name + "-control-plane"
	const format = "{{.NetworkSettings.Networks.kind.IPAddress}}"
	before := docker("inspect", "-f", format, node)
	docker("stop", "--time", "3", node)
	squatter := docker("run", "-d", "--rm", "--network", "kind", "--entrypoint", "sleep", image, "600")
	t.Cleanup(func() { docker("rm", "-f", squatter) })
	docker("start", node)
	require.NotEqual(t, before, docker("inspect", "-f", format, node))
}

// readySince tells whether the Node has been found ready after a time.
func readySince(node corev1.Node, since time.Time) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue && c.LastHeartbeatTime.After(since)
		}
	}
	return false
}

func allReady(pods []corev1.Pod) bool {
	for _, pod := range pods {
		ready := false
		for _, c := range pod.Status.Conditions {
			ready = ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}
		if !ready {
			return false
		}
	}
	return true
}
