package devmachine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/conditions"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// containerWorld is a worker whose cluster and bootstrap data are ready; the changes make the case.
func containerWorld(changes ...func(*World)) World {
	yes, secret := true, "data"
	w := World{Now: now}
	w.Cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}}
	w.Cluster.Status.Initialization.InfrastructureProvisioned = &yes
	w.Machine = &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: "ns"}}
	w.Machine.Spec.ClusterName, w.Machine.Spec.Version, w.Machine.Spec.FailureDomain = "c", "v1.37.2", "fd1"
	w.Machine.Spec.Bootstrap.DataSecretName = &secret
	w.DevMachine = &infrav1.DevMachine{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: "ns", UID: "uid", Finalizers: []string{infrav1.MachineFinalizer}}}
	w.DevMachine.Spec.Backend.Docker = &infrav1.DockerMachineBackend{}
	for _, change := range changes {
		change(&w)
	}
	return w
}

func at(stage docker.Stage, err error, retry time.Time) func(*World) {
	return func(w *World) { w.Docker.Progress = docker.Progress{Stage: stage, Err: err, RetryAt: retry} }
}

func running(w *World) {
	w.Docker.Container = &docker.Container{Name: "c-m", Running: true, Status: "running", IPv4: "172.18.0.9"}
}

func stopped(w *World) { w.Docker.Container = &docker.Container{Name: "c-m", Status: "exited"} }

func provisionedBefore(w *World) { w.DevMachine.Spec.ProviderID = "docker:////c-m" }

func engineFails(err error) func(*World) { return func(w *World) { w.Docker.Err = err } }

func bootstrapIs(status metav1.ConditionStatus, reason string) func(*World) {
	return func(w *World) {
		conditions.Set(w.DevMachine, metav1.Condition{Type: infrav1.DevMachineBootstrapCompletedCondition, Status: status, Reason: reason, Message: "kept"})
	}
}

// reasons are those of the four conditions of a container, in order.
func reasons(m *infrav1.DevMachine) string {
	out := ""
	for _, s := range steps {
		c := conditions.Get(m, s.condition)
		if c == nil {
			return "none"
		}
		out += map[bool]string{true: "+", false: "-"}[c.Status == metav1.ConditionTrue] + c.Reason + " "
	}
	return out
}

