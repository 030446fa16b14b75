package initlock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/initlock"
)

var (
	cluster    = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "cluster-uid"}}
	clusterKey = client.ObjectKeyFromObject(cluster)
	lockKey    = client.ObjectKey{Namespace: "ns", Name: "c-lock"}
)

func machine(name, uid string) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid)}}
}

func world(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, clusterv1.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func acquire(t *testing.T, c client.Client, m *clusterv1.Machine) bool {
	t.Helper()
	held, err := initlock.Acquire(t.Context(), c, c, cluster, m)
	require.NoError(t, err)
	return held
}

// Conformance: KB-30, KB-31, KB-32, KB-35
func TestOneHolder(t *testing.T) {
	ctx, a, b := t.Context(), machine("a", "1"), machine("b", "2")
	c := world(t, a, b)
	assert.True(t, acquire(t, c, a))
	assert.True(t, acquire(t, c, a), "KB-32: the holder may ask again")
	assert.False(t, acquire(t, c, b))
	lock := &corev1.ConfigMap{}
	require.NoError(t, c.Get(ctx, lockKey, lock))
	assert.Equal(t, map[string]string{"lock-information": `{"machineName":"a","machineUID":"1"}`}, lock.Data)
	assert.Equal(t, "c", lock.Labels[clusterv1.ClusterNameLabel])
	require.Len(t, lock.OwnerReferences, 1)
	assert.Nil(t, lock.OwnerReferences[0].Controller)

	require.NoError(t, initlock.GiveUp(ctx, c, c, clusterKey, b))
	assert.False(t, acquire(t, c, b), "only the holder can give it up")
	require.NoError(t, initlock.GiveUp(ctx, c, c, clusterKey, a))
	assert.True(t, acquire(t, c, b))
	require.NoError(t, initlock.Release(ctx, c, c, clusterKey))
	require.NoError(t, initlock.Release(ctx, c, c, clusterKey), "KB-35: a missing lock is no error")
	require.NoError(t, initlock.GiveUp(ctx, c, c, clusterKey, b))
	assert.True(t, acquire(t, c, a))
}

func lockOf(content string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: lockKey.Namespace, Name: lockKey.Name, UID: "lock"}, Data: map[string]string{"lock-information": content}}
}

// Conformance: KB-33
func TestHoldersThatCannotInitialize(t *testing.T) {
	leaving, now, data := machine("a", "1"), metav1.Now(), "a"
	leaving.DeletionTimestamp, leaving.Finalizers = &now, []string{"x/y"}
	booted := leaving.DeepCopy()
	booted.Spec.Bootstrap.DataSecretName = &data
	for _, row := range []struct {
		name    string
		holder  *clusterv1.Machine
		content string
		// stale locks go at the first attempt and are free at the second.
		stale bool
	}{
		{"holder is there", machine("a", "1"), `{"machineName":"a","machineUID":"1"}`, false},
		{"holder of a manager that wrote no UID", machine("a", "1"), `{"machineName":"a"}`, false},
		{"KB-33: holder is gone", nil, `{"machineName":"a","machineUID":"1"}`, true},
		{"another machine of the same name", machine("a", "9"), `{"machineName":"a","machineUID":"1"}`, true},
		{"holder goes and never got its data", leaving, `{"machineName":"a","machineUID":"1"}`, true},
		{"holder goes but may be running init", booted, `{"machineName":"a","machineUID":"1"}`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			objects := []client.Object{lockOf(row.content)}
			if row.holder != nil {
				objects = append(objects, row.holder)
			}
			c, b := world(t, objects...), machine("b", "2")
			assert.False(t, acquire(t, c, b), "the attempt that removes a stale lock does not win yet")
			assert.Equal(t, row.stale, acquire(t, c, b))
		})
	}
}

// Conformance: KB-31
func TestTrouble(t *testing.T) {
	b := machine("b", "2")
	c := world(t, lockOf("not JSON"))
	held, err := initlock.Acquire(t.Context(), c, c, cluster, b)
	assert.False(t, held, "KB-31")
	require.ErrorContains(t, err, "delete the ConfigMap")

	down := errors.New("no connection")
	broken := interceptor.NewClient(world(t), interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return down }})
	held, err = initlock.Acquire(t.Context(), broken, broken, cluster, b)
	assert.False(t, held)
	require.ErrorIs(t, err, down)

	blind := interceptor.NewClient(world(t, lockOf(`{"machineName":"a"}`)), interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if _, ok := o.(*clusterv1.Machine); ok {
			return down
		}
		return c.Get(ctx, k, o, opts...)
	}})
	held, err = initlock.Acquire(t.Context(), blind, blind, cluster, b)
	assert.False(t, held, "an unknown holder is not a gone one")
	require.ErrorIs(t, err, down)
}

// TestNeverTwoHolders lets machines ask at the same time, round after round; the holder of a round gives up or vanishes.
//
// Conformance: KB-31
func TestNeverTwoHolders(t *testing.T) {
	const count = 5
	machines, objects := map[int]*clusterv1.Machine{}, []client.Object{}
	for i := range count {
		machines[i] = machine(fmt.Sprintf("m%d", i), fmt.Sprintf("uid%d", i))
		objects = append(objects, machines[i])
	}
	c := world(t, objects...)
	for round := range 30 {
		var wait sync.WaitGroup
		var held [count]bool
		for i, m := range machines {
			wait.Go(func() {
				got, err := initlock.Acquire(t.Context(), c, c, cluster, m)
				held[i] = got && err == nil
			})
		}
		wait.Wait()
		var holders []int
		for i, ok := range held {
			if ok {
				holders = append(holders, i)
			}
		}
		require.LessOrEqual(t, len(holders), 1, "round %d", round)
		for _, i := range holders {
			if round%8 == 7 && len(machines) > 1 {
				require.NoError(t, c.Delete(t.Context(), machines[i].DeepCopy()))
				delete(machines, i)
			} else {
				require.NoError(t, initlock.GiveUp(t.Context(), c, c, clusterKey, machines[i]))
			}
		}
	}
}
