package kubeadmconfig

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/labels"
)

var secretOfCluster client.Object = &corev1.Secret{}

// ofSecret wakes the configs of a cluster when one of its certificates comes into being.
func (c *Controller) ofSecret(ctx context.Context, o client.Object) []reconcile.Request {
	cluster := labels.ClusterName(o)
	for _, p := range []certificates.Purpose{certificates.ClusterCA, certificates.EtcdCA, certificates.FrontProxyCA, certificates.ServiceAccount, certificates.APIServerEtcdClient} {
		if cluster != "" && o.GetName() == cluster+"-"+string(p) {
			return c.ofCluster(ctx, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: cluster}})
		}
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
