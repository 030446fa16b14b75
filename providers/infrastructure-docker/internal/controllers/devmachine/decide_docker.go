package devmachine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/conditions"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
)

// strangerWait is when to look again for a container that belongs to somebody else; nothing tells when it goes.
const strangerWait = 30 * time.Second

// DockerView is what the container engine knows about a machine.
type DockerView struct {
	// Container is the machine's; nil if there is none.
	Container *docker.Container
	Progress  docker.Progress
	Err       error
}

// StartMachine brings the container up in the background.
type StartMachine struct{}

// RemoveMachine takes the container away.
type RemoveMachine struct{}

func (StartMachine) isAction()  {}
func (RemoveMachine) isAction() {}

// errNoEngine tells what a user who asked for containers must do.
var errNoEngine = errors.New("no container engine is configured: start the manager with access to a Docker socket, or use backend.inMemory")

// step is one stage of a container with the condition that tells of it.
type step struct {
	condition string
	stage     docker.Stage
	// done, going and broken are the reasons while the stage is behind, under way, or has failed.
	done, going, broken string
	// awaited is the reason of the later steps while this one is not done.
	awaited string
}

var steps = []step{
	{infrav1.DevMachineDockerContainerProvisionedCondition, docker.Creating, clusterv1.ProvisionedReason, clusterv1.NotProvisionedReason, clusterv1.NotProvisionedReason,
		infrav1.DevMachineDockerBootstrapCompletedWaitingForContainerReason},
	{infrav1.DevMachineDockerCGroupsReadyCondition, docker.Starting, clusterv1.ReadyReason, clusterv1.NotReadyReason, clusterv1.InternalErrorReason,
		infrav1.DevMachineDockerBootstrapCompletedWaitingForCGroupsReason},
	{infrav1.DevMachineDockerPreLoadedImagesReadyCondition, docker.Preloading, clusterv1.ReadyReason, clusterv1.NotReadyReason, clusterv1.InternalErrorReason,
		infrav1.DevMachineDockerBootstrapCompletedWaitingForPreloadedImagesReason},
	{infrav1.DevMachineBootstrapCompletedCondition, docker.Bootstrapping, infrav1.DevMachineDockerBootstrapCompletedReason,
		infrav1.DevMachineDockerBootstrapNotCompletedReason, clusterv1.InternalErrorReason, ""},
}

func (d *Decision) docker(w World) {
	defer d.summarize(infrav1.DevMachineDockerContainerProvisionedCondition, infrav1.DevMachineDockerCGroupsReadyCondition,
		infrav1.DevMachineDockerPreLoadedImagesReadyCondition, infrav1.DevMachineBootstrapCompletedCondition)
	if reason, message, waiting := waits(w); waiting && d.DevMachine.Spec.ProviderID == "" {
		d.report(docker.Creating, reason, message)
		return
	}
	if err := w.Docker.Err; err != nil {
		d.report(docker.Creating, clusterv1.NotProvisionedReason, err.Error())
		if errors.Is(err, docker.ErrStranger) {
			d.look(strangerWait)
		} else {
			d.Err = err
		}
		return
	}
	running := w.Docker.Container != nil && w.Docker.Container.Running
	if d.DevMachine.Spec.ProviderID != "" && !running {
		d.report(docker.Creating, clusterv1.NotProvisionedReason, lost(w))
		return
	}
	d.advance(w, running)
}

func lost(w World) string {
	if w.Docker.Container == nil {
		return "The container is gone; the Machine has to be replaced"
	}
	return fmt.Sprintf("The container is not running, its status is %s; the Machine has to be replaced, or the container started", w.Docker.Container.Status)
}

