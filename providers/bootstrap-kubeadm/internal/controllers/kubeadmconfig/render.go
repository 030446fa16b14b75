package kubeadmconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/cloudinit"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/ignition"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/kubeadm"
)

// uninitialized keeps pods off a new worker until the core has put the Machine's labels on its Node.
var uninitialized = corev1.Taint{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}

// document renders the first-boot document from a spec that is complete.
func document(w World, spec *bootstrapv1.KubeadmConfigSpec) ([]byte, error) {
	if version(w) == "" {
		return nil, errors.New("the machine has no spec.version: set the Kubernetes version that kubeadm should install, such as v1.37.2")
	}
	in := firstboot.Input{Verb: firstboot.Join, Files: w.Sources.Files, Users: w.Sources.Users, BootCommands: spec.BootCommands, PreCommands: spec.PreKubeadmCommands,
		PostCommands: spec.PostKubeadmCommands, NTP: spec.NTP, Disks: spec.DiskSetup, Mounts: spec.Mounts, Verbosity: spec.Verbosity}
	var err error
	switch StageOf(w) {
	case InitControlPlane:
		in.Verb = firstboot.Init
		in.Certificates = files(w.Certificates.Set)
		in.Kubeadm, err = kubeadm.Init(spec, injected(w))
	case JoinControlPlane:
		in.Certificates = files(w.Certificates.Set)
		in.Kubeadm, err = kubeadm.Join(spec, injected(w))
	default:
		in.Kubeadm, err = kubeadm.Join(tainted(spec), injected(w))
	}
	if err != nil {
		return nil, err
	}
	if f, err := discoveryKubeconfig(w, spec); err != nil {
		return nil, err
	} else if f != nil {
		in.Certificates = append(in.Certificates, *f)
	}
	if spec.Format == bootstrapv1.Ignition {
		content, _, err := ignition.Render(in, spec.Ignition)
		return fitting(content, in, err)
	}
	content, err := cloudinit.Render(in)
	return fitting(content, in, err)
}

// formatOf is how the document is written.
func formatOf(spec *bootstrapv1.KubeadmConfigSpec) string {
	if spec.Format == "" {
		return bootstrapv1.CloudConfig
	}
	return spec.Format
}

// tainted is the spec of a worker, whose Node starts with the uninitialized taint; it is not stored like that.
func tainted(spec *bootstrapv1.KubeadmConfigSpec) *bootstrapv1.KubeadmConfigSpec {
	out := spec.DeepCopy()
	var taints []corev1.Taint
	if t := out.JoinConfiguration.NodeRegistration.Taints; t != nil {
		taints = *t
	}
	for _, t := range taints {
		if t.MatchTaint(&uninitialized) {
			return out
		}
	}
	taints = append(taints, uninitialized)
	out.JoinConfiguration.NodeRegistration.Taints = &taints
	return out
}

func injected(w World) kubeadm.Injected {
	in := kubeadm.Injected{ClusterName: w.Cluster.Name, KubernetesVersion: version(w), ServiceDomain: w.Cluster.Spec.ClusterNetwork.ServiceDomain,
		PodCIDRs: w.Cluster.Spec.ClusterNetwork.Pods.CIDRBlocks, ServiceCIDRs: w.Cluster.Spec.ClusterNetwork.Services.CIDRBlocks}
	if e := w.Cluster.Spec.ControlPlaneEndpoint; e.Host != "" {
		in.ControlPlaneEndpoint = kubeconfig.Server(e)[len("https://"):]
	}
	return in
}

// files are the key pairs as the control plane machine needs them on its disk; a half that does not exist is not written.
func files(set []certificates.Entry) []bootstrapv1.File {
	var out []bootstrapv1.File
	for _, e := range set {
		if e.Pair == nil {
			continue
		}
		if len(e.Pair.Cert) > 0 && e.CertFile != "" {
			out = append(out, bootstrapv1.File{Path: e.CertFile, Owner: "root:root", Permissions: "0640", Content: string(e.Pair.Cert)})
		}
		if len(e.Pair.Key) > 0 && e.KeyFile != "" {
			out = append(out, bootstrapv1.File{Path: e.KeyFile, Owner: "root:root", Permissions: "0600", Content: string(e.Pair.Key)})
		}
	}
	return out
}

