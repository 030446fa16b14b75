package machines

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

func controlPlane() *controlplanev1.KubeadmControlPlane {
	cp := &controlplanev1.KubeadmControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cp", UID: "u"}}
	cp.Spec.Version = "v1.37.2"
	cp.Spec.MachineTemplate.Metadata = clusterv1.ObjectMeta{
		Labels:      map[string]string{"team": "a", clusterv1.ClusterNameLabel: "forged"},
		Annotations: map[string]string{"note": "b"},
	}
	return cp
}

func request() Request {
	return Request{ControlPlane: controlPlane(), Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, Name: "cp-1", FailureDomain: "fd"}
}

// Conformance: CP-01
func TestName(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, row := range []struct {
		name, template, controlPlane, want, problem string
	}{
		{"default", "", "cp", "cp-abcde", ""},
		{"custom", "{{ .cluster.name }}-m-{{ .random }}", "cp", "c-m-abcde", ""},
		{"too long", "", long, strings.Repeat("x", 58) + "abcde", ""},
		{"no random", "{{ .cluster.name }}", "cp", "", "must use"},
		{"unknown variable", "{{ .nope.name }}-{{ .random }}", "cp", "", "rendering"},
		{"broken", "{{ .random", "cp", "", "parsing"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Name(row.template, "c", row.controlPlane, "abcde")
			if row.problem != "" {
				require.ErrorContains(t, err, row.problem)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

// Conformance: CP-03
func TestMachine(t *testing.T) {
	m := Machine(request())
	assert.Equal(t, map[string]string{
		"team": "a", clusterv1.ClusterNameLabel: "c", clusterv1.MachineControlPlaneLabel: "", clusterv1.MachineControlPlaneNameLabel: "cp",
	}, m.Labels, "forced labels win")
	assert.Equal(t, map[string]string{"note": "b", CleanupHook: ""}, m.Annotations)
	assert.Equal(t, "fd", m.Spec.FailureDomain)
	assert.Nil(t, m.Spec.MinReadySeconds)
	assert.Equal(t, int32(10), *m.Spec.Deletion.NodeDeletionTimeoutSeconds)
	assert.True(t, *m.OwnerReferences[0].Controller)
	assert.Equal(t, "cp-1", m.Spec.Bootstrap.ConfigRef.Name)
}

// Conformance: CP-04
func TestReadinessGates(t *testing.T) {
	cp := controlPlane()
	cp.Spec.MachineTemplate.Spec.ReadinessGates = []clusterv1.ClusterAvailabilityGate{
		{ConditionType: "Mine", Polarity: "Negative"}, {ConditionType: "EtcdPodHealthy"},
	}
	types := func() (list []string) {
		for _, gate := range ReadinessGates(cp) {
			list = append(list, gate.ConditionType)
		}
		return list
	}
	assert.Equal(t, []string{"NodeKubeadmLabelsAndTaintsSet", "APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy",
		"EtcdPodHealthy", "EtcdMemberHealthy", "Mine"}, types())
	cp.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External.Endpoints = []string{"https://etcd"}
	cp.Spec.MachineTemplate.Spec.ReadinessGates = nil
	assert.Equal(t, []string{"NodeKubeadmLabelsAndTaintsSet", "APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy"}, types())
}

// Conformance: CP-05, CP-06
func TestKubeadmConfig(t *testing.T) {
	r := request()
	r.ControlPlane.Spec.KubeadmConfigSpec.InitConfiguration.SkipPhases = []string{"a"}
	r.ControlPlane.Spec.KubeadmConfigSpec.JoinConfiguration.SkipPhases = []string{"b"}
	r.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.ImageRepository = "r"
	join := KubeadmConfig(r)
	assert.Empty(t, join.Spec.InitConfiguration)
	assert.NotNil(t, join.Spec.JoinConfiguration.ControlPlane)
	assert.Equal(t, "r", join.Spec.ClusterConfiguration.ImageRepository)
	assert.Nil(t, metav1.GetControllerOf(join), "the core makes the Machine the controller")
	r.Init = true
	init := KubeadmConfig(r)
	assert.Empty(t, init.Spec.JoinConfiguration)
	assert.Equal(t, []string{"a"}, init.Spec.InitConfiguration.SkipPhases)
}

// Conformance: CP-07
func TestKubeletLocalMode(t *testing.T) {
	for version, want := range map[string]bool{
		"v1.30.9": false, "v1.31.0": true, "v1.35.4": true, "v1.36.0": false, "v1.37.2": false, "nonsense": false,
	} {
		cp := controlPlane()
		cp.Spec.Version = version
		assert.Equal(t, want, WantedConfig(cp).ClusterConfiguration.FeatureGates[kubeletLocalModeGate], version)
		cp.Spec.KubeadmConfigSpec.ClusterConfiguration.FeatureGates = map[string]bool{kubeletLocalModeGate: false}
		assert.False(t, WantedConfig(cp).ClusterConfiguration.FeatureGates[kubeletLocalModeGate], "the user's word counts")
	}
}

// Conformance: CP-10, CP-11
func TestInPlace(t *testing.T) {
	existing := Machine(request())
	existing.Annotations[controlplanev1.RemediationForAnnotation] = "data"
	existing.Spec.ProviderID = "x://1"
	cp := controlPlane()
	five := int32(5)
	cp.Spec.Version = "v1.38.0"
	cp.Spec.MachineTemplate.Metadata = clusterv1.ObjectMeta{Labels: map[string]string{"new": "label"}}
	cp.Spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = &five

	wanted := InPlace(existing, cp)
	assert.Equal(t, "v1.37.2", wanted.Spec.Version, "the version never changes in place")
	assert.Equal(t, "x://1", wanted.Spec.ProviderID)
	assert.Contains(t, wanted.Annotations, CleanupHook)
	assert.Contains(t, wanted.Annotations, controlplanev1.RemediationForAnnotation)
	assert.Contains(t, wanted.Labels, "new")
	assert.NotContains(t, wanted.Labels, "team")
	assert.Equal(t, five, *wanted.Spec.Deletion.NodeDrainTimeoutSeconds)

	delete(existing.Annotations, CleanupHook)
	at := metav1.Now()
	existing.DeletionTimestamp = &at
	leaving := InPlace(existing, cp)
	assert.NotContains(t, leaving.Annotations, CleanupHook, "a hook that was taken off stays off")
	assert.Contains(t, leaving.Labels, "team", "only timeouts and taints change on a machine that is being deleted")
	assert.Equal(t, five, *leaving.Spec.Deletion.NodeDrainTimeoutSeconds)
}

// Conformance: CP-99
func TestUpdatedConfig(t *testing.T) {
	cp := &controlplanev1.KubeadmControlPlane{}
	cp.Spec.Version = "v1.37.2"
	cp.Spec.KubeadmConfigSpec.PreKubeadmCommands = []string{"true"}
	cp.Spec.KubeadmConfigSpec.InitConfiguration.SkipPhases = []string{"addon"}
	existing := bootstrapv1.KubeadmConfigSpec{PostKubeadmCommands: []string{"gone"}}
	existing.ClusterConfiguration.ControlPlaneEndpoint = "host:6443"
	existing.JoinConfiguration.Discovery.BootstrapToken.Token = "abcdef.0123456789abcdef"
	want := bootstrapv1.KubeadmConfigSpec{PreKubeadmCommands: []string{"true"}}
	want.ClusterConfiguration.ControlPlaneEndpoint = "host:6443"
	want.JoinConfiguration.Discovery = existing.JoinConfiguration.Discovery
	want.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
	assert.Equal(t, want, UpdatedConfig(existing, cp))
}
