package cluster

import (
	"fmt"
	"time"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/contract/ownership"
)

// authorityPoll is how often to look for the authority of a cluster that a user has yet to provide: such Secrets may carry no
// label, so that no watch sees them.
const authorityPoll = 30 * time.Second

// kubeconfig is this controller's work only where there is no control plane object to do it.
func (d *Decision) kubeconfig(w World) {
	end := d.Cluster.Spec.ControlPlaneEndpoint
	if !makesKubeconfig(w.Cluster) || end.Host == "" || end.Port == 0 {
		return
	}
	d.fail(w.Kubeconfig.Err)
	secret := w.Kubeconfig.Secret
	if secret != nil && secret.Type == clusterv1.ClusterSecretType && len(secret.OwnerReferences) == 0 && secret.DeletionTimestamp.IsZero() {
		d.Actions = append(d.Actions, OwnKubeconfig{Secret: secret})
	}
	if w.Kubeconfig.Err != nil || (secret != nil && !dueForRenewal(w)) {
		return
	}
	switch ca := w.Kubeconfig.CA; {
	case ca == nil:
		d.look(authorityPoll)
	case len(ca.Key) == 0:
		d.fail(fmt.Errorf("the Secret %s-ca holds no private key: store a kubeconfig in the Secret %s-kubeconfig instead", w.Cluster.Name, w.Cluster.Name))
	default:
		d.Actions = append(d.Actions, StoreKubeconfig{Endpoint: end, CA: *ca, Old: secret})
	}
}

// makesKubeconfig says whether nobody else makes the kubeconfig of a Cluster.
func makesKubeconfig(c *clusterv1.Cluster) bool {
	return c.DeletionTimestamp.IsZero() && c.Spec.ControlPlaneRef.Name == "" && c.Spec.Topology.ClassRef.Name == ""
}

// dueForRenewal says that a client certificate has less than half of its life left. One that a user stored is the user's to renew.
func dueForRenewal(w World) bool {
	secret := w.Kubeconfig.Secret
	if !ownership.Has(secret, ownerReference(w.Cluster)) || !secret.DeletionTimestamp.IsZero() {
		return false
	}
	state, err := kubeconfig.Inspect(secret.Data[kubeconfig.SecretDataKey])
	return err == nil && !state.Expires.IsZero() && state.Expires.Sub(w.Now) < kubeconfig.Validity/2
}