// certificateSet lists the key pairs that a config's machine needs.
func certificateSet(w World) []certificates.Entry {
	spec := w.Config.Spec.ClusterConfiguration
	if !controlPlane(w) {
		return []certificates.Entry{{Purpose: certificates.ClusterCA}}
	}
	var external *certificates.ExternalEtcd
	if e := spec.Etcd.External; len(e.Endpoints) > 0 {
		external = &certificates.ExternalEtcd{CAFile: e.CAFile, CertFile: e.CertFile, KeyFile: e.KeyFile}
	}
	return certificates.ForControlPlane(spec.CertificatesDir, external)
}

// discoveryKubeconfig is the file of discovery by kubeconfig, with the cluster's address and authority filled in.
func discoveryKubeconfig(w World, spec *bootstrapv1.KubeadmConfigSpec) (*bootstrapv1.File, error) {
	file := spec.JoinConfiguration.Discovery.File
	user := file.KubeConfig.User
	if StageOf(w) == InitControlPlane || file.KubeConfigPath == "" || (user.Exec.Command == "" && user.AuthProvider.Name == "") {
		return nil, nil
	}
	cluster := &clientcmdapi.Cluster{Server: file.KubeConfig.Cluster.Server, TLSServerName: file.KubeConfig.Cluster.TLSServerName, ProxyURL: file.KubeConfig.Cluster.ProxyURL,
		InsecureSkipTLSVerify: isTrue(file.KubeConfig.Cluster.InsecureSkipTLSVerify), CertificateAuthorityData: file.KubeConfig.Cluster.CertificateAuthorityData}
	if cluster.Server == "" {
		cluster.Server = kubeconfig.Server(w.Cluster.Spec.ControlPlaneEndpoint)
	}
	if ca := certificates.Find(w.Certificates.Set, certificates.ClusterCA); len(cluster.CertificateAuthorityData) == 0 && ca != nil && !cluster.InsecureSkipTLSVerify {
		cluster.CertificateAuthorityData = ca.Cert
	}
	const name = "default"
	content, err := clientcmd.Write(clientcmdapi.Config{Clusters: map[string]*clientcmdapi.Cluster{name: cluster}, AuthInfos: map[string]*clientcmdapi.AuthInfo{name: authInfo(user)},
		Contexts: map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}}, CurrentContext: name})
	if err != nil {
		return nil, fmt.Errorf("writing discovery kubeconfig: %w", err)
	}
	return &bootstrapv1.File{Path: file.KubeConfigPath, Owner: "root:root", Permissions: "0640", Content: string(content)}, nil
}

func authInfo(user bootstrapv1.FileDiscoveryKubeConfigUser) *clientcmdapi.AuthInfo {
	if user.AuthProvider.Name != "" {
		return &clientcmdapi.AuthInfo{AuthProvider: &clientcmdapi.AuthProviderConfig{Name: user.AuthProvider.Name, Config: user.AuthProvider.Config}}
	}
	exec := &clientcmdapi.ExecConfig{Command: user.Exec.Command, Args: user.Exec.Args, APIVersion: user.Exec.APIVersion,
		ProvideClusterInfo: isTrue(user.Exec.ProvideClusterInfo), InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
	if exec.APIVersion == "" {
		exec.APIVersion = "client.authentication.k8s.io/v1"
	}
	for _, e := range user.Exec.Env {
		exec.Env = append(exec.Env, clientcmdapi.ExecEnvVar{Name: e.Name, Value: e.Value})
	}
	return &clientcmdapi.AuthInfo{Exec: exec}
}

func publicKeyHash(info []byte) string {
	sum := sha256.Sum256(info)
	return "sha256:" + hex.EncodeToString(sum[:])
}
