package cloud

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// seed makes what kubeadm init leaves behind in a new cluster.
func (c *Cluster) seed(version string) error {
	for _, ns := range []string{"default", kubeSystem, "kube-public", "kube-node-lease"} {
		n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{corev1.LabelMetadataName: ns}}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}}
		if err := c.ensure(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "namespaces", n); err != nil {
			return err
		}
	}
	kubeadm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: "kubeadm-config"},
		Data: map[string]string{"ClusterConfiguration": fmt.Sprintf("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: %s\n", version)}}
	corefile := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: "coredns"},
		Data: map[string]string{"Corefile": ".:53 {\n    errors\n    health {\n       lameduck 5s\n    }\n    ready\n    kubernetes cluster.local in-addr.arpa ip6.arpa {\n       pods insecure\n       fallthrough in-addr.arpa ip6.arpa\n       ttl 30\n    }\n    forward . /etc/resolv.conf\n    cache 30\n    loop\n    reload\n    loadbalance\n}\n"}}
	for _, cm := range []*corev1.ConfigMap{kubeadm, corefile} {
		if err := c.ensure(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "configmaps", cm); err != nil {
			return err
		}
	}
	return c.seedWorkloads(version)
}

func (c *Cluster) seedWorkloads(version string) error {
	proxy := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: "kube-proxy", Labels: map[string]string{"k8s-app": "kube-proxy"}}}
	proxy.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"k8s-app": "kube-proxy"}}
	proxy.Spec.Template = template("kube-proxy", "kube-proxy", "registry.k8s.io/kube-proxy:"+plain(version), corev1.Volume{})
	if err := c.ensure(appsv1.SchemeGroupVersion.WithKind("DaemonSet"), "daemonsets", proxy); err != nil {
		return err
	}
	replicas := int32(2)
	dns := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: "coredns", Labels: map[string]string{"k8s-app": "kube-dns"}}}
	dns.Spec.Replicas = &replicas
	dns.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"k8s-app": "kube-dns"}}
	dns.Spec.Template = template("kube-dns", "coredns", "registry.k8s.io/coredns/coredns:v1.14.6", corev1.Volume{Name: "config-volume", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "coredns"}, Items: []corev1.KeyToPath{{Key: "Corefile", Path: "Corefile"}}}}})
	if err := c.ensure(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", dns); err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "kubeadm:get-nodes"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}}}}
	if err := c.ensure(rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), "clusterroles", role); err != nil {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "kubeadm:get-nodes"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "system:bootstrappers:kubeadm:default-node-token"}}}
	return c.ensure(rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"), "clusterrolebindings", binding)
}

func template(label, container, image string, volume corev1.Volume) corev1.PodTemplateSpec {
	t := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"k8s-app": label}}}
	t.Spec.Containers = []corev1.Container{{Name: container, Image: image}}
	if volume.Name != "" {
		t.Spec.Volumes = []corev1.Volume{volume}
	}
	return t
}
