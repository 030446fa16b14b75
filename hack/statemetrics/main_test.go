package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	coreconfig "github.com/slipway-capi/slipway/core/config"
	bootstrapconfig "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/config"
	controlplaneconfig "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/config"
	dockerconfig "github.com/slipway-capi/slipway/providers/infrastructure-docker/config"
)

// Conformance: MG-50
func TestGenerate(t *testing.T) {
	raw, err := generate(coreconfig.CRDs, bootstrapconfig.CRDs, controlplaneconfig.CRDs, dockerconfig.CRDs)
	require.NoError(t, err)
	var file struct {
		Spec struct {
			Resources []struct {
				GroupVersionKind struct{ Kind string }
				MetricNamePrefix string
				Metrics          []struct{ Name string }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(raw, &file))
	got := map[string][]string{}
	for _, r := range file.Spec.Resources {
		for _, m := range r.Metrics {
			got[r.MetricNamePrefix] = append(got[r.MetricNamePrefix], m.Name)
		}
	}
	assert.Len(t, got, len(kinds))
	assert.Equal(t, []string{"info", "created", "annotation_paused", "owner", "spec_paused", "status_condition"}, got["capi_cluster"])
	assert.Equal(t, []string{"info", "created", "annotation_paused", "owner", "status_condition"}, got["capi_machine"])
	assert.Contains(t, got["capi_machinedeployment"], "spec_strategy_rollingupdate_max_surge")
	assert.Contains(t, got["capi_kubeadmcontrolplane"], "status_replicas_uptodate")
	_, err = generate(coreconfig.CRDs)
	require.ErrorContains(t, err, "there is no CustomResourceDefinition of DevCluster")
}