// advance reports how far the machine has come and starts what is not under way.
func (d *Decision) advance(w World, running bool) {
	p := w.Docker.Progress
	verdict := d.verdict(w)
	if p.Stage == docker.Idle && running && verdict != nil {
		d.report(docker.Completed, "", "")
		conditions.Set(d.DevMachine, *verdict)
		if verdict.Status == metav1.ConditionTrue {
			d.blackBox(nil)
		}
		d.located(w)
		return
	}
	d.blackBox(p.Report)
	switch {
	case p.Stage == docker.Idle:
		d.Actions = append(d.Actions, StartMachine{})
		d.report(docker.Creating, clusterv1.NotProvisionedReason, "")
		return
	case p.Err == nil:
		d.report(p.Stage, "", ignored(p))
	case p.Terminal() && p.Stage == docker.Bootstrapping:
		d.report(p.Stage, infrav1.DevMachineDockerBootstrapFailedReason, told(p))
	default:
		d.report(p.Stage, brokenReason(p.Stage), told(p))
		if !w.Now.Before(p.RetryAt) {
			d.Actions = append(d.Actions, StartMachine{})
		} else {
			d.look(p.RetryAt.Sub(w.Now))
		}
	}
	if p.Stage > docker.Preloading && running {
		d.located(w)
	}
}

// verdict is what earlier reconciles, perhaps of an earlier process, have found out about the bootstrap for good.
func (d *Decision) verdict(w World) *metav1.Condition {
	have := conditions.Get(d.DevMachine, infrav1.DevMachineBootstrapCompletedCondition)
	if have != nil && (have.Status == metav1.ConditionTrue || have.Reason == infrav1.DevMachineDockerBootstrapFailedReason) {
		return have
	}
	if w.Machine.Status.NodeRef.Name == "" {
		return nil
	}
	return &metav1.Condition{
		Type: infrav1.DevMachineBootstrapCompletedCondition, Status: metav1.ConditionTrue, Reason: infrav1.DevMachineDockerBootstrapCompletedReason,
	}
}

// told is what a failure has to say, without secrets.
func told(p docker.Progress) string {
	if p.Report != nil {
		return p.Report.Message()
	}
	return bootstrapreport.Redactor{}.Redact(p.Err.Error())
}

func ignored(p docker.Progress) string {
	if len(p.Ignored) == 0 {
		return ""
	}
	return "Without effect in a container: " + strings.Join(p.Ignored, ", ")
}

func brokenReason(stage docker.Stage) string {
	for _, s := range steps {
		if s.stage == stage {
			return s.broken
		}
	}
	return clusterv1.InternalErrorReason
}

// report sets all conditions: those of steps behind are true, the present one has the reason and message, later ones wait.
func (d *Decision) report(stage docker.Stage, reason, message string) {
	awaited := ""
	for i, s := range steps {
		switch {
		case s.stage < stage:
			last := ""
			if i == len(steps)-1 {
				last = message
			}
			d.set(s.condition, true, s.done, last)
		case s.stage == stage:
			if reason == "" {
				reason = s.going
			}
			d.set(s.condition, false, reason, message)
			awaited = s.awaited
		default:
			d.set(s.condition, false, awaited, "")
		}
	}
}

// located tells the Machine that its infrastructure is there.
func (d *Decision) located(w World) {
	m, c, yes := d.DevMachine, w.Docker.Container, true
	if m.Spec.ProviderID == "" {
		m.Spec.ProviderID = docker.ProviderID(c.Name)
	}
	m.Status.Initialization.Provisioned = &yes
	m.Status.FailureDomain = w.Machine.Spec.FailureDomain
	addresses := []clusterv1.MachineAddress{{Type: clusterv1.MachineHostName, Address: c.Name}}
	for _, ip := range []string{c.IPv4, c.IPv6} {
		if ip != "" {
			addresses = append(addresses, clusterv1.MachineAddress{Type: clusterv1.MachineInternalIP, Address: ip}, clusterv1.MachineAddress{Type: clusterv1.MachineExternalIP, Address: ip})
		}
	}
	if !slices.Equal(m.Status.Addresses, addresses) {
		m.Status.Addresses = addresses
	}
}

func (d *Decision) deleteDocker(w World) {
	if errors.Is(w.Docker.Err, errNoEngine) {
		d.Err = w.Docker.Err // the container would be left behind
		return
	}
	if meta.FindStatusCondition(d.DevMachine.Status.Conditions, infrav1.DevMachineDockerContainerProvisionedCondition) != nil {
		d.set(infrav1.DevMachineDockerContainerProvisionedCondition, false, clusterv1.DeletingReason, "")
	}
	d.Actions = append(d.Actions, RemoveMachine{})
	d.release()
}
