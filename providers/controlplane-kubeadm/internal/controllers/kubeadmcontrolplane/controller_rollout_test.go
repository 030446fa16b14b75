package kubeadmcontrolplane

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/conditions"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/coredns"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/kubeadmconfig"
)

// installAddons makes what kubeadm init makes, with an old CoreDNS whose Corefile the new one does not read.
func (s *scene) installAddons() {
	s.t.Helper()
	labels := map[string]string{"app": "x"}
	pods := func(name, image string) corev1.PodTemplateSpec {
		spec := podSpec(name, image)
		spec.Labels = labels
		return spec
	}
	proxy := &appsv1.DaemonSet{ObjectMeta: key(kubeProxy), Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pods(kubeProxy, proxyImage),
	}}
	dns := &appsv1.Deployment{ObjectMeta: key(coredns.Name), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pods(coredns.Name, "registry.k8s.io/coredns:1.6.7"),
	}}
	dns.Spec.Template.Spec.Volumes = []corev1.Volume{
		{Name: "own", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: coredns.Volume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: coredns.Name}, Items: []corev1.KeyToPath{{Key: coredns.CorefileKey, Path: coredns.CorefileKey}},
		}}},
	}
	config := &corev1.ConfigMap{ObjectMeta: key(coredns.Name), Data: map[string]string{
		coredns.CorefileKey: ".:53 {\n    errors\n    kubernetes cluster.local {\n        upstream\n    }\n    forward . /etc/resolv.conf\n}\n", "own.server": "example.org",
	}}
	config.Labels = map[string]string{"team": "dns"}
	for _, object := range []client.Object{proxy, dns, config} {
		require.NoError(s.t, env.Client.Create(s.t.Context(), object))
		s.t.Cleanup(func() { _ = env.Client.Delete(context.Background(), object) })
	}
}

func (s *scene) change(change func(*controlplanev1.KubeadmControlPlane)) {
	s.t.Helper()
	before := s.get()
	after := before.DeepCopy()
	change(after)
	require.NoError(s.t, env.Client.Patch(s.t.Context(), after, client.MergeFrom(before)))
}

// Conformance: CP-20, CP-21, CP-24, CP-35
func TestAnUpgradeReplacesAllMachinesAndThenTheAddons(t *testing.T) {
	s := started(t, 3, func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "1.6.7"
	})
	s.installAddons()
	before := map[string]bool{}
	for _, machine := range s.machines() {
		before[machine.Name] = true
	}
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Spec.Version = "v1.37.3"
		cp.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "1.7.0"
	})
	least, most := 3, 3
	s.play("all machines are replaced", func() bool {
		list := s.machines()
		least, most = min(least, len(list)), max(most, len(list))
		for _, machine := range list {
			if before[machine.Name] {
				return false
			}
		}
		return len(list) == 3 && s.healthy() == 3
	})
	assert.Equal(t, []int{3, 4}, []int{least, most}, "one more at most, never one less")
	for _, machine := range s.machines() {
		assert.Equal(t, "v1.37.3", machine.Spec.Version)
	}

	ctx := t.Context()
	config := &corev1.ConfigMap{}
	require.NoError(t, env.Client.Get(ctx, client.ObjectKey{Namespace: kubeSystem, Name: kubeadmconfig.Name}, config))
	assert.Contains(t, config.Data[kubeadmconfig.Key], "kubernetesVersion: v1.37.3")
	binding := &rbacv1.ClusterRoleBinding{}
	require.NoError(t, env.Client.Get(ctx, client.ObjectKey{Name: kubeletAccessBinding}, binding))
	assert.Equal(t, kubeletAccessRole, binding.RoleRef.Name)
	t.Cleanup(func() { _ = env.Client.Delete(context.Background(), binding) })
	s.eventually("the addons are up to date", func() bool {
		current := s.get()
		c := conditions.Get(current, controlplanev1.KubeadmControlPlaneAddonsUpToDateCondition)
		return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == current.Generation
	})
	s.checkAddons()
	version := settle(s)
	time.Sleep(1200 * time.Millisecond)
	assert.Equal(t, version, s.get().ResourceVersion, "nothing is written any more")
}

func (s *scene) checkAddons() {
	t, ctx := s.t, s.t.Context()
	proxy, dns, corefile := &appsv1.DaemonSet{}, &appsv1.Deployment{}, &corev1.ConfigMap{}
	require.NoError(t, env.Client.Get(ctx, client.ObjectKey{Namespace: kubeSystem, Name: kubeProxy}, proxy))
	assert.Equal(t, "registry.k8s.io/kube-proxy:v1.37.3", proxy.Spec.Template.Spec.Containers[0].Image)
	require.NoError(t, env.Client.Get(ctx, client.ObjectKey{Namespace: kubeSystem, Name: coredns.Name}, dns))
	assert.Equal(t, "registry.k8s.io/coredns:1.7.0", dns.Spec.Template.Spec.Containers[0].Image)
	require.Len(t, dns.Spec.Template.Spec.Volumes, 2, "other volumes stay")
	for _, volume := range dns.Spec.Template.Spec.Volumes {
		if volume.Name == coredns.Volume {
			assert.Equal(t, []corev1.KeyToPath{{Key: coredns.CorefileKey, Path: coredns.CorefileKey}}, volume.ConfigMap.Items)
		}
	}
	require.NoError(t, env.Client.Get(ctx, client.ObjectKey{Namespace: kubeSystem, Name: coredns.Name}, corefile))
	assert.Equal(t, map[string]string{"team": "dns"}, corefile.Labels)
	assert.Equal(t, "example.org", corefile.Data["own.server"])
	assert.NotContains(t, corefile.Data[coredns.CorefileKey], "upstream")
	assert.Contains(t, corefile.Data[coredns.BackupKey], "upstream")
}

func TestWithoutSurgeTheOldMachineGoesFirst(t *testing.T) {
	s := started(t, 3, func(cp *controlplanev1.KubeadmControlPlane) { surgeOf(0)(&World{ControlPlane: cp}) })
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.Local.ImageTag = "3.7.3-0"
	})
	most := 3
	s.play("all machines are replaced", func() bool {
		list := s.machines()
		most = max(most, len(list))
		return len(s.etcd.gone()) == 3 && len(list) == 3 && s.healthy() == 3
	})
	assert.Equal(t, 3, most, "never one more")
}
