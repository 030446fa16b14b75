package kubeadmcontrolplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-capi/slipway/contract/conditions"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/coredns"
)

const (
	proxyImage = "registry.k8s.io/kube-proxy:v1.37.2"
	dnsImage   = "registry.k8s.io/coredns/coredns:v1.14.4"
)

func podSpec(name, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: image}}}}
}

// addons are seen as they run; changes follow.
func addons(changes ...change) World {
	w := world(3, func(w *World) {
		w.Addons = Addons{
			Known: true, Proxy: &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: podSpec("kube-proxy", proxyImage)}},
			DNS:      &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: podSpec(coredns.Name, dnsImage)}},
			Corefile: &corev1.ConfigMap{Data: map[string]string{coredns.CorefileKey: ".:53 {\n    errors\n}\n"}},
			Config:   kubeadmConfig("v1.37.2"),
		}
		w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.CertificatesDir = "/etc/kubernetes/pki"
		for _, m := range w.Machines {
			m.Config.Spec.ClusterConfiguration.CertificatesDir = "/etc/kubernetes/pki"
		}
	})
	for _, apply := range changes {
		apply(&w)
	}
	return w
}

func dns(repository, tag string) change {
	return func(w *World) {
		w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS = bootstrapv1.DNS{ImageRepository: repository, ImageTag: tag}
	}
}

func proxyRuns(image string) change {
	return func(w *World) { w.Addons.Proxy.Spec.Template = podSpec("kube-proxy", image) }
}

func dnsRuns(image string) change {
	return func(w *World) { w.Addons.DNS.Spec.Template = podSpec(coredns.Name, image) }
}

func skip(annotation string) change {
	return func(w *World) { w.ControlPlane.Annotations = map[string]string{annotation: ""} }
}

// Conformance: CP-95
func TestAddons(t *testing.T) {
	nothing := []string{}
	const digest = "registry.k8s.io/kube-proxy@sha256:abababababababababababababababababababababababababababababababab"
	for _, row := range []struct {
		name  string
		world World
		want  []string
		// trouble is what the condition says; empty if all is well.
		trouble string
	}{
		{"as wanted", addons(), nothing, ""},
		{"kube-proxy follows the version", addons(proxyRuns("registry.k8s.io/kube-proxy:v1.36.2")), []string{"kube-proxy " + proxyImage}, "updating kube-proxy"},
		{"kube-proxy keeps its mirror", addons(proxyRuns("mirror/kube-proxy:v1.36.2")), []string{"kube-proxy mirror/kube-proxy:v1.37.2"}, "updating kube-proxy"},
		{"kube-proxy skipped", addons(proxyRuns("x/kube-proxy:v1.36.2"), skip(controlplanev1.SkipKubeProxyAnnotation)), nothing, ""},
		{"no kube-proxy", addons(func(w *World) { w.Addons.Proxy = nil }), nothing, ""},
		{"another container", addons(func(w *World) { w.Addons.Proxy.Spec.Template = podSpec("other", "x") }), nothing, ""},
		{"kube-proxy pinned", addons(proxyRuns(digest)), nothing, "digest"},

		{"BC-20: CoreDNS tag", addons(dns("", "v1.14.6")), []string{"coredns registry.k8s.io/coredns/coredns:v1.14.6"}, "updating coredns"},
		{"BC-20: CoreDNS repository", addons(dns("mirror", "")), []string{"coredns mirror/coredns:v1.14.4"}, "updating coredns"},
		{"CoreDNS skipped", addons(dns("", "v1.14.6"), skip(controlplanev1.SkipCoreDNSAnnotation)), nothing, ""},
		{"no CoreDNS", addons(dns("", "v1.14.6"), func(w *World) { w.Addons.DNS = nil }), nothing, ""},
		{"no Corefile", addons(dns("", "v1.14.6"), func(w *World) { w.Addons.Corefile = nil }), nothing, ""},
		{"CoreDNS downgrade", addons(dns("", "v1.14.3")), nothing, "cannot be downgraded"},
		{"trouble with one does not hold up the other", addons(dns("", "v1.14.6"), proxyRuns(digest)), []string{"coredns registry.k8s.io/coredns/coredns:v1.14.6"}, "digest"},
		{"a user's CoreDNS without version", addons(dnsRuns("registry.k8s.io/coredns/coredns:latest"), proxyRuns("registry.k8s.io/kube-proxy:v1.36.2")),
			[]string{"kube-proxy " + proxyImage}, "no version of CoreDNS"},
		{"unreadable", addons(func(w *World) { w.Addons = Addons{Known: true, Problem: "reading failed"} }), nothing, "reading failed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := Decide(row.world)
			assert.Equal(t, row.want, say(d.Actions))
			c := conditions.Get(statusHolder{&d.Status}, controlplanev1.KubeadmControlPlaneAddonsUpToDateCondition)
			require.NotNil(t, c)
			assert.Equal(t, row.trouble == "", c.Status == metav1.ConditionTrue)
			assert.Contains(t, c.Message, row.trouble)
			assert.Empty(t, d.Problem, "addons never hold up the control plane")
			upToDate := *d.Status.UpToDateReplicas
			assert.Equal(t, int32(3), upToDate, "no machine is out of date for an addon")
		})
	}
}

func TestAddonsKeepTheirConditionWhileNobodyLooks(t *testing.T) {
	d := Decide(addons(proxyRuns("bad")))
	w := world(3, func(w *World) { w.ControlPlane.Status = d.Status })
	again := Decide(w)
	const addons = controlplanev1.KubeadmControlPlaneAddonsUpToDateCondition
	assert.Equal(t, conditions.Get(statusHolder{&d.Status}, addons), conditions.Get(statusHolder{&again.Status}, addons))
}

func TestControlPlanesWithoutConfigurationLeaveCoreDNSAlone(t *testing.T) {
	w := addons(dnsRuns("registry.k8s.io/coredns/coredns:latest"), func(w *World) {
		w.ControlPlane.Spec.KubeadmConfigSpec = bootstrapv1.KubeadmConfigSpec{}
		for _, m := range w.Machines {
			m.Config.Spec.ClusterConfiguration = bootstrapv1.ClusterConfiguration{}
		}
	})
	assert.Empty(t, say(Decide(w).Actions))
}
