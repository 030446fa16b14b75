package patch_test

import (
	"context"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/contract/testenv"
)

var env *testenv.Environment

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{os.DirFS("../../core/config/crd/bases")},
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme},
	}))
}

// counter counts the writes that pass through it.
type counter struct {
	client.WithWatch
	writes int
}

func count() *counter {
	c := &counter{}
	c.WithWatch = interceptor.NewClient(env.Client, interceptor.Funcs{
		Patch: func(ctx context.Context, to client.WithWatch, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
			c.writes++
			return to.Patch(ctx, obj, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, to client.Client, sub string, obj client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			c.writes++
			return to.SubResource(sub).Patch(ctx, obj, p, opts...)
		},
	})
	return c
}

func condition(conditionType, reason string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: reason}
}

func newMachine(t *testing.T) *clusterv1.Machine {
	t.Helper()
	ref := clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine", Name: "m"}
	m := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace(t), Name: "m", Finalizers: []string{clusterv1.MachineFinalizer}},
		Spec:       clusterv1.MachineSpec{ClusterName: "c", InfrastructureRef: ref, Bootstrap: clusterv1.Bootstrap{ConfigRef: ref}},
	}
	require.NoError(t, env.Client.Create(context.Background(), m))
	return m
}

func stored(t *testing.T, m *clusterv1.Machine) *clusterv1.Machine {
	t.Helper()
	out := &clusterv1.Machine{}
	require.NoError(t, env.Client.Get(context.Background(), client.ObjectKeyFromObject(m), out))
	return out
}

// change runs one reconcile of a writer that changes a Machine, and says how many writes it took.
func change(t *testing.T, owner string, m *clusterv1.Machine, owned []string, f func(*clusterv1.Machine)) int {
	t.Helper()
	c, obj := count(), stored(t, m)
	h := patch.Begin(c, owner, obj)
	f(obj)
	require.NoError(t, h.Finish(context.Background(), obj, patch.Owned(owned...)))
	assert.Equal(t, stored(t, m).ResourceVersion, obj.ResourceVersion, "the object in memory is current")
	return c.writes
}

var mine = []string{"Ready", "InfrastructureReady"}

func full(m *clusterv1.Machine) {
	yes := true
	m.Labels = map[string]string{"a": "b"}
	m.Spec.ProviderID = "dev:///m"
	m.Status.Phase = clusterv1.MachinePhaseRunning
	m.Status.Initialization.InfrastructureProvisioned = &yes
	m.Status.Initialization.BootstrapDataSecretCreated = &yes
	m.Status.Addresses = []clusterv1.MachineAddress{{Type: clusterv1.MachineInternalIP, Address: "10.0.0.1"}}
	conditions.SetAll(m, condition("Ready", "Ready"), condition("InfrastructureReady", "Ready"))
}

