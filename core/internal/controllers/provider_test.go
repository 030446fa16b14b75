package controllers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// TestAProviderThatIsInstalledLater: a cluster that names an unknown kind says so and waits; no time but the event of the
// installation wakes it.
//
// Conformance: CL-06
func TestAProviderThatIsInstalledLater(t *testing.T) {
	s := &story{T: t, namespace: env.Namespace(t)}
	kind := schema.GroupVersionKind{Group: fakeCluster.Group, Version: "v1", Kind: "LateCluster"}
	s.cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c"}, Spec: clusterv1.ClusterSpec{
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: kind.Group, Kind: kind.Kind, Name: "c"},
	}}
	require.NoError(t, env.Client.Create(ctx, s.cluster))
	s.until("the unknown kind is named", s.cluster, func() bool { return conditions.Has(s.cluster, clusterv1.InfrastructureReadyCondition) })
	assert.Contains(t, conditions.Message(s.cluster, clusterv1.InfrastructureReadyCondition), "lateclusters.infrastructure.cluster.x-k8s.io")

	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.Unmarshal(fmt.Appendf(nil, fakeCRD, kind.Kind, "latecluster", kind.Group), crd))
	require.NoError(t, env.Client.Create(ctx, crd))
	s.until("the missing object is named", s.cluster, func() bool {
		return conditions.Reason(s.cluster, clusterv1.InfrastructureReadyCondition) == clusterv1.ObjectDoesNotExistReason
	})
	s.infra = fake(t, kind, s.namespace, "c")
	s.until("the object is adopted", s.infra, func() bool { return len(s.infra.GetOwnerReferences()) == 1 })
}
