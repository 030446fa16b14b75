package contractversion_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-capi/slipway/contract/contractversion"
)

var machines = schema.GroupKind{Group: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine"}

func resolver(labels map[string]string, found bool, err error) *contractversion.Resolver {
	return contractversion.NewResolver(contractversion.ReaderFunc(func(_ context.Context, name string) (map[string]string, bool, error) {
		if name != "devmachines.infrastructure.cluster.x-k8s.io" {
			return nil, false, nil
		}
		return labels, found, err
	}))
}

// Conformance: SH-20
func TestVersionIsTheHighest(t *testing.T) {
	for _, c := range []struct{ key, value, version, contract string }{
		{"v1beta2", "v1beta2", "v1beta2", "v1beta2"},
		{"v1beta2", "v1_v1beta2", "v1", "v1beta2"},
		{"v1beta2", "v1beta2_v1", "v1", "v1beta2"},
		{"v1beta2", "v1beta10_v1beta9", "v1beta10", "v1beta2"},
		{"v1beta2", "v1alpha3_v1beta1_v1alpha4", "v1beta1", "v1beta2"},
		{"v1beta1", "v1beta1", "v1beta1", "v1beta1"},
	} {
		gvk, contract, err := resolver(map[string]string{"cluster.x-k8s.io/" + c.key: c.value}, true, nil).GVK(context.Background(), machines)
		require.NoError(t, err)
		assert.Equal(t, machines.WithVersion(c.version), gvk)
		assert.Equal(t, c.contract, contract)
	}
}

// Conformance: SH-20
func TestNewContractWins(t *testing.T) {
	gvk, contract, err := resolver(map[string]string{"cluster.x-k8s.io/v1beta1": "v1", "cluster.x-k8s.io/v1beta2": "v1beta2"}, true, nil).GVK(context.Background(), machines)
	require.NoError(t, err)
	assert.Equal(t, "v1beta2 v1beta2", gvk.Version+" "+contract)
}

func TestALabelThatChangesIsSeen(t *testing.T) {
	labels := map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta1"}
	r := resolver(labels, true, nil)
	for _, version := range []string{"v1beta1", "v1beta2", "v1beta2"} {
		labels["cluster.x-k8s.io/v1beta2"] = version
		gvk, _, err := r.GVK(context.Background(), machines)
		require.NoError(t, err)
		assert.Equal(t, version, gvk.Version)
	}
}

// Conformance: SH-21, SH-22
func TestTroubleIsToldApart(t *testing.T) {
	_, _, err := resolver(nil, true, nil).GVK(context.Background(), machines)
	require.ErrorIs(t, err, contractversion.ErrNoContract)
	assert.ErrorContains(t, err, "devmachines.infrastructure.cluster.x-k8s.io")
	assert.ErrorContains(t, err, "cluster.x-k8s.io/v1beta2, cluster.x-k8s.io/v1beta1", "what is to be done")
	_, _, err = resolver(nil, false, nil).GVK(context.Background(), machines)
	require.ErrorIs(t, err, contractversion.ErrNoCRD)
	broken := errors.New("no connection")
	_, _, err = resolver(nil, false, broken).GVK(context.Background(), machines)
	require.ErrorIs(t, err, broken)
}

func TestPlural(t *testing.T) {
	for kind, want := range map[string]string{
		"DevMachine": "devmachines", "ClusterClass": "clusterclasses", "BackupPolicy": "backuppolicies", "Gateway": "gateways",
		"IPAddress": "ipaddresses", "Box": "boxes", "Switch": "switches", "Mesh": "meshes",
	} {
		assert.Equal(t, want, contractversion.Plural(kind))
	}
}
