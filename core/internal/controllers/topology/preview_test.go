package topology_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/controllers/topology"
	"github.com/slipway-capi/slipway/core/internal/topology/intent"
)

// What a preview shows is what the controller has made: an apply of it would change nothing.
//
// Conformance: TP-36
func TestAPreviewShowsWhatIsMade(t *testing.T) {
	s := tell(t, func(class *clusterv1.ClusterClass) {
		timeout := int32(300)
		class.Spec.ControlPlane.HealthCheck.Checks.NodeStartupTimeoutSeconds = &timeout
		class.Spec.Workers.MachineDeployments[0].HealthCheck.Checks.NodeStartupTimeoutSeconds = &timeout
	})
	s.until("all is made", func() bool { return s.reason() == clusterv1.ClusterTopologyReconcileSucceededReason })

	get := func(apiVersion, kind, name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
		require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, o))
		return o
	}
	fresh := s.cluster.DeepCopy()
	fresh.Spec.InfrastructureRef, fresh.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{}, clusterv1.ContractVersionedObjectReference{}
	cluster, objects, err := topology.Preview{Cluster: fresh, Class: s.class, Template: get}.Objects(t.Context())
	require.NoError(t, err)
	assert.Equal(t, s.cluster.Spec, cluster.Spec)
	require.Len(t, objects, 8, "infrastructure, machine template, control plane, worker group with two templates, two health checks")
	for _, want := range objects {
		have := get(want.GetAPIVersion(), want.GetKind(), want.GetName())
		assert.Empty(t, intent.Differences(have, want, topology.FieldOwner), want.GetKind())
	}
}
