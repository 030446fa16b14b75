package machine

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/core/internal/outdated"
)

// ownConditions are the types that this controller writes; all others on a Machine belong to its owner or to health checks.
var ownConditions = []string{
	clusterv1.AvailableCondition, clusterv1.ReadyCondition, clusterv1.MachineUpToDateCondition, clusterv1.BootstrapConfigReadyCondition,
	clusterv1.InfrastructureReadyCondition, clusterv1.MachineNodeHealthyCondition, clusterv1.MachineNodeReadyCondition,
	clusterv1.MachineUpdatingCondition, clusterv1.DeletingCondition, clusterv1.PausedCondition,
	bootstrapreport.ConditionType,
}

// slowDeletion is when a deletion takes so long that it is worth a word.
const slowDeletion = 15 * time.Minute

// controlPlaneComponents are readiness gates of control plane machines; when the machine does not answer they all say the same.
var controlPlaneComponents = []string{"APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy", "EtcdPodHealthy", "EtcdMemberHealthy"}

// describe derives the conditions and the phase from the world and from what has been decided.
func (d *Decision) describe(w World) {
	m := d.Machine
	if !w.deleting() {
		conditions.Set(m, condition(clusterv1.DeletingCondition, metav1.ConditionFalse, clusterv1.NotDeletingReason, ""))
	}
	conditions.Set(m, bootstrapReady(w, m))
	conditions.Set(m, infrastructureReady(w, m))
	d.bootstrapFailed(w)
	d.nodeConditions(w)
	conditions.Set(m, updating(w))
	if c := upToDate(w, m.Status.NodeInfo.KubeletVersion); c != nil {
		conditions.Set(m, *c)
	}
	if md := w.MachineDeployment; md != nil {
		d.look(md.Spec.Rollout.After.Sub(w.Now))
	}
	conditions.Set(m, d.ready(w))
	d.available(w)
	if phase := phaseOf(m); phase != m.Status.Phase {
		m.Status.Phase = phase
		m.Status.LastUpdated = metav1.NewTime(w.Now.Truncate(time.Second))
	}
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func bootstrapReady(w World, m *clusterv1.Machine) metav1.Condition {
	if m.Spec.Bootstrap.ConfigRef.Name == "" {
		return condition(clusterv1.BootstrapConfigReadyCondition, metav1.ConditionTrue, clusterv1.MachineBootstrapDataSecretProvidedReason, "")
	}
	return mirrored(w, w.Bootstrap, clusterv1.BootstrapConfigReadyCondition, m.Spec.Bootstrap.ConfigRef.Kind,
		"status.initialization.dataSecretCreated", isTrue(m.Status.Initialization.BootstrapDataSecretCreated))
}

func infrastructureReady(w World, m *clusterv1.Machine) metav1.Condition {
	return mirrored(w, w.Infrastructure, clusterv1.InfrastructureReadyCondition, m.Spec.InfrastructureRef.Kind,
		"status.initialization.provisioned", isTrue(m.Status.Initialization.InfrastructureProvisioned))
}

// mirrored shows the Ready condition of a provider object, or why there is none.
func mirrored(w World, r Referred, target, kind, flag string, was bool) metav1.Condition {
	switch {
	case awaitsProvider(r.Err):
		return condition(target, metav1.ConditionUnknown, clusterv1.InternalErrorReason, r.Err.Error())
	case r.Err != nil:
		return condition(target, metav1.ConditionUnknown, clusterv1.InternalErrorReason, "Please check the logs of the core manager")
	case r.Object == nil && was && w.deleting():
		return condition(target, metav1.ConditionFalse, clusterv1.ObjectDeletedReason, kind+" has been deleted")
	case r.Object == nil && was:
		return condition(target, metav1.ConditionFalse, clusterv1.ObjectDeletedReason, kind+" has been deleted while the machine still exists")
	case r.Object == nil:
		return condition(target, metav1.ConditionFalse, clusterv1.ObjectDoesNotExistReason, kind+" does not exist")
	}
	source := conditions.FromUnstructuredOne(r.Object.Unstructured, clusterv1.ReadyCondition)
	return conditions.Mirror(source, target, conditions.FlagFallback(kind, flag, was))
}

// bootstrapFailed shows why the first boot has made no Node yet, as the infrastructure tells it. While that cannot be read,
// what is known stays.
func (d *Decision) bootstrapFailed(w World) {
	m := d.Machine
	if w.Infrastructure.Err != nil {
		return
	}
	if w.Infrastructure.Object == nil || m.Status.NodeRef.Name != "" {
		conditions.Delete(m, bootstrapreport.ConditionType)
		return
	}
	c := accessors.InfrastructureMachine(w.Infrastructure.Object.Contract).BootstrapFailure(w.Infrastructure.Object.Unstructured)
	if c == nil {
		conditions.Delete(m, bootstrapreport.ConditionType)
		return
	}
	if c.Status == metav1.ConditionTrue && !conditions.IsTrue(m, bootstrapreport.ConditionType) {
		d.Events = append(d.Events, Event{"BootstrapFailed", bootstrapreport.HeadlineOf(c.Message)})
	}
	conditions.Set(m, *c)
}

// nodeConditions sets NodeReady and NodeHealthy.
func (d *Decision) nodeConditions(w World) {
	m := d.Machine
	set := func(status metav1.ConditionStatus, reason, message string) {
		conditions.Set(m, condition(clusterv1.MachineNodeReadyCondition, status, reason, message))
		conditions.Set(m, condition(clusterv1.MachineNodeHealthyCondition, status, reason, message))
	}
	infrastructure, controlPlane := w.clusterReady()
	switch {
	case w.Cluster == nil && !w.deleting():
		set(metav1.ConditionUnknown, clusterv1.InspectionFailedReason, "Waiting for Cluster "+m.Spec.ClusterName+" to exist")
	case !infrastructure:
		set(metav1.ConditionUnknown, clusterv1.InspectionFailedReason, "Waiting for Cluster status.initialization.infrastructureProvisioned to be true")
	case !controlPlane:
		set(metav1.ConditionUnknown, clusterv1.InspectionFailedReason, "Waiting for Cluster control plane to be initialized"+d.because())
	case !w.Node.Connected:
		d.connectionDown(w, set)
	case w.Node.Err != nil:
		set(metav1.ConditionUnknown, clusterv1.InternalErrorReason, "Please check the logs of the core manager")
	case len(w.Node.Duplicates) > 1:
		set(metav1.ConditionUnknown, clusterv1.InspectionFailedReason, "Nodes "+strings.Join(w.Node.Duplicates, ", ")+" have the same spec.providerID "+m.Spec.ProviderID)
	case w.Node.Node != nil:
		conditions.Set(m, nodeReady(w.Node.Node))
		conditions.Set(m, nodeHealthy(w.Node.Node))
	case m.Status.NodeRef.Name != "" && w.deleting():
		set(metav1.ConditionFalse, clusterv1.MachineNodeDeletedReason, "Node "+m.Status.NodeRef.Name+" has been deleted")
	case m.Status.NodeRef.Name != "":
		set(metav1.ConditionFalse, clusterv1.MachineNodeDeletedReason, "Node "+m.Status.NodeRef.Name+" has been deleted while the machine still exists")
	case w.deleting():
		set(metav1.ConditionUnknown, clusterv1.MachineNodeDoesNotExistReason, "Node does not exist")
	case m.Spec.ProviderID != "":
		set(metav1.ConditionUnknown, clusterv1.InspectionFailedReason, "Waiting for a Node with spec.providerID "+m.Spec.ProviderID+" to exist"+d.because())
	default:
		set(metav1.ConditionUnknown, clusterv1.InspectionFailedReason, fmt.Sprintf("Waiting for %s to report spec.providerID%s", m.Spec.InfrastructureRef.Kind, d.because()))
	}
}

// because says why a Node that is awaited does not come, as far as that is known.
func (d *Decision) because() string {
	c := conditions.Get(d.Machine, bootstrapreport.ConditionType)
	if c == nil {
		return ""
	}
	return ": " + bootstrapreport.HeadlineOf(c.Message)
}

// connectionDown keeps what was last known for a while, then says that it is not known any more.
func (d *Decision) connectionDown(w World, set func(metav1.ConditionStatus, string, string)) {
	since := w.Health.LastProbeSuccess
	if c := conditions.Get(w.Cluster, clusterv1.ClusterControlPlaneInitializedCondition); c != nil && c.LastTransitionTime.After(since) {
		since = c.LastTransitionTime.Time
	}
	left := w.ConditionsGrace - w.Now.Sub(since)
	if left > 0 && conditions.Has(d.Machine, clusterv1.MachineNodeReadyCondition) {
		d.look(left)
		return
	}
	set(metav1.ConditionUnknown, clusterv1.ConnectionDownReason, "Remote connection down")
}

func nodeReady(n *corev1.Node) metav1.Condition {
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		reason := map[corev1.ConditionStatus]string{corev1.ConditionTrue: clusterv1.MachineNodeReadyReason, corev1.ConditionFalse: clusterv1.MachineNodeNotReadyReason}[c.Status]
		if reason == "" {
			reason = clusterv1.MachineNodeReadyUnknownReason
		}
		message := ""
		if c.Status != corev1.ConditionTrue {
			message = "* Node.Ready: " + c.Message
		}
		return condition(clusterv1.MachineNodeReadyCondition, metav1.ConditionStatus(c.Status), reason, message)
	}
	return condition(clusterv1.MachineNodeReadyCondition, metav1.ConditionUnknown, clusterv1.MachineNodeReadyUnknownReason, "* Node.Ready: Condition not yet reported")
}

