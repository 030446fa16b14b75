package kubeadmconfig

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/labels"
)

var secretOfCluster client.Object = &corev1.Secret{}

// ofSecret wakes the configs of a cluster when one of its certificates comes into being, and the config whose data Secret
// has lost its owner.
func (c *Controller) ofSecret(ctx context.Context, o client.Object) []reconcile.Request {
	cluster := labels.ClusterName(o)
	for _, p := range []certificates.Purpose{certificates.ClusterCA, certificates.EtcdCA, certificates.FrontProxyCA, certificates.ServiceAccount, certificates.APIServerEtcdClient} {
		if cluster != "" && o.GetName() == cluster+"-"+string(p) {
			return c.ofCluster(ctx, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: cluster}})
		}
	}
	if secret, ok := o.(*corev1.Secret); ok && secret.Type == clusterv1.ClusterSecretType && metav1.GetControllerOf(secret) == nil {
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(secret)}}
	}
	return nil
}

// KeepSecretData says which Secrets' data this manager needs in its cache: the certificates of clusters.
func KeepSecretData(name string) bool {
	for _, p := range []certificates.Purpose{certificates.ClusterCA, certificates.EtcdCA, certificates.FrontProxyCA, certificates.ServiceAccount, certificates.APIServerEtcdClient} {
		if strings.HasSuffix(name, "-"+string(p)) {
			return true
		}
	}
	return strings.HasSuffix(name, "-kubeconfig")
}
