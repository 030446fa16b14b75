package kubeadm

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ptr[T any](v T) *T { return &v }

// Conformance: KB-02, KB-10
func TestAPIVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.21.9": "", "v1.22.0-alpha.1": v1beta3, "v1.22.0": v1beta3, "1.30.4": v1beta3, "v1.30": v1beta3, "v1.31.0-rc.1": v1beta4, "v1.31.0": v1beta4,
		"v1.37.2+vendor": v1beta4, "v2.1.0": v1beta4, "": "", "latest": "",
	} {
		got, err := APIVersion(version)
		assert.Equal(t, want, got, version)
		assert.Equal(t, want == "", err != nil, version)
	}
}

func args(pairs ...string) (out []bootstrapv1.Arg) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, bootstrapv1.Arg{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

// full uses every field of the mapping.
func full() *bootstrapv1.KubeadmConfigSpec {
	env := []corev1.EnvVar{{Name: "TZ", Value: "UTC"}}
	volumes := []bootstrapv1.HostPathMount{{Name: "audit", HostPath: "/var/log/a", MountPath: "/var/log/a", PathType: "DirectoryOrCreate", ReadOnly: ptr(false)}}
	timeouts := bootstrapv1.Timeouts{ControlPlaneComponentHealthCheckSeconds: ptr(int32(300)), KubeletHealthCheckSeconds: ptr(int32(120)), KubernetesAPICallSeconds: ptr(int32(60)),
		EtcdAPICallSeconds: ptr(int32(90)), TLSBootstrapSeconds: ptr(int32(240)), DiscoverySeconds: ptr(int32(360))}
	node := bootstrapv1.NodeRegistrationOptions{Name: "n", CRISocket: "unix:///run/containerd/containerd.sock", IgnorePreflightErrors: []string{"NumCPU"}, ImagePullPolicy: "IfNotPresent",
		ImagePullSerial: ptr(false), KubeletExtraArgs: args("v", "2", "node-labels", "a=b"), Taints: &[]corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}}
	s := &bootstrapv1.KubeadmConfigSpec{}
	s.ClusterConfiguration = bootstrapv1.ClusterConfiguration{
		APIServer:         bootstrapv1.APIServer{CertSANs: []string{"example.org"}, ExtraArgs: args("v", "4", "audit-log-path", "-"), ExtraEnvs: env, ExtraVolumes: volumes},
		ControllerManager: bootstrapv1.ControllerManager{ExtraArgs: args("bind-address", "0.0.0.0"), ExtraEnvs: env, ExtraVolumes: volumes},
		Scheduler:         bootstrapv1.Scheduler{ExtraArgs: args("profiling", ""), ExtraEnvs: env, ExtraVolumes: volumes},
		Etcd: bootstrapv1.Etcd{Local: bootstrapv1.LocalEtcd{DataDir: "/var/lib/etcd", ExtraArgs: args("quota-backend-bytes", "4"), ExtraEnvs: env, ImageRepository: "registry.example.org",
			ImageTag: "3.6.5-0", PeerCertSANs: []string{"p"}, ServerCertSANs: []string{"s"}}},
		DNS:             bootstrapv1.DNS{ImageRepository: "registry.example.org/coredns", ImageTag: "v1.14.6"},
		CertificatesDir: "/etc/kubernetes/pki", ImageRepository: "registry.example.org", FeatureGates: map[string]bool{"RootlessControlPlane": false},
		CertificateValidityPeriodDays: 365, CACertificateValidityPeriodDays: 3650, EncryptionAlgorithm: bootstrapv1.EncryptionAlgorithmECDSAP256,
	}
	s.InitConfiguration = bootstrapv1.InitConfiguration{
		BootstrapTokens: []bootstrapv1.BootstrapToken{{Token: "abcdef.0123456789abcdef", Description: "d", TTLSeconds: ptr(int32(3600)), Usages: []string{"signing", "authentication"},
			Groups: []string{"system:bootstrappers:x"}}},
		LocalAPIEndpoint: bootstrapv1.LocalAPIEndpoint{AdvertiseAddress: "10.0.0.1", BindPort: 6443}, NodeRegistration: node, Patches: bootstrapv1.Patches{Directory: "/p"},
		SkipPhases: []string{"addon/kube-proxy"}, Timeouts: timeouts,
	}
	s.JoinConfiguration = bootstrapv1.JoinConfiguration{
		CACertPath: "/etc/kubernetes/pki/ca.crt", ControlPlane: &bootstrapv1.JoinControlPlane{LocalAPIEndpoint: bootstrapv1.LocalAPIEndpoint{AdvertiseAddress: "10.0.0.2", BindPort: 6443}},
		Discovery: bootstrapv1.Discovery{TLSBootstrapToken: "abcdef.0123456789abcdef", BootstrapToken: bootstrapv1.BootstrapTokenDiscovery{APIServerEndpoint: "10.0.0.9:6443",
			Token: "abcdef.0123456789abcdef", CACertHashes: []string{"sha256:" + strings.Repeat("ab", 32)}}},
		NodeRegistration: node, Patches: bootstrapv1.Patches{Directory: "/p"}, SkipPhases: []string{"preflight"}, Timeouts: timeouts,
	}
	return s
}

