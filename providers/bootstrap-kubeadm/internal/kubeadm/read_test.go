package kubeadm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// Conformance: KB-14
func TestReadIsTheWayBack(t *testing.T) {
	for _, version := range []string{recent, old} {
		s := full()
		initial, joining := write(t, Init, s, version), write(t, Join, s, version)
		got, in, err := Read(initial + "---\n" + joining)
		require.NoError(t, err)
		want := injectedFor(version)
		assert.Equal(t, want, in)
		assert.Equal(t, initial, write(t, Init, got, version), "%s", version)
		assert.Equal(t, joining, write(t, Join, got, version), "%s", version)
		if version == recent {
			s.ClusterConfiguration.ControlPlaneEndpoint = want.ControlPlaneEndpoint
			assert.Equal(t, s, got, "v1beta4 says everything")
		}
	}
}

// Conformance: KB-14
func TestReadDurations(t *testing.T) {
	got, _, err := Read("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\ncertificateValidityPeriod: 47h59m0s\ncaCertificateValidityPeriod: 2000000h0m0s\n")
	require.NoError(t, err)
	assert.Equal(t, []int32{1, 83333}, []int32{got.ClusterConfiguration.CertificateValidityPeriodDays, got.ClusterConfiguration.CACertificateValidityPeriodDays})
	got, _, err = Read("apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\ntimeouts: {discovery: 2000000h}\nnodeRegistration: {taints: []}\n")
	require.NoError(t, err)
	assert.Equal(t, int32(2147483647), *got.InitConfiguration.Timeouts.DiscoverySeconds)
	assert.NotNil(t, got.InitConfiguration.NodeRegistration.Taints, "no taints is not kubeadm's default")
}

// Conformance: KB-14
func TestWhatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: kubeadm.k8s.io/v1beta2\nkind: ClusterConfiguration\n":                               "apiVersion kubeadm.k8s.io/v1beta2 cannot be read",
		"kind: ClusterConfiguration\n":                                                                   "cannot be read",
		"apiVersion: kubeadm.k8s.io/v1beta4\nkind: Other\n":                                              "unknown kind Other",
		"apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\ncertificateValidityPeriod: x\n": "certificateValidityPeriod",
		"apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: {}\n":              "reading kubeadm's ClusterConfiguration",
		"{":                                "reading kubeadm document",
		strings.Repeat(" ", maxDocument+1): "larger than",
	} {
		_, _, err := Read(text)
		require.ErrorContains(t, err, want)
	}
}

// FuzzRead gives arbitrary text, which never ends the program, and writes what could be read: it reads as the same again.
//
// Conformance: KB-14
func FuzzRead(f *testing.F) {
	for _, d := range documents {
		text, err := d.render(d.spec, injectedFor(d.version))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add("apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\napiServer: {extraArgs: {a: null}, timeoutForControlPlane: -1s}\nnetworking: []\n")
	f.Add("a: &a [*a]\n---\n- x\n--- \n")
	f.Fuzz(func(t *testing.T, text string) {
		spec, _, err := Read(text)
		if err != nil {
			return
		}
		for _, version := range []string{old, recent} {
			again := ""
			for _, render := range []renderer{Init, Join} {
				if spec.JoinConfiguration.ControlPlane == nil {
					spec.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
				}
				again += "---\n" + write(t, render, spec, version)
			}
			got, _, err := Read(again)
			require.NoError(t, err)
			for _, render := range []renderer{Init, Join} {
				assert.Equal(t, write(t, render, spec, version), write(t, render, got, version))
			}
		}
	})
}
