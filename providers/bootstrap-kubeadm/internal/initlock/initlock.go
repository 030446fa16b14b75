// Package initlock lets exactly one control plane machine of a cluster run kubeadm init. The lock is a ConfigMap in the
// management cluster: whoever creates it holds it.
package initlock

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/ownership"
)

const dataKey = "lock-information"

// Holder is the machine that holds a lock. The UID tells a machine from an earlier one of the same name.
type Holder struct {
	MachineName string    `json:"machineName"`
	UID         types.UID `json:"machineUID,omitempty"`
}

// Key names the lock of a cluster.
func Key(cluster client.ObjectKey) client.ObjectKey {
	return client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name + "-lock"}
}

// Acquire takes the lock for a machine, or finds that the machine has it already. A lock whose holder cannot initialize
// the cluster any more is removed, and the next attempt may win.
func Acquire(ctx context.Context, c client.Client, live client.Reader, cluster *clusterv1.Cluster, machine *clusterv1.Machine) (bool, error) {
	content, err := json.Marshal(Holder{MachineName: machine.Name, UID: machine.UID})
	if err != nil {
		return false, fmt.Errorf("encoding lock: %w", err)
	}
	key := Key(client.ObjectKeyFromObject(cluster))
	lock := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name},
			OwnerReferences: []metav1.OwnerReference{ownership.Reference(cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))}},
		Data: map[string]string{dataKey: string(content)},
	}
	err = c.Create(ctx, lock)
	if err == nil {
		return true, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return false, fmt.Errorf("creating lock %s: %w", key, err)
	}
	return inspect(ctx, c, live, key, machine)
}

func inspect(ctx context.Context, c client.Client, live client.Reader, key client.ObjectKey, machine *clusterv1.Machine) (bool, error) {
	lock := &corev1.ConfigMap{}
	if err := live.Get(ctx, key, lock); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	var holder Holder
	if err := json.Unmarshal([]byte(lock.Data[dataKey]), &holder); err != nil {
		return false, fmt.Errorf("lock %s cannot be read; delete the ConfigMap if no machine is initializing: %w", key, err)
	}
	if holder.is(machine) {
		return true, nil
	}
	stale, err := abandoned(ctx, live, key.Namespace, holder)
	if err != nil {
		return false, fmt.Errorf("reading the holder of lock %s: %w", key, err)
	}
	if stale {
		return false, remove(ctx, c, lock)
	}
	return false, nil
}

// is tells a machine from another of the same name; locks of other managers hold no UID.
func (h Holder) is(machine *clusterv1.Machine) bool {
	return h.MachineName == machine.Name && (h.UID == "" || h.UID == machine.UID)
}

// abandoned says whether the holder is gone, or goes without ever having got its data. One that goes with its data may
// be running kubeadm init still: that is waited for.
func abandoned(ctx context.Context, live client.Reader, namespace string, holder Holder) (bool, error) {
	machine := &clusterv1.Machine{}
	err := live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: holder.MachineName}, machine)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return !holder.is(machine) || (machine.DeletionTimestamp != nil && machine.Spec.Bootstrap.DataSecretName == nil), nil
}

// Release removes the lock of an initialized cluster, whoever holds it.
func Release(ctx context.Context, c client.Client, live client.Reader, cluster client.ObjectKey) error {
	lock := &corev1.ConfigMap{}
	if err := live.Get(ctx, Key(cluster), lock); err != nil {
		return client.IgnoreNotFound(err)
	}
	return remove(ctx, c, lock)
}

// GiveUp removes the lock if the machine holds it.
func GiveUp(ctx context.Context, c client.Client, live client.Reader, cluster client.ObjectKey, machine *clusterv1.Machine) error {
	lock := &corev1.ConfigMap{}
	if err := live.Get(ctx, Key(cluster), lock); err != nil {
		return client.IgnoreNotFound(err)
	}
	var holder Holder
	if err := json.Unmarshal([]byte(lock.Data[dataKey]), &holder); err != nil || !holder.is(machine) {
		return nil
	}
	return remove(ctx, c, lock)
}

func remove(ctx context.Context, c client.Client, lock *corev1.ConfigMap) error {
	uid := lock.UID
	if err := client.IgnoreNotFound(c.Delete(ctx, lock, client.Preconditions{UID: &uid})); err != nil {
		return fmt.Errorf("removing lock %s: %w", lock.Name, err)
	}
	return nil
}