// nodeHealthy combines Ready with the pressure conditions of a Node.
func nodeHealthy(n *corev1.Node) metav1.Condition {
	var bad, unknown told
	for _, t := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		status, message := corev1.ConditionUnknown, "Condition not yet reported"
		for _, c := range n.Status.Conditions {
			if c.Type == t {
				status, message = c.Status, c.Message
			}
		}
		switch {
		case status == corev1.ConditionUnknown:
			unknown.add(t, message)
		case (status == corev1.ConditionTrue) != (t == corev1.NodeReady):
			bad.add(t, message)
		}
	}
	switch {
	case len(bad) > 0:
		return condition(clusterv1.MachineNodeHealthyCondition, metav1.ConditionFalse, clusterv1.MachineNodeNotHealthyReason, append(bad, unknown...).String())
	case len(unknown) > 0:
		return condition(clusterv1.MachineNodeHealthyCondition, metav1.ConditionUnknown, clusterv1.MachineNodeHealthUnknownReason, unknown.String())
	}
	return condition(clusterv1.MachineNodeHealthyCondition, metav1.ConditionTrue, clusterv1.MachineNodeHealthyReason, "")
}

// told are messages, each with the conditions of the Node that say it.
type told []struct {
	names   []string
	message string
}

func (l *told) add(t corev1.NodeConditionType, message string) {
	for i := range *l {
		if (*l)[i].message == message {
			(*l)[i].names = append((*l)[i].names, "Node."+string(t))
			return
		}
	}
	*l = append(*l, struct {
		names   []string
		message string
	}{[]string{"Node." + string(t)}, message})
}

