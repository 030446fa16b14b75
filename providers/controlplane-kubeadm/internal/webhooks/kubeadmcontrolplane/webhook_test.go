package kubeadmcontrolplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

type cp = controlplanev1.KubeadmControlPlane

func valid() *cp {
	c := &cp{ObjectMeta: metav1.ObjectMeta{Name: "cp"}}
	c.Spec.Version = "v1.37.2"
	c.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "XTemplate", Name: "n"}
	c.Spec.KubeadmConfigSpec.ClusterConfiguration.ImageRepository = "r"
	c.Spec.KubeadmConfigSpec.InitConfiguration.SkipPhases = []string{"a"}
	SetDefaults(c)
	return c
}

func dnsTag(c *cp, tag string) { c.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = tag }

func number32(n int32) *int32 { return &n }

func surge(value intstr.IntOrString) func(*cp) {
	return func(c *cp) { c.Spec.Rollout.Strategy.RollingUpdate.MaxSurge = &value }
}

func inPlace(policy string) func(*cp) {
	return func(c *cp) { c.Annotations = map[string]string{clusterv1.InPlaceUpdatesAnnotation: policy} }
}

// Conformance: CP-90
func TestDefaults(t *testing.T) {
	c := &cp{}
	c.Spec.Version = "1.37.2"
	SetDefaults(c)
	assert.Equal(t, int32(1), *c.Spec.Replicas)
	assert.Equal(t, "v1.37.2", c.Spec.Version)
	assert.Equal(t, "RollingUpdate", c.Spec.Rollout.Strategy.Type)
	assert.Equal(t, "1", c.Spec.Rollout.Strategy.RollingUpdate.MaxSurge.String())
	again := c.DeepCopy()
	SetDefaults(again)
	assert.Equal(t, c, again)
}

