package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/contract/labels"
)

// observe reads all that matters for one Cluster. It writes nothing.
func (c *Controller) observe(ctx context.Context, cluster *clusterv1.Cluster) World {
	key := client.ObjectKeyFromObject(cluster)
	w := World{Now: time.Now(), Cluster: cluster, ConnectionGrace: c.ConnectionGrace, BeforeDeleteHook: c.BeforeDeleteHook, Health: c.ClusterCache.Health(key)}
	w.Infrastructure = c.refer(ctx, cluster.Spec.InfrastructureRef, cluster.Namespace)
	w.ControlPlane = c.refer(ctx, cluster.Spec.ControlPlaneRef, cluster.Namespace)
	w.Descendants = c.descendants(ctx, cluster)
	if cluster.Spec.ControlPlaneRef.Name == "" {
		w.Kubeconfig = c.kubeconfig(ctx, key)
	}
	return w
}

// watch starts the watch on the kind of a reference, also of an object that is missing now: it wakes us when it appears.
func (c *Controller) watch(ctx context.Context, ref clusterv1.ContractVersionedObjectReference) error {
	gvk, _, err := c.Resolver.GVK(ctx, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if err != nil {
		return err
	}
	return c.watcher.Watch(gvk, c.referred)
}

func (c *Controller) refer(ctx context.Context, ref clusterv1.ContractVersionedObjectReference, namespace string) Referred {
	if ref.Name == "" {
		return Referred{}
	}
	if err := c.watch(ctx, ref); err != nil {
		return Referred{Err: err}
	}
	obj, err := external.Get(ctx, c.Client, c.Resolver, ref, namespace)
	switch {
	case err == nil:
		return Referred{Object: obj}
	case external.IsNotFound(err):
		return Referred{Missing: true}
	}
	return Referred{Err: err}
}

func (c *Controller) descendants(ctx context.Context, cluster *clusterv1.Cluster) Descendants {
	var d Descendants
	opts := []client.ListOption{client.InNamespace(cluster.Namespace), client.MatchingLabels(labels.OfCluster(cluster.Name))}
	machines, sets := &clusterv1.MachineList{}, &clusterv1.MachineSetList{}
	deployments, pools := &clusterv1.MachineDeploymentList{}, &clusterv1.MachinePoolList{}
	for _, l := range []client.ObjectList{machines, sets, deployments, pools} {
		if err := c.Client.List(ctx, l, opts...); err != nil {
			d.Err = errors.Join(d.Err, fmt.Errorf("listing descendants: %w", err))
		}
	}
	d.Machines, d.MachineSets = pointers(machines.Items), pointers(sets.Items)
	d.MachineDeployments, d.MachinePools = pointers(deployments.Items), pointers(pools.Items)
	return d
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

func (c *Controller) kubeconfig(ctx context.Context, cluster client.ObjectKey) KubeconfigView {
	err := c.Client.Get(ctx, kubeconfig.SecretKey(cluster), &corev1.Secret{})
	if err == nil {
		return KubeconfigView{Exists: true}
	}
	if !apierrors.IsNotFound(err) {
		return KubeconfigView{Err: fmt.Errorf("reading kubeconfig Secret: %w", err)}
	}
	set := []certificates.Entry{{Purpose: certificates.ClusterCA}}
	if _, err := certificates.Lookup(ctx, certificates.Source{Cached: c.Client, Live: c.Live}, cluster, set); err != nil {
		return KubeconfigView{Err: err}
	}
	return KubeconfigView{CA: set[0].Pair}
}
