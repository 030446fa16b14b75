//go:build e2e

package lifecycle

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDockerCluster(t *testing.T) {
	remove := func() {
		if left := containers(t, ""); len(left) > 0 {
			_ = exec.Command("docker", append([]string{"rm", "-fv"}, left...)...).Run()
		}
	}
	remove() // what a run that was interrupted has left
	// For a run that fails; the plane is stopped before.
	t.Cleanup(func() {
		if t.Failed() {
			tellContainers(t)
		}
		remove()
	})
	lifecycle(t, backend{
		manifest:  "docs/quickstart/docker.yaml",
		more:      []string{"docs/quickstart/pod-network.yaml"},
		patience:  8 * time.Minute,
		check:     checkServices,
		interrupt: restartContainers,
		gone:      func(t *testing.T) { assert.Empty(t, containers(t, ""), "containers left of the deleted cluster") },
	})
}

// containers lists those of the cluster, of one role or all.
func containers(t *testing.T, role string) []string {
	t.Helper()
	args := []string{"ps", "-a", "--format", "{{.Names}}", "--filter", "label=io.x-k8s.kind.cluster=" + clusterName}
	if role != "" {
		args = append(args, "--filter", "label=io.x-k8s.kind.role="+role)
	}
	out, err := exec.Command("docker", args...).CombinedOutput()
	require.NoError(t, err, "docker ps: %s", out)
	return strings.Fields(string(out))
}

// tellContainers puts the state of the machines into the test's output: which run, what runs in them, and what their kubelets say.
func tellContainers(t *testing.T) {
	tell := func(args ...string) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
		t.Logf("docker %s (%v):\n%s", strings.Join(args, " "), err, out)
	}
	tell("ps", "-a", "--filter", "label=io.x-k8s.kind.cluster="+clusterName)
	for _, name := range containers(t, "") {
		tell("logs", "--tail", "10", name)
		tell("exec", name, "sh", "-c", "command -v ctr >/dev/null || exit 0; ip -brief address; ctr -n k8s.io tasks ls; tail -n 3 /var/log/pods/*/*/*.log; journalctl -u kubelet -u containerd --no-pager -n 25; df -h /var | tail -1; free -m")
	}
}

// restartContainers stops the machines and the load balancer, and starts them in another order, which is how they would swap
// their addresses if the engine chose them anew.
func restartContainers(t *testing.T) {
	names := containers(t, "")
	slices.Sort(names)
	docker := func(args ...string) {
		out, err := exec.Command("docker", args...).CombinedOutput()
		require.NoError(t, err, "docker %s: %s", args[0], out)
	}
	docker(append([]string{"stop", "--time", "3"}, names...)...)
	slices.Reverse(names)
	docker(append([]string{"start"}, names...)...)
}

// checkServices asks the DNS server, a pod that has been scheduled, through its Service from a worker.
func checkServices(t *testing.T, workload client.Client) {
	t.Helper()
	var dns corev1.Service
	require.NoError(t, workload.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "kube-dns"}, &dns))
	workers := containers(t, "worker")
	require.NotEmpty(t, workers)
	script := fmt.Sprintf(`exec 3<>/dev/tcp/%s/9153 && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 && grep -q coredns_build_info <&3`, dns.Spec.ClusterIP)
	var last string
	assert.Eventually(t, func() bool {
		out, err := exec.Command("docker", "exec", workers[0], "timeout", "3", "bash", "-c", script).CombinedOutput()
		last = fmt.Sprintf("%s (%v)", out, err)
		return err == nil
	}, 2*time.Minute, time.Second, "CoreDNS answers through its Service")
	if t.Failed() {
		t.Log(last)
	}
}
