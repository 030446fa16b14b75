package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
)

// observe reads all that matters for one Cluster. It writes nothing.
func (c *Controller) observe(ctx context.Context, cluster *clusterv1.Cluster) World {
	key := client.ObjectKeyFromObject(cluster)
	w := World{Now: time.Now(), Cluster: cluster, ConnectionGrace: c.ConnectionGrace, BeforeDeleteHook: c.BeforeDeleteHook, Health: c.ClusterCache.Health(key)}
	w.Infrastructure = c.provider.Read(ctx, cluster.Spec.InfrastructureRef, cluster.Namespace)
	w.ControlPlane = c.provider.Read(ctx, cluster.Spec.ControlPlaneRef, cluster.Namespace)
	w.Class = c.class(ctx, cluster)
	w.Descendants = descendants(ctx, c.Client, cluster)
	if w.aboutToPassWorkers() {
		// What is deleted next is needed to delete workers. A cache that lags behind must not hide the last of them.
		w.Descendants = descendants(ctx, c.Live, cluster)
	}
	if makesKubeconfig(cluster) {
		c.kubeconfig(ctx, key, &w)
	}
	return w
}

// class reads what the ClusterClass of a topology adds to its Clusters.
func (c *Controller) class(ctx context.Context, cluster *clusterv1.Cluster) Class {
	key := classref.Key(cluster)
	if key.Name == "" {
		return Class{}
	}
	class := &clusterv1.ClusterClass{}
	err := c.Client.Get(ctx, key, class)
	switch {
	case apierrors.IsNotFound(err):
		return Class{Err: fmt.Errorf("ClusterClass %s does not exist", key)}
	case err != nil:
		return Class{Err: fmt.Errorf("reading ClusterClass %s: %w", key, err)}
	}
	return Class{AvailabilityGates: class.Spec.AvailabilityGates}
}

func descendants(ctx context.Context, reader client.Reader, cluster *clusterv1.Cluster) Descendants {
	var d Descendants
	opts := []client.ListOption{client.InNamespace(cluster.Namespace), client.MatchingLabels(labels.OfCluster(cluster.Name))}
	machines, sets := &clusterv1.MachineList{}, &clusterv1.MachineSetList{}
	deployments, pools := &clusterv1.MachineDeploymentList{}, &clusterv1.MachinePoolList{}
	for _, l := range []client.ObjectList{machines, sets, deployments, pools} {
		if err := reader.List(ctx, l, opts...); err != nil {
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

// kubeconfig looks for the Secret in memory first, and for the authority only when it is needed: private keys are never cached.
func (c *Controller) kubeconfig(ctx context.Context, cluster client.ObjectKey, w *World) {
	secret := &corev1.Secret{}
	err := c.Secrets.Get(ctx, kubeconfig.SecretKey(cluster), secret)
	if apierrors.IsNotFound(err) {
		err = c.Live.Get(ctx, kubeconfig.SecretKey(cluster), secret)
	}
	switch {
	case err == nil:
		w.Kubeconfig.Secret = secret
		if !dueForRenewal(*w) {
			return
		}
	case !apierrors.IsNotFound(err):
		w.Kubeconfig.Err = fmt.Errorf("reading kubeconfig Secret: %w", err)
		return
	}
	set := []certificates.Entry{{Purpose: certificates.ClusterCA}}
	_, w.Kubeconfig.Err = certificates.Lookup(ctx, certificates.Source{Cached: c.Live}, cluster, set)
	w.Kubeconfig.CA = set[0].Pair
}
