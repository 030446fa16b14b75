package etcdsnapshot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/conditions"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/sealing"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/store"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/tunnel"
)

// observe reads what matters for the next step, and no Secret that it does not need.
func (c *Controller) observe(ctx context.Context, s *backupv1.EtcdSnapshot) (*World, error) {
	w := &World{Snapshot: s}
	completed := conditions.IsTrue(s, backupv1.CompletedCondition)
	leaving := !s.DeletionTimestamp.IsZero()
	if !leaving && completed && settled(s) || leaving && completed && s.Spec.DeletionPolicy != backupv1.Delete {
		return w, nil
	}
	if err := c.observeStore(ctx, w); err != nil || leaving {
		return w, err
	}
	if err := c.observeKeys(ctx, w); err != nil || completed {
		return w, err
	}
	return w, c.observeCluster(ctx, w)
}

func (c *Controller) observeStore(ctx context.Context, w *World) error {
	d := w.Snapshot.Spec.Destination
	switch {
	case d.Directory != nil && c.Root == "":
		w.StoreReason = backupv1.DestinationInvalidReason
		w.StoreProblem = "directories are not allowed: the manager runs without --etcd-backup-root"
	case d.Directory != nil:
		w.Store = store.Directory{Root: c.Root, Path: d.Directory.Path}
	case d.S3 != nil:
		w.StoreReason = backupv1.SecretInvalidReason
		data, problem, err := c.secret(ctx, w.Snapshot.Namespace, d.S3.CredentialsSecretRef.Name)
		if err != nil || problem != "" {
			w.StoreProblem = problem
			return err
		}
		bucket, err := store.NewBucket(d.S3, data)
		if err != nil {
			w.StoreProblem = fmt.Sprintf("the destination with Secret %s: %v", d.S3.CredentialsSecretRef.Name, err)
			return nil
		}
		w.Store = bucket
	}
	return nil
}

func (c *Controller) observeKeys(ctx context.Context, w *World) error {
	name := w.Snapshot.Spec.Encryption.SecretRef.Name
	data, problem, err := c.secret(ctx, w.Snapshot.Namespace, name)
	if err != nil || problem != "" {
		w.KeysProblem = problem
		return err
	}
	if w.Keys, err = sealing.FromSecret(data); err != nil {
		w.KeysProblem = fmt.Sprintf("Secret %s: %v", name, err)
	}
	return nil
}

// secret reads a user's Secret. That it is missing is told, not an error.
func (c *Controller) secret(ctx context.Context, namespace, name string) (data map[string][]byte, problem string, err error) {
	secret := &corev1.Secret{}
	err = c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, "there is no Secret " + name, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return secret.Data, "", nil
}

func (c *Controller) observeCluster(ctx context.Context, w *World) error {
	key := client.ObjectKey{Namespace: w.Snapshot.Namespace, Name: w.Snapshot.Spec.ClusterName}
	cluster := &clusterv1.Cluster{}
	if err := c.Client.Get(ctx, key, cluster); err != nil {
		return client.IgnoreNotFound(err)
	}
	w.Cluster = cluster
	ref := cluster.Spec.ControlPlaneRef
	if ref.APIGroup != controlplanev1.GroupVersion.Group || ref.Kind != machines.ControlPlaneGVK.Kind {
		return nil
	}
	controlPlane := &controlplanev1.KubeadmControlPlane{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: ref.Name}, controlPlane); err != nil {
		return client.IgnoreNotFound(err)
	}
	w.ControlPlane = controlPlane
	_, err := c.Clusters.Client(ctx, key)
	w.Connected = err == nil
	list := &clusterv1.MachineList{}
	err = c.Client.List(ctx, list, client.InNamespace(key.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name}, client.HasLabels{clusterv1.MachineControlPlaneLabel})
	if err != nil {
		return fmt.Errorf("listing Machines: %w", err)
	}
	for _, m := range list.Items {
		if m.Status.NodeRef.Name != "" {
			w.Nodes = append(w.Nodes, m.Status.NodeRef.Name)
		}
	}
	slices.Sort(w.Nodes)
	return nil
}

// etcdOptions are the trust, the client certificate and the way to the members of a cluster.
func (c *Controller) etcdOptions(ctx context.Context, cluster client.ObjectKey) (etcd.Options, error) {
	options := etcd.Options{
		DialTimeout: c.EtcdDialTimeout, CallTimeout: c.EtcdCallTimeout, Log: c.EtcdLog,
		Dial: func(ctx context.Context, node string) (net.Conn, error) { return c.Dial(ctx, cluster, node) },
	}
	if c.PlainText {
		return options, nil
	}
	set := []certificates.Entry{{Purpose: certificates.EtcdCA}, {Purpose: certificates.APIServerEtcdClient, External: true}}
	if _, err := certificates.Lookup(ctx, certificates.Source{Cached: c.Cached, Live: c.Client}, cluster, set); err != nil {
		return etcd.Options{}, err
	}
	ca, pair := set[0].Pair, set[1].Pair
	switch {
	case ca == nil:
		return etcd.Options{}, fmt.Errorf("the authority of etcd: %w", certificates.ErrMissing)
	case len(ca.Key) > 0:
		key, err := certificates.NewKey(certificates.ECDSAP256)
		if err != nil {
			return etcd.Options{}, err
		}
		signed, err := etcd.ClientPair(*ca, key, c.Now())
		if err != nil {
			return etcd.Options{}, err
		}
		pair = &signed
	case pair == nil:
		return etcd.Options{}, errors.New("the etcd authority has no key and there is no client certificate")
	}
	var err error
	options.TLS, err = etcd.TLSConfig(*ca, *pair)
	return options, err
}

// tunnel leads to the member on a node through the API server.
func (c *Controller) tunnel(ctx context.Context, cluster client.ObjectKey, node string) (net.Conn, error) {
	config, err := c.Clusters.RESTConfig(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return tunnel.Dial(ctx, config, tunnel.Target{Namespace: "kube-system", Pod: "etcd-" + node, Port: 2379})
}