// fileSpec joins by a file instead of a token.
func fileSpec() *bootstrapv1.KubeadmConfigSpec {
	s := &bootstrapv1.KubeadmConfigSpec{}
	s.JoinConfiguration.Discovery.File.KubeConfigPath = "/etc/kubernetes/discovery.conf"
	s.JoinConfiguration.Discovery.File.KubeConfig.User.Exec.Command = "aws"
	return s
}

func injectedFor(version string) Injected {
	return Injected{ClusterName: "c", KubernetesVersion: version, ControlPlaneEndpoint: "10.0.0.9:6443", ServiceDomain: "cluster.local", PodCIDRs: []string{"10.1.0.0/16", "fd00::/48"},
		ServiceCIDRs: []string{"10.2.0.0/16"}}
}

type renderer func(*bootstrapv1.KubeadmConfigSpec, Injected) (string, error)

const (
	recent = "v1.37.2"
	old    = "v1.30.0"
)

var documents = []struct {
	name    string
	render  renderer
	spec    *bootstrapv1.KubeadmConfigSpec
	version string
}{
	{"init-v1beta4", Init, full(), recent}, {"join-v1beta4", Join, full(), recent}, {"init-v1beta3", Init, full(), old}, {"join-v1beta3", Join, full(), old},
	{"init-empty", Init, &bootstrapv1.KubeadmConfigSpec{}, recent}, {"join-file", Join, fileSpec(), recent}, {"join-file-v1beta3", Join, fileSpec(), old},
}

func write(t testing.TB, render renderer, s *bootstrapv1.KubeadmConfigSpec, version string) string {
	t.Helper()
	out, err := render(s, injectedFor(version))
	require.NoError(t, err)
	return out
}

// Conformance: KB-13
func TestGolden(t *testing.T) {
	for _, d := range documents {
		path, got := filepath.Join("testdata", d.name+".yaml"), write(t, d.render, d.spec, d.version)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), got, "run the test with -update if the change is wanted")
	}
}

// kubeadmOf is the real kubeadm of a version, "" if it has not been built.
func kubeadmOf(t *testing.T, version string) string {
	t.Helper()
	cache := os.Getenv("SLIPWAY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		require.NoError(t, err)
		cache = filepath.Join(user, "slipway")
	}
	program := filepath.Join(cache, "kubernetes", version, "kubeadm")
	if _, err := os.Stat(program); err != nil {
		return ""
	}
	return program
}

// TestKubeadmAcceptsTheDocuments asks the real kubeadm, which `make binaries` builds.
//
// Conformance: KB-10
func TestKubeadmAcceptsTheDocuments(t *testing.T) {
	program := kubeadmOf(t, recent)
	require.NotEmpty(t, program, "kubeadm has not been built: run `make binaries`")
	judged(t, program, recent)
}

