package kubeadm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// Conformance: KB-15
func TestIgnoredFields(t *testing.T) {
	s := full()
	assert.Empty(t, s.Ignored(recent, true))
	assert.Empty(t, s.Ignored("v1.31.0-rc.1", true))
	assert.Empty(t, s.Ignored("latest", true), "that is another mistake, told elsewhere")
	assert.Empty(t, (&bootstrapv1.KubeadmConfigSpec{}).Ignored(old, true))
	worker := s.Ignored(old, false)
	assert.Equal(t, []string{
		"joinConfiguration.nodeRegistration.imagePullSerial", "joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds", "joinConfiguration.timeouts.discoverySeconds",
		"joinConfiguration.timeouts.etcdAPICallSeconds", "joinConfiguration.timeouts.kubeletHealthCheckSeconds", "joinConfiguration.timeouts.kubernetesAPICallSeconds",
	}, worker)
	all := strings.Join(s.Ignored(old, true), " ")
	for _, field := range []string{"encryptionAlgorithm", "certificateValidityPeriodDays", "scheduler.extraEnvs", "etcd.local.extraEnvs", "initConfiguration.timeouts.tlsBootstrapSeconds"} {
		assert.Contains(t, all, field)
	}
	s.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmRSA2048
	assert.NotContains(t, s.Ignored(old, true), "clusterConfiguration.encryptionAlgorithm", "that is what kubeadm does anyway")

	s.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmECDSAP384
	for version, want := range map[string]int{old: 0, "v1.31.0": 1, "v1.33.9": 1, "v1.34.0-rc.0": 0, recent: 0, "latest": 0} {
		assert.Len(t, s.Unknown(version), want, version)
	}
}