func TestDecideDocker(t *testing.T) {
	broken, failed := errors.New("broken"), fmt.Errorf("%w: kubeadm", docker.ErrBootstrap)
	stranger := fmt.Errorf("container c-m %w", docker.ErrStranger)
	later := now.Add(5 * time.Second)
	for _, x := range []struct {
		name        string
		world       World
		want        string
		starts      bool
		provisioned bool
		after       time.Duration
		err         error
	}{
		{name: "the cluster's infrastructure comes first", world: containerWorld(func(w *World) { w.Cluster.Status.Initialization.InfrastructureProvisioned = nil }),
			want: "-WaitingForClusterInfrastructureReady -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
		{name: "then the bootstrap data", world: containerWorld(func(w *World) {
			w.Machine.Spec.Bootstrap.DataSecretName = nil
			w.Machine.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: ""}
		}), want: "-WaitingForBootstrapData -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
		{name: "all is ready: start", world: containerWorld(), starts: true,
			want: "-NotProvisioned -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
		{name: "creating", world: containerWorld(at(docker.Creating, nil, time.Time{})),
			want: "-NotProvisioned -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
		{name: "starting", world: containerWorld(running, at(docker.Starting, nil, time.Time{})),
			want: "+Provisioned -NotReady -WaitingForCGroups -WaitingForCGroups "},
		{name: "preloading", world: containerWorld(running, at(docker.Preloading, nil, time.Time{})),
			want: "+Provisioned +Ready -NotReady -WaitingForPreloadedImages "},
		{name: "bootstrapping: the infrastructure is there", world: containerWorld(running, at(docker.Bootstrapping, nil, time.Time{})), provisioned: true,
			want: "+Provisioned +Ready +Ready -NotCompleted "},
		{name: "completed", world: containerWorld(running, at(docker.Completed, nil, time.Time{})), provisioned: true,
			want: "+Provisioned +Ready +Ready +Completed "},
		{name: "D2: a failed bootstrap is reported and not tried again", world: containerWorld(running, at(docker.Bootstrapping, failed, time.Time{})), provisioned: true,
			want: "+Provisioned +Ready +Ready -Failed "},
		{name: "a failure of the engine is tried again when it is time", world: containerWorld(at(docker.Starting, broken, later)), after: 5 * time.Second,
			want: "+Provisioned -InternalError -WaitingForCGroups -WaitingForCGroups "},
		{name: "now it is time", world: containerWorld(at(docker.Starting, broken, now)), starts: true,
			want: "+Provisioned -InternalError -WaitingForCGroups -WaitingForCGroups "},
		{name: "D1: the manager restarted during the bootstrap: go on", world: containerWorld(running, provisionedBefore), starts: true,
			want: "-NotProvisioned -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
		{name: "the manager restarted after the bootstrap", world: containerWorld(running, provisionedBefore, bootstrapIs(metav1.ConditionTrue, "Completed")), provisioned: true,
			want: "+Provisioned +Ready +Ready +Completed "},
		{name: "the manager restarted after a failed bootstrap", world: containerWorld(running, provisionedBefore, bootstrapIs(metav1.ConditionFalse, "Failed")), provisioned: true,
			want: "+Provisioned +Ready +Ready -Failed "},
		{name: "a Node proves the bootstrap", world: containerWorld(running, provisionedBefore, func(w *World) { w.Machine.Status.NodeRef.Name = "c-m" }), provisioned: true,
			want: "+Provisioned +Ready +Ready +Completed "},
		{name: "stopped before it was provisioned: start anew", world: containerWorld(stopped), starts: true,
			want: "-NotProvisioned -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
		{name: "stopped afterwards: left for remediation", world: containerWorld(stopped, provisionedBefore),
			want: "-NotProvisioned -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
		{name: "gone", world: containerWorld(provisionedBefore),
			want: "-NotProvisioned -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
		{name: "D11: a stranger is no reason for retries", world: containerWorld(engineFails(stranger)), after: strangerWait,
			want: "-NotProvisioned -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
		{name: "no engine", world: containerWorld(engineFails(errNoEngine)), err: errNoEngine,
			want: "-NotProvisioned -WaitingForContainer -WaitingForContainer -WaitingForContainer "},
	} {
		t.Run(x.name, func(t *testing.T) {
			d := Decide(x.world)
			assert.Equal(t, x.want, reasons(d.DevMachine))
			assert.Equal(t, x.starts, len(d.Actions) == 1, "%v", d.Actions)
			assert.Equal(t, x.provisioned, isTrue(d.DevMachine.Status.Initialization.Provisioned))
			assert.Equal(t, x.after, d.After)
			assert.Equal(t, x.err, d.Err)
		})
	}
}

// TestBlackBoxOfContainers: the condition tells at length what Ready only names, and goes when there is nothing to tell.
func TestBlackBoxOfContainers(t *testing.T) {
	failed := fmt.Errorf("%w: kubeadm", docker.ErrBootstrap)
	report := &bootstrapreport.Report{Step: "kubeadm join", Phase: "preflight", Cause: bootstrapreport.PortInUse, Output: "one\ntwo"}
	broken := containerWorld(running, at(docker.Bootstrapping, failed, time.Time{}))
	broken.Docker.Progress.Report = report
	d := Decide(broken)
	c := conditions.Get(d.DevMachine, bootstrapreport.ConditionType)
	require.NotNil(t, c)
	assert.Equal(t, metav1.ConditionTrue, c.Status)
	assert.Equal(t, "PortInUse", c.Reason)
	assert.Equal(t, report.Message(), c.Message)
	assert.Equal(t, report.Message(), conditions.Message(d.DevMachine, infrav1.DevMachineBootstrapCompletedCondition))
	assert.Equal(t, "* BootstrapCompleted: kubeadm join failed in phase preflight", conditions.Message(d.DevMachine, clusterv1.ReadyCondition))

	again := containerWorld(running, provisionedBefore)
	again.DevMachine.Status = d.DevMachine.Status
	assert.Equal(t, *c, *conditions.Get(Decide(again).DevMachine, bootstrapreport.ConditionType), "another process keeps what this one found out")

	pulling := containerWorld(at(docker.Creating, nil, time.Time{}))
	pulling.Docker.Progress.Report = &bootstrapreport.Report{Step: "getting the image of the machine", Cause: bootstrapreport.MachineImageUnavailable, Retried: true}
	assert.Equal(t, metav1.ConditionFalse, conditions.Get(Decide(pulling).DevMachine, bootstrapreport.ConditionType).Status, "it may yet come up")

	done := containerWorld(running, at(docker.Completed, nil, time.Time{}))
	done.DevMachine.Status = d.DevMachine.Status
	assert.Nil(t, conditions.Get(Decide(done).DevMachine, bootstrapreport.ConditionType))
}

func TestProvisionedContainer(t *testing.T) {
	d := Decide(containerWorld(running, at(docker.Bootstrapping, nil, time.Time{})))
	m := d.DevMachine
	assert.Equal(t, "docker:////c-m", m.Spec.ProviderID)
	assert.Equal(t, "fd1", m.Status.FailureDomain)
	assert.Equal(t, []clusterv1.MachineAddress{
		{Type: clusterv1.MachineHostName, Address: "c-m"}, {Type: clusterv1.MachineInternalIP, Address: "172.18.0.9"}, {Type: clusterv1.MachineExternalIP, Address: "172.18.0.9"},
	}, m.Status.Addresses)
	w := containerWorld(running, at(docker.Bootstrapping, nil, time.Time{}))
	w.DevMachine = m
	assert.Equal(t, m, Decide(w).DevMachine, "deciding again changes nothing")
}

func TestDecideDeletionOfContainers(t *testing.T) {
	gone := metav1.NewTime(now)
	deleting := func(w *World) { w.DevMachine.DeletionTimestamp = &gone; w.Machine = nil }
	d := Decide(containerWorld(running, deleting))
	require.Equal(t, []Action{RemoveMachine{}}, d.Actions)
	assert.Empty(t, d.DevMachine.Finalizers, "the object goes once the action is done")

	d = Decide(containerWorld(deleting, engineFails(errNoEngine)))
	assert.Empty(t, d.Actions)
	assert.NotEmpty(t, d.DevMachine.Finalizers, "a container must not be left behind")
	require.ErrorIs(t, d.Err, errNoEngine)
}

func TestMachineSpecOfContainers(t *testing.T) {
	w := containerWorld(provisionedBefore, func(w *World) {
		yes := true
		w.DevMachine.Spec.Backend.Docker = &infrav1.DockerMachineBackend{
			CustomImage: "mine", PreLoadImages: []string{"a"}, BootstrapTimeout: &metav1.Duration{Duration: time.Minute},
			ExtraMounts: []infrav1.Mount{{HostPath: "/h", ContainerPath: "/c", ReadOnly: &yes}},
		}
	})
	assert.Equal(t, docker.MachineSpec{
		Key: "ns/m", Cluster: "c", Name: "m", Owner: "uid", FailureDomain: "fd1", Images: []string{"mine"}, PreloadImages: []string{"a"},
		Mounts: []docker.Mount{{Host: "/h", Container: "/c", ReadOnly: true}}, Recorded: true, Timeout: time.Minute,
	}, machineSpec(w))
	w.DevMachine.Spec.Backend.Docker.CustomImage = ""
	assert.Equal(t, docker.NodeImages("v1.37.2"), machineSpec(w).Images)
}