// TestOldKubeadmAcceptsTheDocuments asks the last kubeadm that knows nothing newer than v1beta3. It is not among what
// `make binaries` builds; where its presence is promised (SLIPWAY_REQUIRE_OLD_KUBEADM), its absence is a failure.
//
// Conformance: KB-10
func TestOldKubeadmAcceptsTheDocuments(t *testing.T) {
	const version = "v1.30.14"
	program := kubeadmOf(t, version)
	if program == "" {
		const how = "kubeadm " + version + " has not been built: run `bin/slipway binaries --version v1.30 kubeadm`"
		require.Empty(t, os.Getenv("SLIPWAY_REQUIRE_OLD_KUBEADM"), how)
		t.Skip(how + "; SLIPWAY_REQUIRE_OLD_KUBEADM=1 makes this a failure")
	}
	judged(t, program, old)
}

// judged gives a kubeadm the documents that are written for its version.
func judged(t *testing.T, program, version string) {
	t.Helper()
	for _, d := range documents {
		if d.version != version {
			continue
		}
		dir := t.TempDir()
		path, discovery := filepath.Join(dir, "kubeadm.yaml"), filepath.Join(dir, "discovery.conf")
		require.NoError(t, os.WriteFile(discovery, nil, 0o600)) // kubeadm wants the file to exist
		text := strings.ReplaceAll(write(t, d.render, d.spec, d.version), "/etc/kubernetes/discovery.conf", discovery)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		out, err := exec.Command(program, "config", "validate", "--config", path).CombinedOutput()
		require.NoError(t, err, "%s: %s", d.name, out)
	}
}

func parse(t testing.TB, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for part := range strings.SplitSeq(text, "---\n") {
		var m map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(part), &m))
		out = append(out, m)
	}
	return out
}

// at follows a path of keys.
func at(m any, path ...string) any {
	for _, k := range path {
		object, ok := m.(map[string]any)
		if !ok {
			return nil
		}
		m = object[k]
	}
	return m
}

// Conformance: KB-13
func TestTaintsKeepTheirDifference(t *testing.T) {
	for name, row := range map[string]struct {
		taints *[]corev1.Taint
		want   any
	}{
		"absent is kubeadm's default": {nil, nil},
		"empty is none":               {&[]corev1.Taint{}, []any{}},
		"one":                         {&[]corev1.Taint{{Key: "k", Effect: "NoSchedule"}}, []any{map[string]any{"key": "k", "effect": "NoSchedule"}}},
	} {
		s := &bootstrapv1.KubeadmConfigSpec{}
		s.JoinConfiguration.NodeRegistration.Taints = row.taints
		node, ok := at(parse(t, write(t, Join, s, recent))[0], "nodeRegistration").(map[string]any)
		require.True(t, ok, name)
		got, present := node["taints"]
		assert.True(t, present, name)
		assert.Equal(t, row.want, got, name)
	}
}

// Conformance: KB-11
func TestInjected(t *testing.T) {
	s := &bootstrapv1.KubeadmConfigSpec{}
	cluster := parse(t, write(t, Init, s, recent))[0]
	assert.Equal(t, "c", cluster["clusterName"])
	assert.Equal(t, "10.0.0.9:6443", cluster["controlPlaneEndpoint"])
	assert.Equal(t, map[string]any{"dnsDomain": "cluster.local", "podSubnet": "10.1.0.0/16,fd00::/48", "serviceSubnet": "10.2.0.0/16"}, cluster["networking"])

	s.ClusterConfiguration.ControlPlaneEndpoint = "mine:443"
	out, err := Init(s, Injected{ClusterName: "c", KubernetesVersion: recent, ControlPlaneEndpoint: "10.0.0.9:6443"})
	require.NoError(t, err)
	cluster = parse(t, out)[0]
	assert.Equal(t, "mine:443", cluster["controlPlaneEndpoint"], "KB-11: what the user gave wins")
	assert.NotContains(t, cluster, "networking")
}

