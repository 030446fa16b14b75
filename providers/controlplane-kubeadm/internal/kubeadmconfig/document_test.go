package kubeadmconfig

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// written is what kubeadm init 1.37 leaves behind.
const written = `apiServer: {}
apiVersion: kubeadm.k8s.io/v1beta4
caCertificateValidityPeriod: 87600h0m0s
certificateValidityPeriod: 8760h0m0s
certificatesDir: /etc/kubernetes/pki
clusterName: c1
controlPlaneEndpoint: 10.0.0.9:6443
controllerManager: {}
dns: {}
encryptionAlgorithm: RSA-2048
etcd:
  local:
    dataDir: /var/lib/etcd
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.36.2
networking:
  dnsDomain: cluster.local
  podSubnet: 10.1.0.0/16
proxy: {}
scheduler: {}
`

// older is what kubeadm init 1.30 leaves behind.
const older = `apiServer:
  extraArgs:
    audit-log-path: "-"
    v: "2"
  timeoutForControlPlane: 4m0s
apiVersion: kubeadm.k8s.io/v1beta3
controllerManager:
  extraArgs: {}
etcd:
  local:
    dataDir: /var/lib/etcd
    extraArgs:
      quota-backend-bytes: "8"
kind: ClusterConfiguration
kubernetesVersion: v1.30.1
theirs: kept
`

func parsed(t *testing.T, document string) map[string]any {
	t.Helper()
	found := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(document), &found))
	return found
}

func update(t *testing.T, document string, wanted Wanted) map[string]any {
	t.Helper()
	text, err := Update(document, wanted)
	require.NoError(t, err)
	again, err := Update(text, wanted)
	require.NoError(t, err)
	assert.Equal(t, text, again, "the second time nothing differs")
	return parsed(t, text)
}

// with is the wanted configuration after a change.
func with(version string, change func(*bootstrapv1.ClusterConfiguration)) Wanted {
	wanted := Wanted{Version: version, Configuration: &bootstrapv1.ClusterConfiguration{}}
	if change != nil {
		change(wanted.Configuration)
		wanted.Gates = wanted.Configuration.FeatureGates
	}
	return wanted
}

// Conformance: CP-20
func TestUpdate(t *testing.T) {
	args := []bootstrapv1.Arg{{Name: "v", Value: "4"}, {Name: "v", Value: "5"}}
	for _, row := range []struct {
		name   string
		wanted Wanted
		change func(map[string]any)
	}{
		{"version only", Wanted{Version: "v1.37.2"}, func(map[string]any) {}},
		{"a gate of the control plane without configuration", Wanted{Version: "v1.37.2", Gates: map[string]bool{"G": true}}, func(d map[string]any) {
			d["featureGates"] = map[string]any{"G": true}
		}},
		{"defaults that are not wanted any more", with("v1.37.2", nil), func(d map[string]any) {
			delete(d, "certificateValidityPeriod")
			delete(d, "encryptionAlgorithm")
		}},
		{"everything", with("v1.37.2", func(c *bootstrapv1.ClusterConfiguration) {
			c.ImageRepository, c.EncryptionAlgorithm, c.CertificateValidityPeriodDays = "mirror", "ECDSA-P256", 30
			c.FeatureGates = map[string]bool{"G": false}
			c.APIServer.ExtraArgs, c.APIServer.CertSANs = args, []string{"example.org"}
			c.APIServer.ExtraEnvs = []corev1.EnvVar{{Name: "TZ", Value: "UTC"}}
			c.ControllerManager.ExtraVolumes = []bootstrapv1.HostPathMount{{Name: "n", HostPath: "/h", MountPath: "/m"}}
			c.Scheduler.ExtraArgs = args
			c.Etcd.Local.ImageTag, c.Etcd.Local.ExtraArgs, c.Etcd.Local.DataDir = "3.7.3-0", args, "/data"
			c.DNS.ImageTag = "v1.14.6" // belongs to the update of CoreDNS
		}), func(d map[string]any) {
			list := []any{map[string]any{"name": "v", "value": "4"}, map[string]any{"name": "v", "value": "5"}}
			d["imageRepository"], d["encryptionAlgorithm"], d["certificateValidityPeriod"] = "mirror", "ECDSA-P256", "720h0m0s"
			d["featureGates"] = map[string]any{"G": false}
			d["apiServer"] = map[string]any{"extraArgs": list, "certSANs": []any{"example.org"}, "extraEnvs": []any{map[string]any{"name": "TZ", "value": "UTC"}}}
			d["controllerManager"] = map[string]any{"extraVolumes": []any{map[string]any{"name": "n", "hostPath": "/h", "mountPath": "/m"}}}
			d["scheduler"] = map[string]any{"extraArgs": list}
			d["etcd"] = map[string]any{"local": map[string]any{"imageTag": "3.7.3-0", "extraArgs": list, "dataDir": "/data"}}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			want := parsed(t, written)
			want["kubernetesVersion"] = "v1.37.2"
			row.change(want)
			assert.Equal(t, want, update(t, written, row.wanted), "what others wrote is kept")
		})
	}
}

func TestNoDifferenceIsNoChange(t *testing.T) {
	text, err := Update(written, Wanted{Version: "v1.36.2"})
	require.NoError(t, err)
	assert.Equal(t, written, text, "byte for byte")
	text, err = Update(older, Wanted{Version: "v1.30.1"})
	require.NoError(t, err)
	assert.Equal(t, older, text, "byte for byte")
}

