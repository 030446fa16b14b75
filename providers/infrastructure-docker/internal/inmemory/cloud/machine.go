package cloud

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/store"
)

const kubeSystem = "kube-system"

// serverKey is the private key of all simulated servers: they protect nothing, and making keys is slow.
var serverKey = sync.OnceValues(func() (crypto.Signer, error) { return certificates.NewKey(certificates.ECDSAP256) })

// Node describes the Node of a machine.
type Node struct {
	Name, ProviderID, Version string
	ControlPlane              bool
	Labels                    map[string]string
	Taints                    []corev1.Taint
}

// Capacity is what every simulated Node offers.
func Capacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
}

// Architecture and OperatingSystem are those of every simulated Node.
const Architecture, OperatingSystem = "amd64", "linux"

// EnsureNode registers a Node that is ready, unless it exists.
func (c *Cluster) EnsureNode(n Node) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelOSStable: OperatingSystem, corev1.LabelArchStable: Architecture}}}
	node.Spec.ProviderID = n.ProviderID
	node.Spec.Taints = n.Taints
	for k, v := range n.Labels {
		node.Labels[k] = v
	}
	if n.ControlPlane {
		node.Labels["node-role.kubernetes.io/control-plane"] = ""
		node.Labels["node.kubernetes.io/exclude-from-external-load-balancers"] = ""
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule})
	}
	now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	for t, s := range map[corev1.NodeConditionType]corev1.ConditionStatus{corev1.NodeReady: corev1.ConditionTrue, corev1.NodeMemoryPressure: corev1.ConditionFalse,
		corev1.NodeDiskPressure: corev1.ConditionFalse, corev1.NodePIDPressure: corev1.ConditionFalse} {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: t, Status: s, Reason: "Simulated", Message: "the node is simulated", LastTransitionTime: now, LastHeartbeatTime: now})
	}
	node.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: n.Version, ContainerRuntimeVersion: "simulated://1.0", OperatingSystem: OperatingSystem,
		Architecture: Architecture, OSImage: "simulated", KernelVersion: "simulated", MachineID: n.Name, SystemUUID: n.Name, BootID: n.Name}
	node.Status.Capacity = Capacity()
	node.Status.Allocatable = Capacity()
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: n.Name}}
	return c.ensure(schema.GroupVersionKind{Version: "v1", Kind: "Node"}, "nodes", node)
}

// DeleteNode removes a Node and what runs on it.
func (c *Cluster) DeleteNode(name string) {
	pods := schema.GroupResource{Resource: "pods"}
	items, _ := c.store.List(pods, "")
	for _, p := range items {
		if n, _, _ := unstructured.NestedString(p.Object, "spec", "nodeName"); n == name {
			_, _ = c.store.Delete(store.Key{Resource: pods, Namespace: p.GetNamespace(), Name: p.GetName()}, metav1.DeleteOptions{})
		}
	}
	_, _ = c.store.Delete(store.Key{Resource: schema.GroupResource{Resource: "nodes"}, Name: name}, metav1.DeleteOptions{})
}

// EnsureEtcd adds the etcd member of a node and its Pod. A further member joins only a cluster that has a leader.
func (c *Cluster) EnsureEtcd(node, version string, a Authorities) error {
	config, err := serverConfig(a.Etcd, []string{"etcd-" + node, node, "localhost"}, true)
	if err != nil {
		return fmt.Errorf("making the certificate of etcd on %s: %w", node, err)
	}
	if err := c.ensurePod("etcd", node, version); err != nil {
		return err
	}
	c.etcd.Ensure(node, config)
	return nil
}

// EnsureAPIServer adds the API server of a node and its Pod; with the first one the cluster begins to answer.
func (c *Cluster) EnsureAPIServer(node, version string, a Authorities) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version == "" {
		c.version = version
	}
	if err := c.ensurePod("kube-apiserver", node, version); err != nil {
		return err
	}
	c.servers[node] = true
	if c.listener.serving() {
		return nil
	}
	host, _, err := net.SplitHostPort(c.listener.address())
	if err != nil {
		return fmt.Errorf("reading the listener's address: %w", err)
	}
	config, err := serverConfig(a.Cluster, []string{host, "localhost", "kubernetes", "kubernetes.default"}, false)
	if err != nil {
		return fmt.Errorf("making the certificate of the API server: %w", err)
	}
	if err := c.seed(version); err != nil {
		return err
	}
	c.listener.serve(config.Certificates[0], config.ClientCAs)
	return nil
}

// EnsureComponents adds the other Pods of a control plane node.
func (c *Cluster) EnsureComponents(node, version string) error {
	return errors.Join(c.ensurePod("kube-controller-manager", node, version), c.ensurePod("kube-scheduler", node, version))
}

// DeleteControlPlane takes the API server and etcd member of a node away; with the last API server the cluster is silent.
func (c *Cluster) DeleteControlPlane(node string) {
	c.etcd.Remove(node)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.servers, node)
	if len(c.servers) == 0 {
		c.listener.pause()
	}
}

func serverConfig(ca certificates.KeyPair, names []string, clients bool) (*tls.Config, error) {
	key, err := serverKey()
	if err != nil {
		return nil, err
	}
	leaf, err := ca.Sign(certificates.Request{CommonName: "kube-apiserver", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, Validity: 365 * 24 * time.Hour,
		Template: func(t *x509.Certificate) {
			for _, n := range names {
				if ip := net.ParseIP(n); ip != nil {
					t.IPAddresses = append(t.IPAddresses, ip)
				} else {
					t.DNSNames = append(t.DNSNames, n)
				}
			}
		}}, key, time.Now())
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(leaf.Cert, leaf.Key)
	if err != nil {
		return nil, fmt.Errorf("pairing certificate and key: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.Cert)
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}, ClientCAs: pool}
	if clients {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, nil
}

func (c *Cluster) ensurePod(component, node, version string) error {
	image := "registry.k8s.io/" + component + ":" + version
	if component == "etcd" {
		image = "registry.k8s.io/etcd:3.7.3-0"
	}
	now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: component + "-" + node, Labels: map[string]string{"tier": "control-plane", "component": component},
		Annotations: map[string]string{corev1.MirrorPodAnnotationKey: component, "kubernetes.io/config.source": "file"}}}
	pod.Spec = corev1.PodSpec{NodeName: node, HostNetwork: true, Containers: []corev1.Container{{Name: component, Image: image}}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now,
		ContainerStatuses: []corev1.ContainerStatus{{Name: component, Image: image, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}}}
	for _, t := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	return c.ensure(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "pods", pod)
}

// ensure creates an object unless it exists.
func (c *Cluster) ensure(gvk schema.GroupVersionKind, resource string, obj metav1.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return fmt.Errorf("converting %s %s: %w", gvk.Kind, obj.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	_, err = c.store.Create(store.Key{Resource: schema.GroupResource{Group: gvk.Group, Resource: resource}, Namespace: obj.GetNamespace(), Name: obj.GetName()}, u)
	if err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("creating %s %s: %w", gvk.Kind, obj.GetName(), err)
	}
	return nil
}

// plain is a Kubernetes version as image tags write it.
func plain(version string) string { return strings.ReplaceAll(version, "+", "_") }
