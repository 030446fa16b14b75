package devcluster

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
)

// fullWeight is the share of a control plane machine that has no annotation about it.
const fullWeight = 100

// Docker is the backend of clusters in containers: a load balancer container per cluster.
type Docker struct {
	Client client.Client
	// Live reads ConfigMaps, which no cache holds.
	Live client.Reader
	Host *docker.Host
}

// Find says what the engine runs for a cluster.
func (b *Docker) Find(ctx context.Context, c *infrav1.DevCluster, cluster string) (clusterv1.APIEndpoint, bool, error) {
	spec := loadBalancer(c, cluster)
	balancer, err := b.Host.FindLoadBalancer(ctx, spec)
	if balancer == nil || err != nil {
		return clusterv1.APIEndpoint{}, balancer == nil && err == nil, err
	}
	return endpointOf(balancer, spec.Port), false, nil
}

// Provide makes the load balancer and returns its address.
func (b *Docker) Provide(ctx context.Context, c *infrav1.DevCluster, cluster string) (clusterv1.APIEndpoint, error) {
	spec, err := b.complete(ctx, c, cluster)
	if err != nil {
		return clusterv1.APIEndpoint{}, err
	}
	balancer, err := b.Host.EnsureLoadBalancer(ctx, spec)
	if balancer == nil || err != nil {
		return clusterv1.APIEndpoint{}, err
	}
	return endpointOf(balancer, spec.Port), nil
}

// Remove takes the load balancer away.
func (b *Docker) Remove(ctx context.Context, c *infrav1.DevCluster, cluster string) error {
	return b.Host.DeleteLoadBalancer(ctx, loadBalancer(c, cluster))
}

// Balanced says whether the load balancer sends to the control plane machines that are there.
func (b *Docker) Balanced(ctx context.Context, c *infrav1.DevCluster, cluster string) (bool, error) {
	spec, err := b.complete(ctx, c, cluster)
	if err != nil {
		return false, err
	}
	return b.Host.Balanced(ctx, spec)
}

// Balance makes it so.
func (b *Docker) Balance(ctx context.Context, c *infrav1.DevCluster, cluster string) error {
	spec, err := b.complete(ctx, c, cluster)
	if err != nil {
		return err
	}
	_, err = b.Host.UpdateLoadBalancer(ctx, spec)
	return err
}

// endpointOf is zero unless the load balancer runs. A host that the user gave is not replaced by the caller.
func endpointOf(balancer *docker.Container, port int) clusterv1.APIEndpoint {
	if !balancer.Running || balancer.IPv4+balancer.IPv6 == "" {
		return clusterv1.APIEndpoint{}
	}
	host := balancer.IPv4
	if host == "" {
		host = balancer.IPv6
	}
	return clusterv1.APIEndpoint{Host: host, Port: int32(port)}
}

func loadBalancer(c *infrav1.DevCluster, cluster string) docker.LoadBalancerSpec {
	spec := docker.LoadBalancerSpec{
		Cluster: cluster, Owner: string(c.UID), Port: docker.APIServerPort,
		Recorded: c.Spec.ControlPlaneEndpoint.Host != "",
	}
	if port := c.Spec.ControlPlaneEndpoint.Port; port != 0 {
		spec.Port = int(port)
	}
	if c.Spec.Backend.Docker != nil && c.Spec.Backend.Docker.LoadBalancer != nil {
		spec.Image = imageOf(*c.Spec.Backend.Docker.LoadBalancer)
	}
	return spec
}

// imageOf fills the half of an image's name that the user left out from kind's image.
func imageOf(l infrav1.DockerLoadBalancer) string {
	if l.ImageRepository == "" && l.ImageTag == "" {
		return ""
	}
	repository, tag := l.ImageRepository, l.ImageTag
	if repository == "" {
		repository = "kindest"
	}
	if tag == "" {
		tag = "v20230606-42a2262b"
	}
	return repository + "/haproxy:" + tag
}