// Conformance: KB-10
func TestOldKubeadm(t *testing.T) {
	s := full()
	s.ClusterConfiguration.APIServer.ExtraArgs = args("a", "1", "a", "2", "b", "")
	out := write(t, Init, s, old)
	cluster, init := parse(t, out)[0], parse(t, out)[1]
	assert.Equal(t, map[string]any{"a": "2", "b": ""}, at(cluster, "apiServer", "extraArgs"), "of a repeated name the last wins")
	assert.Equal(t, "300s", at(cluster, "apiServer", "timeoutForControlPlane"))
	for _, gone := range []string{"certificateValidityPeriod", "caCertificateValidityPeriod", "encryptionAlgorithm"} {
		assert.NotContains(t, cluster, gone)
	}
	assert.NotContains(t, init, "timeouts")
	assert.NotContains(t, out, "extraEnvs")
	assert.NotContains(t, out, "imagePullSerial")
	assert.Equal(t, "240s", at(parse(t, write(t, Join, s, old))[0], "discovery", "timeout"))
}

// Conformance: KB-12
func TestOnlyFieldsOfKubeadmAreWritten(t *testing.T) {
	doc := parse(t, write(t, Join, fileSpec(), recent))[0]
	assert.Equal(t, map[string]any{"kubeConfigPath": "/etc/kubernetes/discovery.conf"}, at(doc, "discovery", "file"), "discovery.file.kubeConfig is not kubeadm's")
	for _, absent := range []string{"timeouts", "patches", "controlPlane"} {
		assert.NotContains(t, doc, absent)
	}
	for _, d := range documents {
		text := write(t, d.render, d.spec, d.version)
		for _, absent := range []string{"dryRun:", "certificateKey:", "proxy:", "disabled:", "upgradeManifests:", "kubeConfig:"} {
			assert.NotContains(t, text, absent, "%s: no field of ours says it", d.name)
		}
	}
	s := &bootstrapv1.KubeadmConfigSpec{}
	s.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
	assert.Equal(t, map[string]any{}, at(parse(t, write(t, Join, s, recent))[0], "controlPlane"), "an empty object makes it a control plane node")
}

func TestInputStays(t *testing.T) {
	s := full()
	for _, version := range []string{old, recent} {
		write(t, Init, s, version)
		write(t, Join, s, version)
	}
	assert.Equal(t, full(), s)
	for _, render := range []renderer{Init, Join} {
		_, err := render(s, Injected{KubernetesVersion: "v1.21.0"})
		require.ErrorContains(t, err, "the oldest is 1.22.0")
	}
}

func TestLifetimeOfTokens(t *testing.T) {
	s := full()
	s.InitConfiguration.BootstrapTokens[0].Expires = metav1.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	tokens, ok := at(parse(t, write(t, Init, s, recent))[1], "bootstrapTokens").([]any)
	require.True(t, ok)
	assert.Equal(t, "2030-01-02T03:04:05Z", at(tokens[0], "expires"))
	assert.Equal(t, "3600s", at(tokens[0], "ttl"))
	assert.Nil(t, at(tokens[0], "ttlSeconds"))
}

func FuzzJoin(f *testing.F) {
	for _, s := range []string{"", "n", "{{ ds.meta_data.local_hostname }}", "a: b", "- x", "'\"", "yes", "0x1", "é\t\n", "#", "{", "&a", "---", "1e3", "null", "<<", " \n x"} {
		f.Add(s, s, int32(1), true)
		f.Add(s, s, int32(90), false)
	}
	f.Fuzz(func(t *testing.T, name, value string, n int32, before131 bool) {
		name, value = strings.ToValidUTF8(name, "?"), strings.ToValidUTF8(value, "?")
		version := recent
		if before131 {
			version = old
		}
		s := &bootstrapv1.KubeadmConfigSpec{}
		s.JoinConfiguration.NodeRegistration = bootstrapv1.NodeRegistrationOptions{Name: name, KubeletExtraArgs: args("k", value)}
		s.JoinConfiguration.Timeouts.TLSBootstrapSeconds = &n
		var doc map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(write(t, Join, s, version)), &doc))
		if name != "" {
			assert.Equal(t, name, at(doc, "nodeRegistration", "name"))
		}
		want := any([]any{map[string]any{"name": "k", "value": value}})
		if before131 {
			want = map[string]any{"k": value}
		}
		assert.Equal(t, want, at(doc, "nodeRegistration", "kubeletExtraArgs"))
	})
}