// Conformance: SH-10, SH-11
func TestOnePatchAndOneApplyThenNothing(t *testing.T) {
	m := newMachine(t)
	assert.Equal(t, 2, change(t, "machine", m, mine, full))
	got := stored(t, m)
	assert.Equal(t, "b", got.Labels["a"])
	assert.Equal(t, "dev:///m", got.Spec.ProviderID)
	assert.Equal(t, clusterv1.MachinePhaseRunning, got.Status.Phase)
	assert.True(t, conditions.IsTrue(got, "Ready"))

	assert.Zero(t, change(t, "machine", m, mine, full), "the same again")
	assert.Zero(t, change(t, "machine", m, mine, func(*clusterv1.Machine) {}), "no change at all")
	assert.Equal(t, 1, change(t, "machine", m, mine, func(m *clusterv1.Machine) { m.Labels["a"] = "c" }), "metadata only")
	assert.Equal(t, 1, change(t, "machine", m, mine, func(m *clusterv1.Machine) { m.Status.Phase = clusterv1.MachinePhaseDeleting }), "status only")
	assert.Equal(t, 2, change(t, "machine", m, mine, func(m *clusterv1.Machine) { m.Spec.ProviderID = "dev:///n" }), "spec only, and that its conditions are about the new generation")
	assert.Equal(t, 1, change(t, "machine", m, mine, func(m *clusterv1.Machine) {
		conditions.Set(m, metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotReady"})
	}), "conditions only")
	got = stored(t, m)
	assert.Equal(t, "dev:///n c Deleting", got.Spec.ProviderID+" "+got.Labels["a"]+" "+got.Status.Phase)
	assert.True(t, conditions.IsFalse(got, "Ready"))
}

func TestFieldsThatAreUnsetDisappear(t *testing.T) {
	m := newMachine(t)
	change(t, "machine", m, mine, full)
	unset := func(m *clusterv1.Machine) {
		m.Labels = nil
		m.Status.Addresses = nil
		m.Status.Initialization.BootstrapDataSecretCreated = nil
		conditions.Delete(m, "InfrastructureReady")
	}
	assert.Equal(t, 2, change(t, "machine", m, mine, unset))
	got := stored(t, m)
	assert.Empty(t, got.Labels)
	assert.Empty(t, got.Status.Addresses)
	assert.Nil(t, got.Status.Initialization.BootstrapDataSecretCreated)
	assert.False(t, conditions.Has(got, "InfrastructureReady"))
	assert.True(t, conditions.Has(got, "Ready"))
}

func TestFieldsThatAnotherWayOfWritingOwnsDisappearToo(t *testing.T) {
	m := newMachine(t)
	full(m)
	conditions.Stamp(m, time.Now())
	status := m.Status
	require.NoError(t, env.Client.Update(context.Background(), m))
	m.Status = status
	require.NoError(t, env.Client.Status().Update(context.Background(), m))
	change(t, "machine", m, mine, func(m *clusterv1.Machine) {
		m.Status.Addresses = nil
		m.Status.Initialization.BootstrapDataSecretCreated = nil
		conditions.Delete(m, "InfrastructureReady")
	})
	got := stored(t, m)
	assert.Empty(t, got.Status.Addresses)
	assert.Nil(t, got.Status.Initialization.BootstrapDataSecretCreated)
	assert.False(t, conditions.Has(got, "InfrastructureReady"))
	assert.True(t, conditions.Has(got, "Ready"))
	assert.Equal(t, clusterv1.MachinePhaseRunning, got.Status.Phase)
}

// Conformance: SH-12
func TestConditionsOfOthersAreLeftAlone(t *testing.T) {
	m := newMachine(t)
	change(t, "machine", m, mine, full)
	health := []string{"HealthCheckSucceeded"}
	assert.Equal(t, 1, change(t, "health", m, health, func(m *clusterv1.Machine) {
		conditions.Set(m, condition("HealthCheckSucceeded", "Succeeded"))
	}))
	stale := stored(t, m)
	change(t, "health", m, health, func(m *clusterv1.Machine) { conditions.Delete(m, "HealthCheckSucceeded") })

	h := patch.Begin(env.Client, "machine", stale)
	conditions.Set(stale, metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotReady"})
	require.NoError(t, h.Finish(context.Background(), stale, patch.Owned(mine...)), "an older copy is no conflict")
	got := stored(t, m)
	assert.False(t, conditions.Has(got, "HealthCheckSucceeded"), "what its owner removed must not come back")
	assert.True(t, conditions.IsFalse(got, "Ready"))
	assert.True(t, conditions.IsTrue(got, "InfrastructureReady"))
}

// TestOneConditionOnAnObjectOfAnotherController: the guest claims nothing of the host's status, and takes back its own.
//
// Conformance: SH-12
func TestOneConditionOnAnObjectOfAnotherController(t *testing.T) {
	m := newMachine(t)
	change(t, "host", m, mine, func(m *clusterv1.Machine) {
		m.Status.Phase = clusterv1.MachinePhaseRunning
		conditions.Set(m, condition(mine[0], "Host"))
	})
	guest := func(f func(*clusterv1.Machine)) {
		obj := stored(t, m)
		h := patch.Begin(env.Client, "guest", obj)
		f(obj)
		require.NoError(t, h.Finish(context.Background(), obj, patch.OwnedOnly(clusterv1.MachineOwnerRemediatedCondition)))
	}
	guest(func(m *clusterv1.Machine) {
		m.Status.Phase = "not the guest's business"
		conditions.Set(m, condition(clusterv1.MachineOwnerRemediatedCondition, "Guest"))
	})
	assert.Equal(t, clusterv1.MachinePhaseRunning, stored(t, m).Status.Phase)
	assert.True(t, conditions.Has(stored(t, m), clusterv1.MachineOwnerRemediatedCondition))
	assert.Equal(t, 1, change(t, "host", m, mine, func(m *clusterv1.Machine) { m.Status.Phase = "" }), "one owner, so one apply takes it away")
	assert.Empty(t, stored(t, m).Status.Phase)
	guest(func(m *clusterv1.Machine) { conditions.Delete(m, clusterv1.MachineOwnerRemediatedCondition) })
	assert.False(t, conditions.Has(stored(t, m), clusterv1.MachineOwnerRemediatedCondition))
	assert.True(t, conditions.Has(stored(t, m), mine[0]))
}

// TestOneFieldOfAnotherController: two writers share an object of the status, each with fields of its own, and neither takes the
// other's away or brings an old value back.
//
// Conformance: TP-39
func TestOneFieldOfAnotherController(t *testing.T) {
	ctx := t.Context()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace(t), Name: "c"}, Spec: clusterv1.ClusterSpec{
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevCluster", Name: "c"}}}
	require.NoError(t, env.Client.Create(ctx, cluster))
	read := func() *clusterv1.Cluster {
		out := &clusterv1.Cluster{}
		require.NoError(t, env.Client.Get(ctx, client.ObjectKeyFromObject(cluster), out))
		return out
	}
	finish := func(owner string, before, after *clusterv1.Cluster, options ...patch.Option) int {
		c := count()
		require.NoError(t, patch.Begin(c, owner, before).Finish(ctx, after, options...))
		return c.writes
	}
	host := func(before *clusterv1.Cluster, replicas int32) int {
		after := before.DeepCopy()
		after.Status.Phase, after.Status.ControlPlane = "Provisioned", nil // built anew each time
		if replicas > 0 {
			after.Status.ControlPlane = &clusterv1.ClusterControlPlaneStatus{Replicas: &replicas}
		}
		return finish("host", before, after, patch.Without("controlPlane", "upgradePlan"))
	}
	guest := func(before *clusterv1.Cluster, versions ...string) int {
		after := before.DeepCopy()
		if after.Status.ControlPlane == nil && len(versions) > 0 {
			after.Status.ControlPlane = &clusterv1.ClusterControlPlaneStatus{}
		}
		if after.Status.ControlPlane != nil {
			after.Status.ControlPlane.UpgradePlan = nil
			for _, v := range versions {
				after.Status.ControlPlane.UpgradePlan = append(after.Status.ControlPlane.UpgradePlan, clusterv1.UpgradeStep{Version: v})
			}
		}
		return finish("guest", before, after, patch.OwnedOnly(clusterv1.ClusterTopologyReconciledCondition), patch.With("controlPlane", "upgradePlan"))
	}

	early := read()
	assert.Zero(t, guest(early), "nothing to tell")
	assert.Equal(t, 1, guest(early, "v1", "v2"), "it may be the first")
	assert.Equal(t, 1, host(read(), 3))
	assert.Len(t, read().Status.ControlPlane.UpgradePlan, 2, "the host leaves it")
	assert.Zero(t, host(read(), 3))
	assert.Equal(t, 1, host(read(), 5))
	late := read()
	assert.Equal(t, 1, host(read(), 6))
	assert.Equal(t, 1, guest(late, "v2"), "from an old state")
	assert.EqualValues(t, 6, *read().Status.ControlPlane.Replicas, "the number is not the guest's business")
	assert.Equal(t, []clusterv1.UpgradeStep{{Version: "v2"}}, read().Status.ControlPlane.UpgradePlan)
	assert.Equal(t, 1, guest(read()))
	assert.Empty(t, read().Status.ControlPlane.UpgradePlan)
	assert.EqualValues(t, 6, *read().Status.ControlPlane.Replicas)
	assert.Equal(t, 1, guest(read(), "v3"))
	assert.Equal(t, 1, host(read(), 0))
	assert.Equal(t, []clusterv1.UpgradeStep{{Version: "v3"}}, read().Status.ControlPlane.UpgradePlan, "the host's numbers go, the plan stays")
	assert.Equal(t, 1, guest(read()))
	assert.Nil(t, read().Status.ControlPlane)
}

func TestFinishTwice(t *testing.T) {
	c, m := count(), newMachine(t)
	h := patch.Begin(c, "machine", m)
	full(m)
	require.NoError(t, h.Finish(context.Background(), m, patch.Owned(mine...)))
	require.NoError(t, h.Finish(context.Background(), m, patch.Owned(mine...)))
	assert.Equal(t, 2, c.writes)
}

// Conformance: SH-10
func TestListsAreLocked(t *testing.T) {
	ctx, m := context.Background(), newMachine(t)
	stale := stored(t, m)
	m.Finalizers = append(m.Finalizers, "example.org/other")
	require.NoError(t, env.Client.Update(ctx, m))
	h := patch.Begin(env.Client, "machine", stale)
	stale.Finalizers = nil
	require.Error(t, h.Finish(ctx, stale), "the finalizer of another writer must not be lost")
}

// Conformance: SH-13
func TestTheLastFinalizerTakesTheObjectAway(t *testing.T) {
	ctx, m := context.Background(), newMachine(t)
	require.NoError(t, env.Client.Delete(ctx, m))
	assertGone := func(obj *clusterv1.Machine, writes int) {
		c := count()
		h := patch.Begin(c, "machine", obj)
		obj.Finalizers = nil
		conditions.Set(obj, condition("Ready", "Deleted"))
		require.NoError(t, h.Finish(ctx, obj, patch.Owned(mine...)))
		assert.Equal(t, writes, c.writes)
	}
	obj := stored(t, m)
	again := obj.DeepCopy()
	assertGone(obj, 1)
	assertGone(again, 1)
}

func TestOwnChangesOfTheSpecCountAsObserved(t *testing.T) {
	m := newMachine(t)
	change(t, "machine", m, mine, func(m *clusterv1.Machine) {
		full(m)
		m.Status.ObservedGeneration = m.Generation
	})
	got := stored(t, m)
	assert.EqualValues(t, 2, got.Generation)
	assert.EqualValues(t, 2, got.Status.ObservedGeneration)
	assert.EqualValues(t, 2, conditions.Get(got, "Ready").ObservedGeneration)
}

func TestOrderAloneIsNoDifference(t *testing.T) {
	m := newMachine(t)
	m.Status.Conditions = []metav1.Condition{condition("Ready", "Ready"), condition("Available", "Available")}
	for i := range m.Status.Conditions {
		m.Status.Conditions[i].LastTransitionTime, m.Status.Conditions[i].ObservedGeneration = metav1.Now(), m.Generation
	}
	require.NoError(t, env.Client.Status().Update(context.Background(), m))
	assert.Equal(t, "Ready", stored(t, m).Status.Conditions[0].Type)
	assert.Zero(t, change(t, "machine", m, []string{"Ready", "Available"}, func(m *clusterv1.Machine) { conditions.Set(m, condition("Ready", "Ready")) }))
}

// A health check starts a condition by a merge patch, the Machine's owner continues it by apply and ends it: the end must not
// leave behind those fields of which the first writer is still an owner, which would be a condition without reason.
func TestAConditionThatAnotherStartedCanBeEnded(t *testing.T) {
	m := newMachine(t)
	started := stored(t, m)
	before := started.DeepCopy()
	conditions.Set(started, metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: "WaitingForRemediation", Message: "soon"})
	conditions.Stamp(started, time.Now())
	require.NoError(t, env.Client.Status().Patch(context.Background(), started, client.MergeFrom(before), client.FieldOwner("health check")))

	own := []string{clusterv1.MachineOwnerRemediatedCondition}
	change(t, "owner", m, own, func(o *clusterv1.Machine) {
		conditions.Set(o, metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: "RemediationDeferred", Message: "later"})
	})
	assert.Equal(t, "RemediationDeferred", conditions.Reason(stored(t, m), clusterv1.MachineOwnerRemediatedCondition))
	change(t, "owner", m, own, func(o *clusterv1.Machine) { conditions.Delete(o, clusterv1.MachineOwnerRemediatedCondition) })
	assert.False(t, conditions.Has(stored(t, m), clusterv1.MachineOwnerRemediatedCondition))
}
