package devmachine

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/paused"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

// Decide says what to do about a DevMachine, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{DevMachine: w.DevMachine.DeepCopy()}
	m := d.DevMachine
	if (w.Machine == nil || w.Cluster == nil) && !w.deleting() {
		return d
	}
	pause := paused.Condition(w.Cluster, m)
	conditions.Set(m, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	has := slices.Contains(m.Finalizers, infrav1.MachineFinalizer)
	switch {
	case w.deleting() && !has:
	case w.deleting() && w.docker():
		d.deleteDocker(w)
	case w.deleting():
		d.Actions = append(d.Actions, RemoveSimulated{Name: m.Name})
		d.release()
	case !has:
		// The finalizer is stored before anything is made outside; the write wakes us again.
		m.Finalizers = append(m.Finalizers, infrav1.MachineFinalizer)
	case w.docker():
		d.docker(w)
	default:
		d.inMemory(w)
	}
	return d
}

// release lets the object go once the backend's last action has been carried out.
func (d *Decision) release() {
	d.DevMachine.Finalizers = slices.DeleteFunc(d.DevMachine.Finalizers, func(f string) bool { return f == infrav1.MachineFinalizer })
}

// waits says what a machine waits for before anything of it is made, as a reason and a sentence.
func waits(w World) (reason, message string, waiting bool) {
	switch {
	case !isTrue(w.Cluster.Status.Initialization.InfrastructureProvisioned):
		return clusterv1.WaitingForClusterInfrastructureReadyReason, "Waiting for Cluster status.initialization.infrastructureProvisioned to be true", true
	case w.dataSecret() == "" && !w.controlPlane() && !isTrue(w.Cluster.Status.Initialization.ControlPlaneInitialized):
		return clusterv1.WaitingForControlPlaneInitializedReason, "Waiting for the control plane to be initialized", true
	case w.dataSecret() == "":
		return clusterv1.WaitingForBootstrapDataReason, "Waiting for the bootstrap provider to set Machine spec.bootstrap.dataSecretName", true
	}
	return "", "", false
}

func (d *Decision) set(kind string, ok bool, reason, message string) {
	status := metav1.ConditionFalse
	if ok {
		status = metav1.ConditionTrue
	}
	conditions.Set(d.DevMachine, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
}

// summarize sums up in Ready. The message of a condition that tells of a failure at length is only its first line there:
// it travels on to the Machine and to those above it.
func (d *Decision) summarize(types ...string) {
	opts := conditions.SummaryOptions{For: types}
	for _, t := range types {
		if c := conditions.Get(d.DevMachine, t); c != nil && c.Status != metav1.ConditionTrue {
			c.Message = bootstrapreport.HeadlineOf(c.Message)
			opts.Override = append(opts.Override, *c)
		}
	}
	conditions.Set(d.DevMachine, conditions.Summary(d.DevMachine, clusterv1.ReadyCondition, opts))
}

// blackBox tells why the machine does not come up, in the condition that the core looks at; nil takes it back.
func (d *Decision) blackBox(r *bootstrapreport.Report) {
	if r == nil {
		conditions.Delete(d.DevMachine, bootstrapreport.ConditionType)
		return
	}
	conditions.Set(d.DevMachine, r.Condition())
}

func (d *Decision) look(after time.Duration) {
	if after > 0 && (d.After == 0 || after < d.After) {
		d.After = after
	}
}
