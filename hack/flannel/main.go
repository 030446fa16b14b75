// Command pod-network gives the nodes of a cluster in containers a pod network. The routes between nodes are those of
// flannel's host-gw backend, used as a library; pods are attached with the bridge plug-in from Debian.
//
// flannel's own main package also links backends of clouds, which a node in a container has no use for.
package main

import (
	"context"
	"encoding/json"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	config.Timeout = 10 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	stored, err := client.CoreV1().ConfigMaps("kube-system").Get(ctx, "kubeadm-config", metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("reading kubeadm-config: %w", err)
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