func TestFieldsAreTakenBack(t *testing.T) {
	rich := update(t, written, with("v1.36.2", func(c *bootstrapv1.ClusterConfiguration) {
		c.FeatureGates = map[string]bool{"G": true}
		c.APIServer.ExtraArgs = []bootstrapv1.Arg{{Name: "v", Value: "4"}}
	}))
	text, err := yaml.Marshal(rich)
	require.NoError(t, err)
	poor := update(t, string(text), with("v1.36.2", nil))
	assert.NotContains(t, poor, "featureGates")
	assert.Equal(t, map[string]any{}, poor["apiServer"])
}

func TestAPIVersionFollowsTheTarget(t *testing.T) {
	same := update(t, older, with("v1.30.2", func(c *bootstrapv1.ClusterConfiguration) {
		c.APIServer.ExtraArgs = []bootstrapv1.Arg{{Name: "v", Value: "2"}, {Name: "v", Value: "3"}}
		c.APIServer.ExtraEnvs = []corev1.EnvVar{{Name: "A"}}
		c.EncryptionAlgorithm, c.CertificateValidityPeriodDays = "ECDSA-P256", 30
	}))
	assert.Equal(t, v1beta3, same["apiVersion"])
	assert.Equal(t, map[string]any{"extraArgs": map[string]any{"v": "3"}, "timeoutForControlPlane": "4m0s"}, same["apiServer"])
	assert.NotContains(t, same, "encryptionAlgorithm")
	assert.NotContains(t, same, "certificateValidityPeriod")

	for _, version := range []string{"v1.31.0", "v1.31.0-rc.1"} {
		newer := update(t, older, Wanted{Version: version})
		assert.Equal(t, v1beta4, newer["apiVersion"])
		assert.Equal(t, map[string]any{"extraArgs": []any{
			map[string]any{"name": "audit-log-path", "value": "-"}, map[string]any{"name": "v", "value": "2"},
		}}, newer["apiServer"])
		assert.Equal(t, "kept", newer["theirs"])
		back := update(t, asText(t, newer), Wanted{Version: "v1.30.1"})
		want := parsed(t, older)
		delete(want["apiServer"].(map[string]any), "timeoutForControlPlane")
		assert.Equal(t, want, back)
	}
}

func asText(t *testing.T, document map[string]any) string {
	t.Helper()
	text, err := yaml.Marshal(document)
	require.NoError(t, err)
	return string(text)
}

func TestExternalEtcd(t *testing.T) {
	external := with("v1.37.2", func(c *bootstrapv1.ClusterConfiguration) {
		c.Etcd.External = bootstrapv1.ExternalEtcd{Endpoints: []string{"https://e:2379"}, CAFile: "/ca", CertFile: "/cert", KeyFile: "/key"}
	})
	document := "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\netcd:\n  external:\n    endpoints: [https://old:2379]\n    httpRequestTimeout: 5s\n"
	assert.Equal(t, map[string]any{"external": map[string]any{
		"endpoints": []any{"https://e:2379"}, "caFile": "/ca", "certFile": "/cert", "keyFile": "/key", "httpRequestTimeout": "5s",
	}}, update(t, document, external)["etcd"])

	_, err := Update(written, external)
	require.ErrorContains(t, err, "do not agree")
	_, err = Update(document, with("v1.37.2", nil))
	require.ErrorContains(t, err, "do not agree")
}

func TestSetDNS(t *testing.T) {
	text, err := SetDNS(written, bootstrapv1.DNS{ImageRepository: "mirror", ImageTag: "v1.14.6"})
	require.NoError(t, err)
	want := parsed(t, written)
	want["dns"] = map[string]any{"imageRepository": "mirror", "imageTag": "v1.14.6"}
	assert.Equal(t, want, parsed(t, text))
	back, err := SetDNS(text, bootstrapv1.DNS{})
	require.NoError(t, err)
	assert.Equal(t, parsed(t, written), parsed(t, back))
	same, err := SetDNS(written, bootstrapv1.DNS{})
	require.NoError(t, err)
	assert.Equal(t, written, same)
}

func TestUnreadableDocuments(t *testing.T) {
	for document, want := range map[string]string{
		"{secret": "no valid YAML", "": "API version <nil>", "apiVersion: kubeadm.k8s.io/v1beta2": "v1beta2",
	} {
		for _, try := range []func() (string, error){
			func() (string, error) { return Update(document, Wanted{Version: "v1.37.2"}) },
			func() (string, error) { return SetDNS(document, bootstrapv1.DNS{}) },
		} {
			_, err := try()
			require.ErrorContains(t, err, want)
			assert.NotContains(t, err.Error(), "secret")
		}
	}
	_, err := Update(written, Wanted{Version: "latest"})
	require.Error(t, err)
}

// The real kubeadm, which the build scripts put into the cache, reads what is written.
func TestKubeadmAcceptsTheDocument(t *testing.T) {
	root := os.Getenv("SLIPWAY_CACHE")
	if root == "" {
		home, err := os.UserCacheDir()
		require.NoError(t, err)
		root = filepath.Join(home, "slipway")
	}
	kubeadm := filepath.Join(root, "kubernetes", "v1.37.2", "kubeadm")
	require.FileExists(t, kubeadm, "build it first (make binaries)")
	text, err := Update(written, with("v1.37.2", func(c *bootstrapv1.ClusterConfiguration) {
		c.APIServer.ExtraArgs = []bootstrapv1.Arg{{Name: "v", Value: "4"}}
		c.CertificateValidityPeriodDays, c.EncryptionAlgorithm = 30, "ECDSA-P384"
		c.FeatureGates = map[string]bool{"RootlessControlPlane": false}
	}))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeadm.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	out, err := exec.Command(kubeadm, "config", "validate", "--config", path).CombinedOutput()
	require.NoError(t, err, string(out))
}
