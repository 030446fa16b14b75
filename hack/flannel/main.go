// Command pod-network gives the nodes of a cluster in containers a pod network. The routes between nodes are those of
// flannel's host-gw backend, used as a library; pods are attached with the bridge plug-in from Debian.
//
// flannel's own main package also links backends of clouds, which a node in a container has no use for.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/flannel-io/flannel/pkg/backend"
	_ "github.com/flannel-io/flannel/pkg/backend/hostgw"
	"github.com/flannel-io/flannel/pkg/ipmatch"
	"github.com/flannel-io/flannel/pkg/subnet/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const (
	configFile = "/etc/cni/net.d/10-slipway.conflist"
	annotation = "flannel.alpha.coreos.com"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pod-network:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	network, err := podNetwork(ctx)
	if err != nil {
		return err
	}
	netConf := filepath.Join(os.TempDir(), "net-conf.json")
	content := fmt.Sprintf(`{"Network": %q, "EnableNFTables": false, "Backend": {"Type": "host-gw"}}`, network)
	if err := os.WriteFile(netConf, []byte(content), 0o600); err != nil {
		return fmt.Errorf("writing flannel's configuration: %w", err)
	}
	subnets, err := kube.NewSubnetManager(ctx, "", "", annotation, netConf, false)
	if err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	config, err := subnets.GetNetworkConfig(ctx)
	if err != nil {
		return fmt.Errorf("reading flannel's configuration: %w", err)
	}
	stack, err := ipmatch.GetIPFamily(config.EnableIPv4, config.EnableIPv6)
	if err != nil {
		return err
	}
	device, err := ipmatch.LookupExtIface("", "", "", stack, ipmatch.PublicIPOpts{})
	if err != nil {
		return fmt.Errorf("looking for the node's interface: %w", err)
	}
	hostGateway, err := backend.NewManager(ctx, subnets, device).GetBackend(config.BackendType)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	routes, err := hostGateway.RegisterNetwork(ctx, &running, config)
	if err != nil {
		return fmt.Errorf("registering the node's subnet: %w", err)
	}
	if err := attach(routes.Lease().Subnet.String(), routes.MTU()); err != nil {
		return err
	}
	routes.Run(ctx)
	running.Wait()
	return nil
}

// podNetwork reads the range of all pods from what kubeadm has stored about the cluster.
func podNetwork(ctx context.Context) (string, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return "", err
	}
	config.Timeout = 2 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	stored, err := kubeadmConfig(ctx, client)
	if err != nil {
		return "", err
	}
	var cluster struct {
		Networking struct {
			PodSubnet string `json:"podSubnet"`
		} `json:"networking"`
	}
	if err := yaml.Unmarshal([]byte(stored.Data["ClusterConfiguration"]), &cluster); err != nil {
		return "", fmt.Errorf("reading kubeadm-config: %w", err)
	}
	if cluster.Networking.PodSubnet == "" {
		return "", fmt.Errorf("the cluster has no pod network: set Cluster spec.clusterNetwork.pods.cidrBlocks")
	}
	return cluster.Networking.PodSubnet, nil
}

// kubeadmConfig waits for kube-proxy, which starts on the node at the same time and without which the API server's Service
// is not there. A process that ends instead is started again only after ten seconds, then twenty, and the node waits for it.
func kubeadmConfig(ctx context.Context, client kubernetes.Interface) (*corev1.ConfigMap, error) {
	var stored *corev1.ConfigMap
	var last error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		stored, last = client.CoreV1().ConfigMaps("kube-system").Get(ctx, "kubeadm-config", metav1.GetOptions{})
		return last == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading kubeadm-config: %w", errors.Join(err, last))
	}
	return stored, nil
}

// attach tells the container runtime how pods of this node get their addresses.
func attach(subnet string, mtu int) error {
	raw, err := json.MarshalIndent(map[string]any{
		"cniVersion": "1.0.0", "name": "slipway",
		"plugins": []any{
			map[string]any{"type": "bridge", "bridge": "cni0", "isDefaultGateway": true, "ipMasq": true, "hairpinMode": true, "mtu": mtu,
				"ipam": map[string]any{"type": "host-local", "ranges": []any{[]any{map[string]any{"subnet": subnet}}}}},
			map[string]any{"type": "portmap", "capabilities": map[string]any{"portMappings": true}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	temporary := configFile + ".new"
	if err := os.WriteFile(temporary, raw, 0o644); err != nil {
		return fmt.Errorf("writing the network configuration: %w", err)
	}
	return os.Rename(temporary, configFile)
}
