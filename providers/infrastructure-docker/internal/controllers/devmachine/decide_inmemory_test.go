package devmachine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/conditions"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
)

var simulationStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func lasting(d time.Duration, jitter string) *infrav1.InMemoryComponent {
	return &infrav1.InMemoryComponent{Provisioning: infrav1.InMemoryProvisioning{StartupDuration: metav1.Duration{Duration: d}, StartupJitter: jitter}}
}

// simulatedWorld is a control plane machine for which everything is there.
func simulatedWorld(changes ...func(*World)) World {
	yes, data := true, "data"
	w := World{
		Now:        simulationStart,
		DevMachine: &infrav1.DevMachine{ObjectMeta: metav1.ObjectMeta{Name: "m", UID: "uid", Finalizers: []string{infrav1.MachineFinalizer}}},
		Machine:    &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{clusterv1.MachineControlPlaneLabel: ""}}},
		Cluster:    &clusterv1.Cluster{},
		InMemory:   InMemoryView{Exists: true, Authorities: &cloud.Authorities{}},
	}
	w.DevMachine.Spec.Backend.InMemory = &infrav1.InMemoryMachineBackend{}
	w.Machine.Spec.Bootstrap.DataSecretName = &data
	w.Machine.Spec.FailureDomain = "fd"
	w.Cluster.Status.Initialization.InfrastructureProvisioned = &yes
	for _, change := range changes {
		change(&w)
	}
	return w
}

func TestSimulatedMachineWaits(t *testing.T) {
	worker := func(w *World) { w.Machine.Labels = nil }
	for _, c := range []struct {
		name    string
		changes []func(*World)
		want    string
	}{
		{"for the cluster's infrastructure", []func(*World){func(w *World) { w.Cluster.Status = clusterv1.ClusterStatus{} }}, "WaitingForClusterInfrastructureReady"},
		{"a control plane for its data", []func(*World){func(w *World) { w.Machine.Spec.Bootstrap = clusterv1.Bootstrap{} }}, "WaitingForBootstrapData"},
		{"a worker for the control plane", []func(*World){worker, func(w *World) { w.Machine.Spec.Bootstrap = clusterv1.Bootstrap{} }}, "WaitingForControlPlaneInitialized"},
	} {
		d := Decide(simulatedWorld(c.changes...))
		vm := conditions.Get(d.DevMachine, infrav1.DevMachineInMemoryVMProvisionedCondition)
		require.NotNil(t, vm, c.name)
		assert.Equal(t, c.want, vm.Reason, c.name)
		assert.Empty(t, d.Actions, c.name)
		assert.Zero(t, d.After, "%s: a watch will tell", c.name)
		assert.Empty(t, d.DevMachine.Spec.ProviderID, c.name)
	}
}

func TestWithoutDelaysAllIsDoneAtOnce(t *testing.T) {
	d := Decide(simulatedWorld())
	require.Len(t, d.Actions, 3)
	assert.IsType(t, EnsureNode{}, d.Actions[0])
	assert.IsType(t, EnsureEtcd{}, d.Actions[1])
	assert.IsType(t, EnsureAPIServer{}, d.Actions[2])
	assert.Equal(t, "in-memory://m", d.DevMachine.Spec.ProviderID)
	assert.Equal(t, "fd", d.DevMachine.Status.FailureDomain)
	assert.True(t, conditions.IsTrue(d.DevMachine, clusterv1.ReadyCondition))
	assert.Len(t, Decide(simulatedWorld(func(w *World) { w.DevMachine = d.DevMachine })).Actions, 3, "after a restart everything is made again")

	d = Decide(simulatedWorld(func(w *World) { w.Machine.Labels = nil }))
	require.Len(t, d.Actions, 1)
	assert.Equal(t, uninitialized, d.Actions[0].(EnsureNode).Node.Taints[0])
}