// complete adds what the configuration of the load balancer is made of.
func (b *Docker) complete(ctx context.Context, c *infrav1.DevCluster, cluster string) (docker.LoadBalancerSpec, error) {
	spec := loadBalancer(c, cluster)
	var err error
	if spec.Template, err = b.template(ctx, c); err != nil {
		return spec, err
	}
	spec.Backends, err = b.backends(ctx, c.Namespace, cluster)
	return spec, err
}

func (b *Docker) template(ctx context.Context, c *infrav1.DevCluster) (string, error) {
	if c.Spec.Backend.Docker == nil || c.Spec.Backend.Docker.LoadBalancer == nil || c.Spec.Backend.Docker.LoadBalancer.CustomHAProxyConfigTemplateRef == nil {
		return "", nil
	}
	name := c.Spec.Backend.Docker.LoadBalancer.CustomHAProxyConfigTemplateRef.Name
	stored := &corev1.ConfigMap{}
	if err := b.Live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, stored); err != nil {
		return "", fmt.Errorf("reading the template of the load balancer's configuration: %w", err)
	}
	if stored.Data["value"] == "" {
		return "", fmt.Errorf("ConfigMap %s has no key \"value\" with the template of the load balancer's configuration", name)
	}
	return stored.Data["value"], nil
}

// backends are the running control plane containers, weighted by the objects that stand for them.
func (b *Docker) backends(ctx context.Context, namespace, cluster string) ([]docker.Backend, error) {
	containers, err := b.Host.ControlPlanes(ctx, cluster)
	if err != nil {
		return nil, err
	}
	selector := client.MatchingLabels(labels.OfCluster(cluster))
	devMachines, machines := &infrav1.DevMachineList{}, &clusterv1.MachineList{}
	if err := b.Client.List(ctx, devMachines, client.InNamespace(namespace), selector); err != nil {
		return nil, fmt.Errorf("listing DevMachines: %w", err)
	}
	if err := b.Client.List(ctx, machines, client.InNamespace(namespace), selector, client.HasLabels{clusterv1.MachineControlPlaneLabel}); err != nil {
		return nil, fmt.Errorf("listing Machines: %w", err)
	}
	return weigh(containers, cluster, devMachines.Items, machines.Items), nil
}

// weigh is pure. The machine that is being deleted gets no new connections, unless it is the only one.
func weigh(containers []docker.Container, cluster string, devMachines []infrav1.DevMachine, machines []clusterv1.Machine) []docker.Backend {
	deleting := map[string]bool{}
	for _, m := range machines {
		deleting[m.Spec.InfrastructureRef.Name] = !m.DeletionTimestamp.IsZero()
	}
	known := map[string]infrav1.DevMachine{}
	for _, m := range devMachines {
		known[docker.ContainerName(cluster, m.Name)] = m
	}
	var out []docker.Backend
	for _, c := range containers {
		m, ours := known[c.Name]
		address := c.IPv4
		if address == "" {
			address = c.IPv6
		}
		if !ours || !c.Running || address == "" {
			continue
		}
		weight := fullWeight
		if value, err := strconv.Atoi(m.Annotations[infrav1.LoadbalancerWeightAnnotation]); err == nil && value >= 0 && value <= 256 {
			weight = value
		}
		if len(containers) > 1 && (deleting[m.Name] || !m.DeletionTimestamp.IsZero()) {
			weight = 0
		}
		out = append(out, docker.Backend{Name: c.Name, Address: address, Weight: weight})
	}
	return out
}

// ofControlPlane maps a control plane's machine, of either kind, to the DevCluster whose load balancer serves it.
func (c *Controller) ofControlPlane(ctx context.Context, o client.Object) []reconcile.Request {
	if _, ok := o.GetLabels()[clusterv1.MachineControlPlaneLabel]; !ok {
		return nil
	}
	cluster := &clusterv1.Cluster{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: labels.ClusterName(o)}, cluster); err != nil {
		return nil
	}
	return ofCluster(ctx, cluster)
}
