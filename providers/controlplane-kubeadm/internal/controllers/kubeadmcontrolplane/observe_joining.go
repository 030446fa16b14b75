package kubeadmcontrolplane

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/coredns"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/kubeadmconfig"
)

// addonsGood is how long the images of the addons are believed to be as they were seen.
const addonsGood = 10 * time.Minute

// observeJoining reads what kubeadm would read, if machines are about to be replaced.
func (c *Controller) observeJoining(ctx context.Context, w *World) {
	if !w.Workload.Connected || !w.initialized() || len(w.outdatedMachines()) == 0 {
		return
	}
	if err := c.readJoining(ctx, w); err != nil {
		w.Joining = Joining{Problem: err.Error()}
	}
}

func (c *Controller) readJoining(ctx context.Context, w *World) error {
	remote, err := c.Clusters.UncachedClient(ctx, client.ObjectKeyFromObject(w.Cluster))
	if err != nil {
		return err
	}
	config := &corev1.ConfigMap{}
	if err := remote.Get(ctx, client.ObjectKey{Namespace: kubeSystem, Name: kubeadmconfig.Name}, config); err != nil {
		return fmt.Errorf("reading ConfigMap %s of the workload cluster: %w", kubeadmconfig.Name, err)
	}
	if _, ok := config.Data[kubeadmconfig.Key]; !ok {
		return fmt.Errorf("ConfigMap %s of the workload cluster has no key %s", kubeadmconfig.Name, kubeadmconfig.Key)
	}
	w.Joining.Config = config
	if needsGrant(w.ControlPlane.Spec.Version) {
		err := remote.Get(ctx, client.ObjectKey{Name: kubeletAccessBinding}, &rbacv1.ClusterRoleBinding{})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading ClusterRoleBinding %s of the workload cluster: %w", kubeletAccessBinding, err)
		}
		w.Joining.Granted = err == nil
	}
	w.Joining.Known = true
	return nil
}

// observeAddons reads kube-proxy and CoreDNS once all machines are up to date, when something that matters for them
// changed or the last look is some time ago.
func (c *Controller) observeAddons(ctx context.Context, w *World) {
	settled := len(w.Machines) > 0 && len(w.deletingMachines()) == 0 && len(w.outdatedMachines()) == 0 && !slices.ContainsFunc(w.Machines, updating)
	if !w.Workload.Connected || !w.initialized() || !settled || !c.memory.addonsDue(w) {
		return
	}
	w.Addons.Known = true
	if err := c.readAddons(ctx, w); err != nil {
		w.Addons = Addons{Known: true, Problem: err.Error()}
		return
	}
	c.memory.addonsSeen(w)
}

func (c *Controller) readAddons(ctx context.Context, w *World) error {
	remote, err := c.Clusters.UncachedClient(ctx, client.ObjectKeyFromObject(w.Cluster))
	if err != nil {
		return err
	}
	a := &w.Addons
	if a.Proxy, err = find(ctx, remote, kubeProxy, &appsv1.DaemonSet{}); err != nil {
		return err
	}
	if a.DNS, err = find(ctx, remote, coredns.Name, &appsv1.Deployment{}); err != nil {
		return err
	}
	if a.Corefile, err = find(ctx, remote, coredns.Name, &corev1.ConfigMap{}); err != nil {
		return err
	}
	a.Config, err = find(ctx, remote, kubeadmconfig.Name, &corev1.ConfigMap{})
	return err
}

// find reads an object of kube-system, or nothing if it does not exist.
func find[T client.Object](ctx context.Context, remote client.Reader, name string, into T) (T, error) {
	var none T
	err := remote.Get(ctx, client.ObjectKey{Namespace: kubeSystem, Name: name}, into)
	if apierrors.IsNotFound(err) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("reading %T %s of the workload cluster: %w", into, name, err)
	}
	return into, nil
}