func (l told) String() string {
	var lines []string
	for _, m := range l {
		lines = append(lines, "* "+strings.Join(m.names, ", ")+": "+m.message)
	}
	return strings.Join(lines, "\n")
}

// upToDate compares a Machine of a MachineDeployment with what that wants; owners of other Machines say it themselves.
func upToDate(w World, kubelet string) *metav1.Condition {
	if w.MachineSet == nil || w.MachineDeployment == nil {
		return nil
	}
	reasons := outdated.Reasons(w.MachineSet, w.MachineDeployment, w.Now)
	var c metav1.Condition
	switch {
	case len(reasons) > 0:
		c = condition(clusterv1.MachineUpToDateCondition, metav1.ConditionFalse, clusterv1.MachineNotUpToDateReason, "* "+strings.Join(reasons, "\n* "))
	case stageOf(w.Machine) != idle:
		c = condition(clusterv1.MachineUpToDateCondition, metav1.ConditionFalse, clusterv1.MachineUpToDateUpdatingReason, "* In-place update in progress")
	case kubelet != "" && w.Machine.Spec.Version != "" && kubelet != w.Machine.Spec.Version:
		c = condition(clusterv1.MachineUpToDateCondition, metav1.ConditionFalse, clusterv1.MachineUpToDateUpdatingReason, "* Kubelet version is "+kubelet+", "+w.Machine.Spec.Version+" required")
	default:
		c = condition(clusterv1.MachineUpToDateCondition, metav1.ConditionTrue, clusterv1.MachineUpToDateReason, "")
	}
	return &c
}

