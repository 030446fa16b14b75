package kubeadm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// Conformance: KB-15
func TestDropped(t *testing.T) {
	s := full()
	assert.Empty(t, Dropped(s, recent, true))
	assert.Empty(t, Dropped(s, "v1.31.0-rc.1", true))
	assert.Empty(t, Dropped(s, "latest", true), "that is another mistake, told elsewhere")
	assert.Empty(t, Dropped(&bootstrapv1.KubeadmConfigSpec{}, old, true))
	worker := Dropped(s, old, false)
	assert.Equal(t, []string{
		"joinConfiguration.nodeRegistration.imagePullSerial", "joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds", "joinConfiguration.timeouts.discoverySeconds",
		"joinConfiguration.timeouts.etcdAPICallSeconds", "joinConfiguration.timeouts.kubeletHealthCheckSeconds", "joinConfiguration.timeouts.kubernetesAPICallSeconds",
	}, worker)
	all := strings.Join(Dropped(s, old, true), " ")
	for _, field := range []string{"encryptionAlgorithm", "certificateValidityPeriodDays", "scheduler.extraEnvs", "etcd.local.extraEnvs", "initConfiguration.timeouts.tlsBootstrapSeconds"} {
		assert.Contains(t, all, field)
	}
	s.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmRSA2048
	assert.NotContains(t, Dropped(s, old, true), "clusterConfiguration.encryptionAlgorithm", "that is what kubeadm does anyway")
}
