package devcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
)

func container(name, address string) docker.Container {
	return docker.Container{Name: name, Running: address != "", IPv4: address}
}

func devMachine(name, weight string) infrav1.DevMachine {
	m := infrav1.DevMachine{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if weight != "" {
		m.Annotations = map[string]string{infrav1.LoadbalancerWeightAnnotation: weight}
	}
	return m
}

func leaving(infrastructure string) clusterv1.Machine {
	now := metav1.Now()
	m := clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "any", DeletionTimestamp: &now}}
	m.Spec.InfrastructureRef.Name = infrastructure
	return m
}

func TestWeigh(t *testing.T) {
	two := []docker.Container{container("c-1", "10.0.0.1"), container("c-2", "10.0.0.2")}
	both := []infrav1.DevMachine{devMachine("c-1", ""), devMachine("c-2", "7")}
	for _, x := range []struct {
		name       string
		containers []docker.Container
		dev        []infrav1.DevMachine
		machines   []clusterv1.Machine
		want       map[string]int
	}{
		{"annotation or full", two, both, nil, map[string]int{"c-1": 100, "c-2": 7}},
		{"the one that leaves gets nothing", two, both, []clusterv1.Machine{leaving("c-1")}, map[string]int{"c-1": 0, "c-2": 7}},
		{"unless it is the only one", two[:1], both, []clusterv1.Machine{leaving("c-1")}, map[string]int{"c-1": 100}},
		{"no object, no backend", two, both[:1], nil, map[string]int{"c-1": 100}},
		{"stopped containers are left out", []docker.Container{container("c-1", ""), two[1]}, both, nil, map[string]int{"c-2": 7}},
		{"a weight that HAProxy would refuse is full", two[:1], []infrav1.DevMachine{devMachine("c-1", "257")}, nil, map[string]int{"c-1": 100}},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := map[string]int{}
			for _, b := range weigh(x.containers, "c", x.dev, x.machines) {
				got[b.Name] = b.Weight
			}
			assert.Equal(t, x.want, got)
		})
	}
}

func TestImageOfTheLoadBalancer(t *testing.T) {
	assert.Empty(t, imageOf(infrav1.DockerLoadBalancer{}))
	assert.Equal(t, "mine/haproxy:v20230606-42a2262b", imageOf(infrav1.DockerLoadBalancer{ImageRepository: "mine"}))
	assert.Equal(t, "kindest/haproxy:v1", imageOf(infrav1.DockerLoadBalancer{ImageTag: "v1"}))
}

func TestBalanceOnlyWhenNeeded(t *testing.T) {
	w := World{
		DevCluster: &infrav1.DevCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{infrav1.ClusterFinalizer}}},
		Cluster:    &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
		Endpoint:   clusterv1.APIEndpoint{Host: "172.18.0.2", Port: 6443},
	}
	assert.Equal(t, []Action{Balance{}}, Decide(w).Actions)
	w.Balanced = true
	d := Decide(w)
	assert.Empty(t, d.Actions)
	assert.Equal(t, w.Endpoint, d.DevCluster.Spec.ControlPlaneEndpoint)
}
