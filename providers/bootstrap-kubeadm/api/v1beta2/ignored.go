package v1beta2

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/version"
)

// minorOfAPI is the minor version of Kubernetes whose kubeadm first reads the API v1beta4.
const minorOfAPI = 31

// minorOfP384 is the one whose kubeadm first knows ECDSA-P384.
const minorOfP384 = 34

// Ignored names the fields that are set and that kubeadm of a Kubernetes version has no words for, in order. They are left
// out of its documents. A worker's machine reads joinConfiguration only. Of versions that cannot be read nothing is known.
func (spec *KubeadmConfigSpec) Ignored(kubernetes string, controlPlane bool) []string {
	if v, err := version.ParseGeneric(kubernetes); err != nil || v.Major() != 1 || v.Minor() >= minorOfAPI {
		return nil
	}
	var out []string
	note := func(set bool, field string) {
		if set {
			out = append(out, field)
		}
	}
	node := func(prefix string, n NodeRegistrationOptions) {
		note(n.ImagePullSerial != nil, prefix+".nodeRegistration.imagePullSerial")
	}
	waits := func(prefix string, t Timeouts) {
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
		note(c.EncryptionAlgorithm != "" && c.EncryptionAlgorithm != EncryptionAlgorithmRSA2048, "clusterConfiguration.encryptionAlgorithm")
		node("initConfiguration", spec.InitConfiguration.NodeRegistration)
		waits("initConfiguration", spec.InitConfiguration.Timeouts)
		note(spec.InitConfiguration.Timeouts.TLSBootstrapSeconds != nil, "initConfiguration.timeouts.tlsBootstrapSeconds")
	}
	slices.Sort(out)
	return out
}

// Unknown names the fields whose values kubeadm of a Kubernetes version refuses on the machine.
func (spec *KubeadmConfigSpec) Unknown(kubernetes string) []string {
	v, err := version.ParseGeneric(kubernetes)
	if err != nil || v.Major() != 1 || v.Minor() < minorOfAPI || v.Minor() >= minorOfP384 || spec.ClusterConfiguration.EncryptionAlgorithm != EncryptionAlgorithmECDSAP384 {
		return nil
	}
	return []string{"clusterConfiguration.encryptionAlgorithm"}
}
