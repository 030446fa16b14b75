//go:build e2e

package nodeimage

import (
	"path/filepath"
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
	assert.Eventually(t, func() bool {
		pods, err := c.CoreV1().Pods("kube-system").List(t.Context(), metav1.ListOptions{LabelSelector: "k8s-app=kube-dns"})
		return err == nil && len(pods.Items) > 0 && allReady(pods.Items)
	}, 2*time.Minute, 500*time.Millisecond, "CoreDNS runs, so the pod network and kube-proxy do")
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