// ready sums up what makes a Machine ready. A deletion that takes long says so, from the moment on at which it does.
func (d *Decision) ready(w World) metav1.Condition {
	m := d.Machine
	opts := conditions.SummaryOptions{
		For: []string{clusterv1.DeletingCondition, clusterv1.MachineUpdatingCondition, clusterv1.BootstrapConfigReadyCondition,
			clusterv1.InfrastructureReadyCondition, clusterv1.MachineNodeHealthyCondition, clusterv1.MachineHealthCheckSucceededCondition},
		Optional: []string{clusterv1.MachineHealthCheckSucceededCondition},
		Negative: []string{clusterv1.DeletingCondition, clusterv1.MachineUpdatingCondition},
		Groups:   []conditions.Group{{Name: "Control plane components", Types: controlPlaneComponents}},
	}
	for _, g := range m.Spec.ReadinessGates {
		opts.For = append(opts.For, g.ConditionType)
		if g.Polarity == clusterv1.NegativePolarityCondition {
			opts.Negative = append(opts.Negative, g.ConditionType)
		}
	}
	if c := conditions.Get(m, clusterv1.DeletingCondition); w.deleting() && c != nil && c.Status == metav1.ConditionTrue {
		if left := slowDeletion - w.Now.Sub(w.Machine.DeletionTimestamp.Time); left > 0 {
			d.look(left)
		} else {
			slow := *c
			slow.Message = strings.TrimSuffix("In deletion since more than 15m, "+c.Reason+": "+c.Message, ": ")
			opts.Override = []metav1.Condition{slow}
		}
	}
	return conditions.Summary(m, clusterv1.ReadyCondition, opts)
}

// available is Ready for minReadySeconds; the exact moment is known, so the look-again time is exact.
func (d *Decision) available(w World) {
	r := conditions.Get(d.Machine, clusterv1.ReadyCondition)
	wait := time.Duration(0)
	if s := d.Machine.Spec.MinReadySeconds; s != nil {
		wait = time.Duration(*s) * time.Second
	}
	switch {
	case r.Status != metav1.ConditionTrue:
		conditions.Set(d.Machine, condition(clusterv1.AvailableCondition, metav1.ConditionFalse, clusterv1.NotReadyReason, ""))
	case w.Now.Sub(conditions.Since(*r, w.Now)) < wait:
		conditions.Set(d.Machine, condition(clusterv1.AvailableCondition, metav1.ConditionFalse, clusterv1.MachineWaitingForMinReadySecondsReason, ""))
		d.look(wait - w.Now.Sub(conditions.Since(*r, w.Now)))
	default:
		conditions.Set(d.Machine, condition(clusterv1.AvailableCondition, metav1.ConditionTrue, clusterv1.AvailableReason, ""))
	}
}

// phaseOf is a word for people; nothing decides on it.
func phaseOf(m *clusterv1.Machine) string {
	switch {
	case !m.DeletionTimestamp.IsZero():
		return clusterv1.MachinePhaseDeleting
	case conditions.IsTrue(m, clusterv1.MachineUpdatingCondition):
		return clusterv1.MachinePhaseUpdating
	case m.Status.NodeRef.Name != "" && isTrue(m.Status.Initialization.InfrastructureProvisioned):
		return clusterv1.MachinePhaseRunning
	case m.Spec.ProviderID != "":
		return clusterv1.MachinePhaseProvisioned
	case isTrue(m.Status.Initialization.BootstrapDataSecretCreated):
		return clusterv1.MachinePhaseProvisioning
	}
	return clusterv1.MachinePhasePending
}