// Conformance: CP-91
func TestValidate(t *testing.T) {
	taint := func(key string) func(*cp) {
		return func(c *cp) {
			c.Spec.MachineTemplate.Spec.Taints = []clusterv1.MachineTaint{{Key: key, Effect: "NoSchedule", Propagation: "Always"}}
		}
	}
	all := Options{TaintPropagation: true, Ignition: true}
	const config = "spec.kubeadmConfigSpec."
	for _, row := range []struct {
		name    string
		change  func(*cp)
		options Options
		want    []string
	}{
		{"valid", func(*cp) {}, Options{}, nil},
		{"three", func(c *cp) { c.Spec.Replicas = number32(3) }, Options{}, nil},
		{"replicas unset", func(c *cp) { c.Spec.Replicas = nil }, Options{}, []string{"spec.replicas"}},
		{"zero", func(c *cp) { c.Spec.Replicas = number32(0) }, Options{}, []string{"spec.replicas"}},
		{"even", func(c *cp) { c.Spec.Replicas = number32(2) }, Options{}, []string{"spec.replicas"}},
		{"even with external etcd", func(c *cp) {
			c.Spec.Replicas = number32(2)
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External.Endpoints = []string{"https://e"}
		}, Options{}, nil},
		{"version", func(c *cp) { c.Spec.Version = "v1.37" }, Options{}, []string{"spec.version"}},
		{"reference", func(c *cp) {
			c.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{}
		}, Options{}, []string{
			"spec.machineTemplate.spec.infrastructureRef.apiGroup", "spec.machineTemplate.spec.infrastructureRef.kind",
			"spec.machineTemplate.spec.infrastructureRef.name",
		}},
		{"surge 2", surge(intstr.FromInt32(2)), Options{}, []string{"spec.rollout.strategy.rollingUpdate.maxSurge"}},
		{"surge 0 with one", surge(intstr.FromInt32(0)), Options{}, []string{"spec.rollout.strategy.rollingUpdate.maxSurge"}},
		{"surge text", surge(intstr.FromString("1")), Options{}, nil},
		{"surge 0 with three", func(c *cp) { c.Spec.Replicas = number32(3); surge(intstr.FromInt32(0))(c) }, Options{}, nil},
		{"certificates outlive authorities", func(c *cp) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.CACertificateValidityPeriodDays = 10
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.CertificateValidityPeriodDays = 11
		}, Options{}, []string{config + "clusterConfiguration.certificateValidityPeriodDays"}},
		{"always about to expire", func(c *cp) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.CertificateValidityPeriodDays = 30
			c.Spec.Rollout.Before.CertificatesExpiryDays = 30
		}, Options{}, []string{"spec.rollout.before.certificatesExpiryDays"}},
		{"name without random", func(c *cp) { c.Spec.MachineNaming.Template = "x" }, Options{}, []string{"spec.machineNaming.template"}},
		{"name with capitals", func(c *cp) { c.Spec.MachineNaming.Template = "X-{{ .random }}" }, Options{}, []string{"spec.machineNaming.template"}},
		{"name with unknown key", func(c *cp) { c.Spec.MachineNaming.Template = "{{ .x.y }}{{ .random }}" }, Options{}, []string{"spec.machineNaming.template"}},
		{"dns tag", func(c *cp) { c.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1/2" }, Options{}, []string{config + "clusterConfiguration.dns.imageTag"}},
		{"dns tag is no version", func(c *cp) { c.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "latest" }, Options{}, []string{config + "clusterConfiguration.dns.imageTag"}},
		{"dns tag with suffix", func(c *cp) { c.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.6.2_foo.1" }, Options{}, nil},
		{"both etcds", func(c *cp) {
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External.Endpoints = []string{"https://e"}
			c.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.Local.ImageTag = "3.7"
		}, Options{}, []string{config + "clusterConfiguration.etcd.local"}},
		{"in place where possible", inPlace("Prefer"), Options{}, nil},
		{"in place, never", inPlace("Never"), Options{}, nil},
		{"in place, required", inPlace("Require"), Options{}, nil},
		{"in place, misspelt", inPlace("prefer"), Options{}, []string{"metadata.annotations[slipway.dev/in-place-updates]"}},
		{"taints without gate", taint("a"), Options{}, []string{"spec.machineTemplate.spec.taints"}},
		{"taints", taint("a"), all, nil},
		{"out of service", taint("node.kubernetes.io/out-of-service"), all, nil},
		{"not ready", taint("node.kubernetes.io/not-ready"), all, []string{"spec.machineTemplate.spec.taints[0].key"}},
		{"uninitialized", taint("node.cluster.x-k8s.io/uninitialized"), all, []string{"spec.machineTemplate.spec.taints[0].key"}},
		{"bad label", func(c *cp) { c.Spec.MachineTemplate.Metadata.Labels = map[string]string{"a b": "c"} }, Options{}, []string{"spec.machineTemplate.metadata.labels"}},
		{"content twice", func(c *cp) {
			c.Spec.KubeadmConfigSpec.Files = []bootstrapv1.File{{Path: "/a", Content: "x", ContentFrom: bootstrapv1.FileSource{Secret: bootstrapv1.SecretKeySource{Name: "n", Key: "k"}}}}
		}, Options{}, []string{config + "files[0]"}},
		{"path twice", func(c *cp) {
			c.Spec.KubeadmConfigSpec.Files = []bootstrapv1.File{{Path: "/a"}, {Path: "/a"}}
		}, Options{}, []string{config + "files[1].path"}},
		{"ignition without gate", func(c *cp) { c.Spec.KubeadmConfigSpec.Format = "ignition" }, Options{}, []string{config + "format"}},
		{"ignition with boot commands", func(c *cp) {
			c.Spec.KubeadmConfigSpec.Format = "ignition"
			c.Spec.KubeadmConfigSpec.BootCommands = []string{"x"}
		}, all, []string{config + "bootCommands"}},
		{"timeouts differ", func(c *cp) {
			c.Spec.KubeadmConfigSpec.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = number32(1)
		}, Options{}, []string{
			config + "initConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds",
			config + "joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds",
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := valid()
			row.change(c)
			var got []string
			for _, problem := range Validate(c, row.options) {
				got = append(got, problem.Field)
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// Conformance: CP-90, CP-91
func TestValidateUpdate(t *testing.T) {
	const config = "spec.kubeadmConfigSpec."
	for _, row := range []struct {
		name   string
		change func(before, after *cp)
		want   []string
	}{
		{"nothing", func(_, _ *cp) {}, nil},
		{"scale", func(_, after *cp) { after.Spec.Replicas = number32(3) }, nil},
		{"patch version", func(_, after *cp) { after.Spec.Version = "v1.37.3" }, nil},
		{"next minor", func(_, after *cp) { after.Spec.Version = "v1.38.0" }, nil},
		{"two minors", func(_, after *cp) { after.Spec.Version = "v1.39.0" }, []string{"spec.version"}},
		{"downgrade", func(before, after *cp) {
			before.Status.Versions = []clusterv1.StatusVersion{{Version: "v1.37.2"}}
			after.Spec.Version = "v1.36.0"
		}, []string{"spec.version"}},
		{"back from an unfinished upgrade", func(before, after *cp) {
			before.Status.Versions = []clusterv1.StatusVersion{{Version: "v1.36.0"}, {Version: "v1.37.2"}}
			after.Spec.Version = "v1.36.0"
		}, nil},
		{"next minor while machines still run the last one", func(before, after *cp) {
			before.Status.Versions = []clusterv1.StatusVersion{{Version: "v1.36.0"}, {Version: "v1.37.2"}}
			after.Spec.Version = "v1.38.0"
		}, []string{"spec.version"}},
		{"CoreDNS upgrade", func(before, after *cp) { dnsTag(before, "v1.14.4"); dnsTag(after, "v1.14.6") }, nil},
		{"CoreDNS set for the first time", func(_, after *cp) { dnsTag(after, "v1.14.6") }, nil},
		{"CoreDNS downgrade", func(before, after *cp) { dnsTag(before, "v1.14.6"); dnsTag(after, "v1.14.4") },
			[]string{config + "clusterConfiguration.dns.imageTag"}},
		{"CoreDNS version that nobody knows", func(before, after *cp) { dnsTag(before, "v1.14.4"); dnsTag(after, "v9.0.0") },
			[]string{config + "clusterConfiguration.dns.imageTag"}},
		{"CoreDNS is the user's", func(before, after *cp) {
			dnsTag(before, "v1.14.6")
			dnsTag(after, "v1.14.4")
			after.Annotations = map[string]string{controlplanev1.SkipCoreDNSAnnotation: ""}
		}, nil},
		{"files, etcd, gates, arguments", func(_, after *cp) {
			after.Spec.KubeadmConfigSpec.Files = []bootstrapv1.File{{Path: "/a"}}
			after.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.Local.ImageTag = "3.7"
			after.Spec.KubeadmConfigSpec.ClusterConfiguration.FeatureGates = map[string]bool{"a": true}
			after.Spec.KubeadmConfigSpec.JoinConfiguration.SkipPhases = []string{"b"}
		}, nil},
		{"certificate directory", func(_, after *cp) { after.Spec.KubeadmConfigSpec.ClusterConfiguration.CertificatesDir = "/x" },
			[]string{config + "clusterConfiguration.certificatesDir"}},
		{"endpoint", func(_, after *cp) { after.Spec.KubeadmConfigSpec.ClusterConfiguration.ControlPlaneEndpoint = "x:1" },
			[]string{config + "clusterConfiguration.controlPlaneEndpoint"}},
		{"authority validity", func(_, after *cp) {
			after.Spec.KubeadmConfigSpec.ClusterConfiguration.CACertificateValidityPeriodDays = 5
		},
			[]string{config + "clusterConfiguration.caCertificateValidityPeriodDays"}},
		{"cluster configuration removed", func(_, after *cp) {
			after.Spec.KubeadmConfigSpec.ClusterConfiguration = bootstrapv1.ClusterConfiguration{}
		}, []string{config + "clusterConfiguration"}},
		{"init configuration removed", func(_, after *cp) {
			after.Spec.KubeadmConfigSpec.InitConfiguration = bootstrapv1.InitConfiguration{}
		}, []string{config + "initConfiguration"}},
		{"to external etcd", func(_, after *cp) {
			after.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External.Endpoints = []string{"https://e"}
		}, []string{config + "clusterConfiguration.etcd"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			before, after := valid(), valid()
			row.change(before, after)
			var got []string
			for _, problem := range ValidateUpdate(before, after, Options{}) {
				got = append(got, problem.Field)
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// Conformance: KB-15
func TestWarnings(t *testing.T) {
	warningsOf := func(version string, algorithm string) []string {
		controlPlane := valid()
		controlPlane.Spec.Version = version
		controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.EncryptionAlgorithm = algorithm
		created, err := Webhook{}.ValidateCreate(t.Context(), controlPlane)
		require.NoError(t, err)
		updated, err := Webhook{}.ValidateUpdate(t.Context(), valid(), controlPlane)
		_ = err // whether the change is allowed is another question
		assert.Equal(t, created, updated)
		unchanged, err := Webhook{}.ValidateUpdate(t.Context(), controlPlane, controlPlane)
		require.NoError(t, err)
		assert.Empty(t, unchanged, "nobody is told again at each write of a status")
		return created
	}
	assert.Empty(t, warningsOf("v1.37.2", bootstrapv1.EncryptionAlgorithmECDSAP384))
	assert.Equal(t, []string{"spec.kubeadmConfigSpec.clusterConfiguration.encryptionAlgorithm: kubeadm of Kubernetes v1.33.1 does not know this value, so its machines will not start"},
		warningsOf("v1.33.1", bootstrapv1.EncryptionAlgorithmECDSAP384))
	assert.Equal(t, []string{"spec.kubeadmConfigSpec.clusterConfiguration.encryptionAlgorithm: kubeadm of Kubernetes v1.30.1 ignores it"},
		warningsOf("v1.30.1", bootstrapv1.EncryptionAlgorithmRSA4096))
}

func TestAnUpgradeThatLeavesCoreDNSBehindIsTold(t *testing.T) {
	tell := func(version, tag string, annotations map[string]string) []string {
		before := valid()
		before.Spec.Version = "v1.36.3"
		after := before.DeepCopy()
		after.Spec.Version, after.Annotations = version, annotations
		after.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = tag
		warnings, err := Webhook{}.ValidateUpdate(t.Context(), before, after)
		require.NoError(t, err)
		return warnings
	}
	told := tell("v1.37.2", "", nil)
	require.Len(t, told, 1)
	assert.Contains(t, told[0], "clusterConfiguration.dns.imageTag: CoreDNS stays at its version")
	assert.Contains(t, told[0], "kubeadm config images list --kubernetes-version v1.37.2")
	assert.Empty(t, tell("v1.37.2", "v1.14.6", nil), "it moves, too")
	assert.Empty(t, tell("v1.36.4", "", nil), "a patch version")
	assert.Empty(t, tell("v1.37.2", "", map[string]string{controlplanev1.SkipCoreDNSAnnotation: ""}), "the user takes care of it")
}

// TestPolicyOfUpdatesInPlace: it is judged when it changes, also without a change of the spec; what is stored stays deletable.
func TestPolicyOfUpdatesInPlace(t *testing.T) {
	plain, misspelt, required := valid(), valid(), valid()
	inPlace("prefer")(misspelt)
	inPlace(clusterv1.InPlaceUpdatesRequire)(required)
	_, err := Webhook{}.ValidateUpdate(t.Context(), plain, misspelt)
	require.ErrorContains(t, err, "metadata.annotations[slipway.dev/in-place-updates]")
	for _, change := range [][2]*cp{{misspelt, misspelt}, {misspelt, plain}, {plain, required}} {
		_, err = Webhook{}.ValidateUpdate(t.Context(), change[0], change[1])
		require.NoError(t, err)
	}
}
