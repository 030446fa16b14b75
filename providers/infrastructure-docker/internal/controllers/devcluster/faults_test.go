package devcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
)

func simulated(annotation string) *infrav1.DevCluster {
	c := &infrav1.DevCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c", Finalizers: []string{infrav1.ClusterFinalizer}}}
	c.Spec.Backend.InMemory = &infrav1.InMemoryClusterBackend{}
	if annotation != "" {
		c.Annotations = map[string]string{infrav1.FaultsAnnotation: annotation}
	}
	return c
}

func TestFaultsFollowTheAnnotation(t *testing.T) {
	half := faults.Plan{ErrorRate: 0.5}
	for _, tt := range []struct {
		name, annotation string
		now              faults.Plan
		want             []Action
	}{
		{"none", "", faults.Plan{}, nil},
		{"new ones", `{"errorRate":0.5}`, faults.Plan{}, []Action{Break{Plan: half}}},
		{"the same", `{"errorRate":0.5}`, half, nil},
		{"no more", "", half, []Action{Break{}}},
		{"unreadable ones change nothing", `{`, half, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(World{DevCluster: simulated(tt.annotation), Cluster: &clusterv1.Cluster{}, Endpoint: clusterv1.APIEndpoint{Host: "h", Port: 1}, Faults: tt.now})
			assert.Equal(t, tt.want, d.Actions)
		})
	}
}

func TestFaultsComeBackAfterARestart(t *testing.T) {
	backend, c := InMemory{Cloud: cloud.New("127.0.0.1")}, simulated(`{"outage":true}`)
	_, err := backend.Provide(t.Context(), c, "c")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, backend.Remove(t.Context(), c, "c")) })
	assert.True(t, backend.Faults(c, "c").Outage)
	backend.Break(c, "c", faults.Plan{})
	assert.False(t, backend.Faults(c, "c").Outage)
	assert.Equal(t, faults.Plan{}, backend.Faults(c, "unknown"))
}
