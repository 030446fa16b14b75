package kubeadm

import (
	"slices"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// Dropped names the fields that are set and that kubeadm of a Kubernetes version has no words for, in order. They are left
// out of its documents. A worker's machine reads joinConfiguration only. Versions that cannot be read drop nothing.
func Dropped(spec *bootstrapv1.KubeadmConfigSpec, kubernetes string, controlPlane bool) []string {
	if version, err := APIVersion(kubernetes); err != nil || version != v1beta3 {
		return nil
	}
	var out []string
	note := func(set bool, field string) {
		if set {
			out = append(out, field)
		}
	}
	node := func(prefix string, n bootstrapv1.NodeRegistrationOptions) {
		note(n.ImagePullSerial != nil, prefix+".nodeRegistration.imagePullSerial")
	}
	waits := func(prefix string, t bootstrapv1.Timeouts) {
		note(t.KubeletHealthCheckSeconds != nil, prefix+".timeouts.kubeletHealthCheckSeconds")
		note(t.KubernetesAPICallSeconds != nil, prefix+".timeouts.kubernetesAPICallSeconds")
		note(t.EtcdAPICallSeconds != nil, prefix+".timeouts.etcdAPICallSeconds")
		note(t.DiscoverySeconds != nil, prefix+".timeouts.discoverySeconds")
	}
	node("joinConfiguration", spec.JoinConfiguration.NodeRegistration)
	waits("joinConfiguration", spec.JoinConfiguration.Timeouts)
	note(spec.JoinConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds != nil, "joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds")
	if controlPlane {
		c := spec.ClusterConfiguration
		note(len(c.APIServer.ExtraEnvs) > 0, "clusterConfiguration.apiServer.extraEnvs")
		note(len(c.ControllerManager.ExtraEnvs) > 0, "clusterConfiguration.controllerManager.extraEnvs")
		note(len(c.Scheduler.ExtraEnvs) > 0, "clusterConfiguration.scheduler.extraEnvs")
		note(len(c.Etcd.Local.ExtraEnvs) > 0, "clusterConfiguration.etcd.local.extraEnvs")
		note(c.CertificateValidityPeriodDays != 0, "clusterConfiguration.certificateValidityPeriodDays")
		note(c.EncryptionAlgorithm != "" && c.EncryptionAlgorithm != bootstrapv1.EncryptionAlgorithmRSA2048, "clusterConfiguration.encryptionAlgorithm")
		node("initConfiguration", spec.InitConfiguration.NodeRegistration)
		waits("initConfiguration", spec.InitConfiguration.Timeouts)
		note(spec.InitConfiguration.Timeouts.TLSBootstrapSeconds != nil, "initConfiguration.timeouts.tlsBootstrapSeconds")
	}
	slices.Sort(out)
	return out
}
