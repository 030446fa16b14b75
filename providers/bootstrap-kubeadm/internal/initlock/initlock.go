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

// Acquire takes the lock for a machine, or finds that the machine has it already. A lock whose holder does not exist any
// more is removed, and the next attempt may win.
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
	if holder.MachineName == machine.Name && (holder.UID == "" || holder.UID == machine.UID) {
		return true, nil
	}
	owner := &clusterv1.Machine{}
	err := live.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: holder.MachineName}, owner)
	gone := apierrors.IsNotFound(err) || (err == nil && holder.UID != "" && owner.UID != holder.UID)
	if err != nil && !gone {
		return false, fmt.Errorf("reading the holder of lock %s: %w", key, err)
	}
	if gone {
		return false, remove(ctx, c, lock)
	}
	return false, nil
}

// Release gives the lock up, whoever holds it; it is called once the cluster is initialized or the holder failed.
func Release(ctx context.Context, c client.Client, live client.Reader, cluster client.ObjectKey) error {
	lock := &corev1.ConfigMap{}
	if err := live.Get(ctx, Key(cluster), lock); err != nil {
		return client.IgnoreNotFound(err)
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