// TestDelays follows one machine: VM 10 s, Node 2 s, then etcd 2 s and the API server 3 s, which both count from the Node.
func TestDelays(t *testing.T) {
	w := simulatedWorld(func(w *World) {
		w.DevMachine.Spec.Backend.InMemory = &infrav1.InMemoryMachineBackend{
			VM: lasting(10*time.Second, ""), Node: lasting(2*time.Second, ""), Etcd: lasting(2*time.Second, ""), APIServer: lasting(3*time.Second, "")}
	})
	var waits []time.Duration
	for range 10 {
		d := Decide(w)
		for i, c := range d.DevMachine.Status.Conditions { // as the API server keeps them
			if c.LastTransitionTime.IsZero() || c.LastTransitionTime.After(w.Now) {
				d.DevMachine.Status.Conditions[i].LastTransitionTime = metav1.NewTime(w.Now)
			}
		}
		w.DevMachine = d.DevMachine
		if d.After == 0 {
			break
		}
		waits = append(waits, d.After)
		w.Now = w.Now.Add(d.After)
	}
	assert.Equal(t, []time.Duration{10 * time.Second, 2 * time.Second, 2 * time.Second, time.Second}, waits)
	assert.True(t, conditions.IsTrue(w.DevMachine, clusterv1.ReadyCondition))
}

func TestJitterIsDrawnOnce(t *testing.T) {
	w := simulatedWorld()
	p := phase{condition: infrav1.DevMachineInMemoryVMProvisionedCondition, component: lasting(10*time.Second, "0.2")}
	first := duration(w, p)
	assert.GreaterOrEqual(t, first, 10*time.Second)
	assert.Less(t, first, 12*time.Second)
	w.Now = w.Now.Add(time.Hour)
	assert.Equal(t, first, duration(w, p), "the same, however often it is asked")
	w.DevMachine.UID = "other"
	assert.NotEqual(t, first, duration(w, p), "another machine draws its own")
}

// TestSimulatedBootsThatFail: the machine is there, its Node never comes, and the reason stays when the plan goes.
func TestSimulatedBootsThatFail(t *testing.T) {
	plan := func(w *World) {
		w.InMemory.Boot = &faults.FailedBoot{Machines: "*", Step: "kubeadm join", Output: "error: error execution phase preflight: token id \"abcdef\" is invalid for this cluster or it has expired"}
	}
	d := Decide(simulatedWorld(plan))
	assert.Empty(t, d.Actions)
	assert.Zero(t, d.After)
	assert.Equal(t, "in-memory://m", d.DevMachine.Spec.ProviderID)
	c := conditions.Get(d.DevMachine, bootstrapreport.ConditionType)
	require.NotNil(t, c)
	assert.Equal(t, metav1.ConditionTrue, c.Status)
	assert.Equal(t, string(bootstrapreport.TokenUnknown), c.Reason)
	assert.Contains(t, conditions.Message(d.DevMachine, clusterv1.ReadyCondition), "kubeadm join failed in phase preflight")

	after := Decide(simulatedWorld(func(w *World) { w.DevMachine = d.DevMachine }))
	assert.Equal(t, d.DevMachine, after.DevMachine, "a first boot is done once")
	up := Decide(simulatedWorld()).DevMachine
	assert.Len(t, Decide(simulatedWorld(plan, func(w *World) { w.DevMachine = up })).Actions, 3, "a machine with a Node has booted")
}

func TestSimulatedMachineGoes(t *testing.T) {
	now := metav1.NewTime(simulationStart)
	d := Decide(simulatedWorld(func(w *World) { w.DevMachine.DeletionTimestamp = &now }))
	assert.Equal(t, []Action{RemoveSimulated{Name: "m"}}, d.Actions)
	assert.Empty(t, d.DevMachine.Finalizers)
}

// TestMembersOfPools: the bootstrap data is the pool's, and the version the one that the member was made for.
func TestMembersOfPools(t *testing.T) {
	none, data := "", "pool-data"
	member := func(w *World) {
		w.Machine.Labels, w.Machine.Spec.Bootstrap.DataSecretName, w.Machine.Spec.Version = nil, &none, "v1.38.0"
		w.DevMachine.Annotations = map[string]string{infrav1.DevMachineVersionAnnotation: "v1.37.0"}
		w.MachinePool = &clusterv1.MachinePool{}
	}
	d := Decide(simulatedWorld(member))
	assert.Empty(t, d.Actions)
	assert.Equal(t, "WaitingForControlPlaneInitialized", conditions.Reason(d.DevMachine, infrav1.DevMachineInMemoryVMProvisionedCondition))

	w := simulatedWorld(member, func(w *World) { w.MachinePool.Spec.Template.Spec.Bootstrap.DataSecretName = &data })
	assert.Equal(t, data, w.dataSecret())
	d = Decide(w)
	require.Len(t, d.Actions, 1)
	assert.Equal(t, "v1.37.0", d.Actions[0].(EnsureNode).Node.Version)
}
